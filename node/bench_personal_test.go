package node

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/host/identity"
	"github.com/feedring/feedring/internal/store"
)

// BenchmarkPersonalFeeds takes one entry from its publisher's disk to a peer of
// the same group that keeps very many personal feeds, and there to two readers
// over loopback: one that polls its personal feed again as soon as it was
// answered, and one of the stream of events. It tells what the feeds weigh, too,
// and how long the peer needs to start with them.
func BenchmarkPersonalFeeds(b *testing.B) {
	for _, feeds := range []int{0, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("feeds=%d", feeds), func(b *testing.B) { benchPersonal(b, feeds) })
	}
}

func benchPersonal(b *testing.B, feeds int) {
	w := &benchNet{b: b}
	publisher := w.start("news", "p0.example")
	data := b.TempDir()
	random := rand.New(rand.NewPCG(1, 1))
	benchSubscriptions(b, data, feeds, random)
	before, began := benchHeap(), computing(b)
	peer := w.start("news", "p1.example", func(c *Config) { c.Data, c.HTTP = data, "127.0.0.1:0" })
	start, heap := computing(b)-began, benchHeap()-before
	w.formed("news", 2)
	sub, err := peer.personal.Subscribe(b.Context(), "", feedring.Query{Theme: "news", Words: "marker"}, false)
	if err != nil {
		b.Fatal(err)
	}
	events := benchEvents(b, peer.Started().HTTP+"/api/v1/stream?theme=news&q=marker")
	reader := &benchPoller{b: b, url: peer.Started().HTTP + "/feeds/" + sub.Secret + ".atom"}
	reader.poll()
	stored := benchStored(publisher)
	var feed, stream latencies
	for n := 0; b.Loop(); n++ {
		title := fmt.Sprintf("marker %d", n)
		for range 61 {
			title += " " + benchWord(random)
		}
		w.publish(publisher, title)
		at := <-stored
		for !strings.Contains(reader.poll(), title) {
		}
		feed.add(time.Since(at))
		stream.add((<-events).Sub(at))
	}
	b.ReportMetric(start.Seconds(), "start-cpu-s")
	b.ReportMetric(float64(heap)/(1<<20), "MiB")
	stream.report(b)
	b.ReportMetric(stream.all[len(stream.all)/2].Seconds()*1000, "stream-p50-ms")
	feed.report(b)
	b.ReportMetric(feed.all[len(feed.all)/10].Seconds()*1000, "p10-ms") // nearer to an idle machine
}

// benchSubscriptions writes personal feeds to a store as a peer that was given
// them leaves them: each asks for one to four words of its own.
func benchSubscriptions(b testing.TB, data string, feeds int, random *rand.Rand) {
	b.Helper()
	if _, err := identity.Load(data); err != nil { // which a store without one belongs to is not known
		b.Fatal(err)
	}
	s, err := store.Open(storeIn(data), store.Options{Reserve: -1})
	if err != nil {
		b.Fatal(err)
	}
	var rows []store.Change
	interests := make(map[string]uint32) // those who ask the same share one
	for i := range feeds {
		words := benchWord(random)
		for range random.IntN(4) {
			words += " " + benchWord(random)
		}
		number, known := interests[words]
		if !known {
			number = uint32(len(interests) + 1)
			interests[words] = number
			rows = append(rows, store.Change{
				Key:   string(binary.BigEndian.AppendUint32([]byte("personal/i"), number)),
				Value: fmt.Appendf(nil, `{"theme":"news","words":%q,"limit":50,"modified":1,"filled":1,"attempts":1}`, words),
			})
		}
		id := hex.EncodeToString(binary.BigEndian.AppendUint64(nil, uint64(i)))
		rows = append(rows, store.Change{
			Key:   "personal/s" + id,
			Value: fmt.Appendf(nil, `{"secret":"secret-%s","interest":%d,"words":%q,"created":"2026-01-02T03:04:05Z"}`, id, number, words),
		})
		if len(rows) >= 20_000 || i == feeds-1 {
			if err := s.Write(b.Context(), store.BucketSubscription, rows); err != nil {
				b.Fatal(err)
			}
			rows = rows[:0]
		}
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
}

// benchWord draws from 50,000 words, some far oftener than others.
func benchWord(random *rand.Rand) string {
	return fmt.Sprint("w", int(50_000*math.Pow(random.Float64(), 3)))
}

func benchHeap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// benchPoller polls a personal feed as readers do.
type benchPoller struct {
	b         testing.TB
	url, etag string
}

// poll returns the document; empty: nothing is new.
func (p *benchPoller) poll() string {
	req, err := http.NewRequestWithContext(p.b.Context(), http.MethodGet, p.url, nil)
	if err != nil {
		p.b.Fatal(err)
	}
	req.Header.Set("If-None-Match", p.etag)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		p.b.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusNotModified {
		p.b.Fatal(resp.Status, err)
	}
	p.etag = resp.Header.Get("Etag")
	return string(body)
}

// benchEvents tells when entries come on a stream.
func benchEvents(b *testing.B, url string) <-chan time.Time {
	b.Helper()
	req, err := http.NewRequestWithContext(b.Context(), http.MethodGet, url, nil)
	if err != nil {
		b.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		b.Fatal(resp, err)
	}
	b.Cleanup(func() { resp.Body.Close() })
	events, lines := make(chan time.Time, 16), bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	go func() {
		for lines.Scan() {
			if lines.Text() == "event: entry" {
				events <- time.Now()
			}
		}
	}()
	return events
}
