package watch

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/origin/document"
	"github.com/feedring/feedring/internal/origin/fetch"
)

// disk is a Handler whose states are somewhere else: one encoded state stands
// for those of all feeds.
type disk struct {
	state []byte
	ended chan struct{}
}

func (d *disk) State(string) (s fetch.State, err error) {
	err = s.UnmarshalBinary(d.state)
	return s, err
}
func (d *disk) Known(string) ([]byte, error) { return nil, nil }
func (d *disk) Changed(context.Context, string, []feedring.Entry, fetch.State) error {
	return errors.New("nothing changes")
}
func (d *disk) Fetched(string, fetch.Page) {}
func (d *disk) FetchEnded(_ string, s fetch.State) {
	if _, err := s.MarshalBinary(); err != nil {
		panic(err)
	}
	d.ended <- struct{}{}
}

// unchanged is all origins, which have nothing new.
type unchanged struct{}

func (unchanged) Do(req *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusNotModified, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
}

// BenchmarkMillion watches 1,000,000 feeds of 500,000 hosts. Told are the memory
// of a feed (its address included), the time to take up a saved state, and what
// a fetch that finds nothing costs beside the network and the disk, both of the
// processor.
func BenchmarkMillion(b *testing.B) {
	const feeds = 1_000_000
	now := time.Now()
	doc := &document.Document{Title: "A personal site"}
	for i := range 20 {
		doc.Items = append(doc.Items, document.Item{Entry: feedring.Entry{ID: feedring.EntryID(fmt.Sprintf("%032x", i))}})
	}
	_, saved := fetch.Diff(fetch.State{}, doc, now.Add(-60*time.Hour))
	saved.Validators = fetch.Validators{ETag: `"5e2f-61ab8a9e1c2c0"`, LastModified: "Mon, 05 Jan 2026 10:11:12 GMT"}
	saved.LastFetch, saved.LastSuccess, saved.NextFetch, saved.Interval = now.Add(-time.Hour), now.Add(-time.Hour), now.Add(time.Hour), time.Hour
	for range 20 {
		saved.Rhythm().Learn([]time.Time{now.Add(-50 * time.Hour)}, now.Add(-60*time.Hour), now.Add(-time.Hour))
	}
	for b.Loop() {
		raw, err := saved.MarshalBinary()
		if err != nil {
			b.Fatal(err)
		}
		h := &disk{state: raw, ended: make(chan struct{}, 1024)}
		before := inUse()
		w, err := New(Config{Client: unchanged{}, Policy: NewBudget(ExpectedLoss, MeanInterval, rand.NewPCG(1, 2)), Handler: h})
		if err != nil {
			b.Fatal(err)
		}
		began := spent()
		for i := range feeds {
			s, err := h.State("")
			if err != nil {
				b.Fatal(err)
			}
			w.Add(fmt.Sprintf("https://site-%06d.example.org/blog/%d/feed.xml", i/2, i), s)
		}
		b.ReportMetric((spent() - began).Seconds(), "cpu-s/start")
		b.ReportMetric((inUse()-before)/feeds, "B/feed")
		looks(b, w, h)
	}
}

// fetches asks for a hundred thousand fetches, each at another host.
func looks(b *testing.B, w *Watcher, h *disk) {
	const asked = 100_000
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan struct{})
	go func() { w.Run(ctx); close(done) }()
	began := spent()
	for i := range asked {
		if _, err := w.Fetch(fmt.Sprintf("https://site-%06d.example.org/blog/%d/feed.xml", i, 2*i)); err != nil {
			b.Fatal(err)
		}
		if i >= 512 {
			<-h.ended
		}
	}
	for range 512 {
		<-h.ended
	}
	b.ReportMetric(float64((spent()-began).Microseconds())/asked, "cpu-µs/look")
	cancel()
	<-done
}

// spent is the processor time of this process.
func spent() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func inUse() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}
