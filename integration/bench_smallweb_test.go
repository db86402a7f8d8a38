package integration

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkSmallWeb gives one peer b.N private feeds, each at a host of its own
// on loopback, which serve the real documents of the corpus; waits until it read
// all of them, and asked all again. Time is compressed: the second look comes when
// the first ones are over, and at the soonest in as long as a state is not kept in
// memory for.
func BenchmarkSmallWeb(b *testing.B) {
	if b.N == 1 {
		return // the first try: how many sites is said by -benchtime 36515x
	}
	sites := newSites(b)
	n := newNetwork(b, "10s", "--interval", "3m")
	p := n.peer(nil)
	list := filepath.Join(b.TempDir(), "sites.opml")
	var opml strings.Builder
	opml.WriteString(`<opml version="2.0"><head/><body>`)
	for i := range b.N {
		fmt.Fprintf(&opml, `<outline type="rss" xmlUrl="http://127.%d.%d.%d:%s/feed"/>`, 1+i/40_000, i/200%200, i%200+1, sites.port)
	}
	opml.WriteString(`</body></opml>`)
	if err := os.WriteFile(list, []byte(opml.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	anonymous := 0.0
	reached := func(looks *atomic.Int64) func() bool {
		return func() bool {
			anonymous = max(anonymous, resident(b, p, "RssAnon"))
			return int(looks.Load()) >= b.N
		}
	}
	begun, before := time.Now(), cpu(b, p)
	if r := command(b, "opml", "import", "--force", "--timeout", "10m", "--data", p.data, list); r.code != 0 {
		b.Fatal(r)
	}
	until(b, time.Hour, "first looks", reached(&sites.whole))
	b.ReportMetric(float64((cpu(b, p)-before).Milliseconds())/float64(b.N), "cpu-ms/first-look")
	b.ReportMetric(time.Since(begun).Seconds(), "s/first-looks")
	asked, before := sites.same.Load(), cpu(b, p)
	until(b, time.Hour, "second looks", reached(&sites.same))
	b.ReportMetric(float64((cpu(b, p)-before).Milliseconds())/float64(max(1, sites.same.Load()-asked)), "cpu-ms/304")
	b.ReportMetric(resident(b, p, "VmHWM")/1000, "peak-MB")
	b.ReportMetric(anonymous/1000, "anonymous-peak-MB") // the rest are files, which the system takes away when it must
	b.ReportMetric(resident(b, p, "RssAnon")/1000, "anonymous-MB")
	b.ReportMetric(float64(sites.bytes.Load())/float64(b.N), "B/first-look")
}

// sites are origins at all addresses of 127/8.
type sites struct {
	port               string
	documents          [][]byte
	whole, same, bytes atomic.Int64 // answers, and what was sent
}

func newSites(b *testing.B) *sites {
	const corpus = "../../shared/feeds/corpus"
	files, err := filepath.Glob(filepath.Join(corpus, "*.*"))
	if err != nil || len(files) == 0 {
		b.Skip("no corpus at", corpus)
	}
	s := new(sites)
	for _, file := range files {
		if filepath.Base(file) == "MANIFEST.csv" {
			continue
		}
		document, err := os.ReadFile(file)
		if err != nil {
			b.Fatal(err)
		}
		s.documents = append(s.documents, document)
	}
	l, err := net.Listen("tcp4", ":0")
	if err != nil {
		b.Fatal(err)
	}
	_, s.port, _ = net.SplitHostPort(l.Addr().String())
	server := httptest.NewUnstartedServer(s)
	server.Listener.Close()
	server.Listener = l
	server.Start()
	b.Cleanup(server.Close)
	return s
}

func (s *sites) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Etag", `"1"`)
	if r.Header.Get("If-None-Match") != "" {
		s.same.Add(1)
		w.WriteHeader(http.StatusNotModified)
		return
	}
	at := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr).IP.To4()
	document := s.documents[(int(at[1])*40_000+int(at[2])*200+int(at[3]))%len(s.documents)]
	s.whole.Add(1)
	s.bytes.Add(int64(len(document)))
	_, _ = w.Write(document)
}
