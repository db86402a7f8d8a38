package hub

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/feedring/feedring/internal/safehttp"
	"github.com/feedring/feedring/internal/websub/hub/ledger"
)

// fixed is one topic of 20 KB.
type fixed struct{ version atomic.Uint64 }

var page = make([]byte, 20<<10)

func (f *fixed) Find(string) (string, bool)    { return "a", true }
func (f *fixed) Version(string) (uint64, bool) { return f.version.Load(), true }
func (f *fixed) Watch(string, bool)            {}
func (f *fixed) Read(context.Context, string) (Content, error) {
	return Content{Type: "application/atom+xml", Body: page, Version: f.version.Load()}, nil
}

// anywhere calls loopback addresses too.
type anywhere struct{ peer }

func (anywhere) Refuses(string) bool { return false }

// BenchmarkDeliver tells 2,000 subscribers at 200 hosts, all of them signed,
// over real connections; the subscribers share the cores.
func BenchmarkDeliver(b *testing.B) {
	const subscribers, hosts = 2000, 200
	l, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		b.Fatal(err)
	}
	got := make(chan struct{}, subscribers)
	srv := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		got <- struct{}{}
	})}}
	srv.Start()
	defer srv.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	client, err := safehttp.New(safehttp.Config{AllowPrivate: true, MaxConnsPerHost: 16})
	if err != nil {
		b.Fatal(err)
	}
	topics := new(fixed)
	topics.version.Store(1)
	h, err := Open(Config{
		Store: &records{rows: make(map[string][]byte)}, Topics: topics, Client: client.WithoutRedirects(), Peer: anywhere{}, Shared: &others{},
	})
	if err != nil {
		b.Fatal(err)
	}
	for i := range subscribers {
		host := fmt.Sprintf("127.0.0.%d", 2+i%hosts)
		err := h.keep(b.Context(), &ledger.Subscription{
			Topic: topicA, Resource: "a", Host: host, Callback: fmt.Sprintf("http://%s/%d", net.JoinHostPort(host, port), i),
			Secret: "a secret of some length", Expires: time.Now().Add(time.Hour), Sent: 1,
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { h.Run(ctx); close(done) }()
	defer func() { cancel(); <-done }()
	for b.Loop() {
		topics.version.Add(1)
		h.Changed("a")
		for range subscribers {
			<-got
		}
	}
	b.ReportMetric(subscribers*float64(b.N)/b.Elapsed().Seconds(), "deliveries/s")
}

// BenchmarkKept measures what a subscription takes in memory, of 100,000.
func BenchmarkKept(b *testing.B) {
	const subscribers = 100_000
	for b.Loop() {
		before := heap()
		h, err := Open(Config{
			Store: &records{}, Topics: new(fixed), Client: http.DefaultClient, Peer: anywhere{}, Shared: &others{},
		})
		if err != nil {
			b.Fatal(err)
		}
		for i := range subscribers {
			_, err := h.ledger.Put(&ledger.Subscription{
				Topic: fmt.Sprintf("https://peer.example/feeds/%024d.atom", i/10), Resource: fmt.Sprintf("personal %024d", i/10),
				Host: fmt.Sprintf("reader%d.example", i%1000), Callback: fmt.Sprintf("https://reader%d.example/websub/callback/%032d", i%1000, i),
				Secret: fmt.Sprintf("%032d", i), Expires: time.Now().Add(time.Hour),
			})
			if err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(heap()-before)/subscribers, "bytes/sub")
		runtime.KeepAlive(h)
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
