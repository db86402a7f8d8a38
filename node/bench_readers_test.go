package node

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client"
)

// daily is an origin with one feed that grows. It counts who asks for the feed,
// and who asks for anything else.
type daily struct {
	*httptest.Server
	mu           sync.Mutex
	titles       []string
	looks, other atomic.Int64
}

func newDaily(t testing.TB) *daily {
	o := &daily{titles: []string{"before"}}
	o.Server = httptest.NewServer(o)
	t.Cleanup(o.Close)
	return o
}

func (o *daily) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/feed.xml" {
		o.other.Add(1)
		http.NotFound(w, r)
		return
	}
	o.mu.Lock()
	tag, body := fmt.Sprintf(`"%d"`, len(o.titles)), feedOfEntries(o.titles...)
	o.mu.Unlock()
	w.Header().Set("Etag", tag)
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
	} else {
		_, _ = io.WriteString(w, body)
	}
	o.looks.Add(1)
}

// add puts an entry on top.
func (o *daily) add(title string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.titles = append([]string{title}, o.titles...)
}

// publicDay is a day of readers of peers that mirror one feed. An hour of it is
// one fetch of a peer that is alone with a feed of its own.
type publicDay struct {
	t        testing.TB
	w        *benchNet
	readers  int
	visits   int      // of each reader: all of a pair of requests, or a query
	personal []string // addresses
	clients  []*client.Client
	tags     sync.Map // what a reader of a document has of it: an ETag
	asked    atomic.Int64
	same     atomic.Int64 // answered 304
	late     atomic.Int64 // queries that were not answered in time, and asked again
}

const hoursOfDay = 24

// newPublicDay starts peers that mirror what o has, and waits until one of them
// looks for all.
func newPublicDay(w *benchNet, o *daily, peers, readers int, interval time.Duration) *publicDay {
	d := &publicDay{t: w.b, w: w, readers: readers, visits: 3}
	spec := feedring.FeedSpec{URL: o.URL + "/feed.xml", Theme: "news", Provider: "daily.example"}
	for range peers {
		w.start("news", "", func(c *Config) {
			c.AllowPrivateFeeds, c.Interval, c.HTTP, c.Feeds = true, interval, "127.0.0.1:0", []feedring.FeedSpec{spec}
			c.Refresh = time.Second
		})
	}
	w.formed("news", peers)
	benchUntil(w.b, "one that looks for all", func() bool {
		looking, by := 0, map[feedring.PeerID]bool{}
		for _, n := range w.nodes {
			st, err := n.Feed(spec.URL)
			check(w.b, err)
			if by[st.FetchedBy] = true; !st.Rests {
				looking++
			}
		}
		return looking == 1 && len(by) == 1
	})
	for _, n := range w.nodes {
		for range 10 {
			sub, err := n.personal.Subscribe(w.b.Context(), "", feedring.Query{Theme: "news"}, false)
			check(w.b, err)
			d.personal = append(d.personal, n.front.Address()+"/feeds/"+sub.Secret+".atom")
		}
		d.clients = append(d.clients, w.client(n), w.client(n))
	}
	d.until("before") // the front of who never fetched has a document, and lists are filled
	return d
}

// until waits until readers of every kind are shown an entry at every peer.
func (d *publicDay) until(title string) {
	d.t.Helper()
	for reader := range 4 * len(d.w.nodes) {
		benchUntil(d.t, title+" for all readers", func() bool {
			text, err := d.ask(reader, "")
			return err == nil && strings.Contains(text, title)
		})
	}
}

// ask is one request of a reader, whose number says what it reads and where:
// the group's entries over the peers' network or over the web, the feed's own
// document, or a personal feed. had is the tag of a document that it has.
func (d *publicDay) ask(reader int, had string) (text string, err error) {
	d.asked.Add(1)
	at := reader / 4
	n := d.w.nodes[at%len(d.w.nodes)]
	switch reader % 4 {
	case 0:
		return d.query(d.clients[at%len(d.clients)])
	case 1:
		return d.get(reader, n.front.Address()+"/api/v1/entries?theme=news&limit=50", "")
	case 2:
		return d.get(reader, n.front.Address()+"/f/daily.example/feed.xml", had)
	default:
		return d.get(reader, d.personal[at%len(d.personal)], had)
	}
}

// query asks again where a busy machine was too slow to answer.
func (d *publicDay) query(c *client.Client) (string, error) {
	for attempt := 1; ; attempt++ {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		answer, err := c.Query(ctx, feedring.Query{Theme: "news", Limit: 50})
		cancel()
		switch {
		case err == nil && answer.Final.Status == feedring.Answered:
			told, err := json.Marshal(answer.Entries)
			return string(told), err
		case attempt == 3:
			return "", fmt.Errorf("status %v: %v", answer.Final.Status, err)
		}
		d.late.Add(1)
	}
}

// get asks as a program of its own, at an address of its own.
func (d *publicDay) get(reader int, url, had string) (string, error) {
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	req.Header.Set("User-Agent", fmt.Sprintf("Reader/%d", reader))
	req.Header.Set("X-Forwarded-For", fmt.Sprintf("192.0.%d.%d", reader/256%256, reader%256))
	if had != "" {
		req.Header.Set("If-None-Match", had)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return "", err
	case resp.StatusCode == http.StatusNotModified && had != "":
		d.same.Add(1)
		return "", nil
	case resp.StatusCode != http.StatusOK:
		return "", fmt.Errorf("%s: %s: %.200s", url, resp.Status, body)
	}
	d.tags.Store(reader, resp.Header.Get("Etag"))
	return string(body), nil
}

// visit asks once, and who reads a document asks again with what it then has.
func (d *publicDay) visit(reader int) error {
	had, _ := d.tags.Load(reader)
	tag, _ := had.(string)
	_, err := d.ask(reader, tag)
	if err == nil && reader%4 >= 2 {
		had, _ = d.tags.Load(reader)
		tag, _ = had.(string)
		_, err = d.ask(reader, tag)
	}
	return err
}

// hour is the visits of one hour: each reader comes at evenly spread hours.
func (d *publicDay) hour(hour int) {
	var all sync.WaitGroup
	const atOnce = 16
	for first := range atOnce {
		all.Go(func() {
			for reader := first; reader < d.readers; reader += atOnce {
				if (reader/atOnce+hour)%(hoursOfDay/d.visits) != 0 {
					continue
				}
				if err := d.visit(reader); err != nil {
					d.t.Errorf("reader %d: %v", reader, err)
					return
				}
			}
		})
	}
	all.Wait()
}

// run is the whole day: an entry of both origins an hour, which has passed when
// the peer that is alone has fetched and this hour's readers went.
func (d *publicDay) run(shared, alone *daily, hours int) {
	d.t.Helper()
	for hour := range hours {
		at := alone.looks.Load()
		shared.add(fmt.Sprintf("at-%d", hour))
		alone.add(fmt.Sprintf("at-%d", hour))
		d.hour(hour)
		benchUntil(d.t, "a look of the peer that is alone", func() bool { return alone.looks.Load() > at })
	}
}

// dayOfReaders plays hours of a day, and tells how often the mirrored feed was
// asked for meanwhile, and one that a single polite reader reads.
func dayOfReaders(w *benchNet, peers, readers, hours int, interval time.Duration) (shared, one int64, d *publicDay) {
	w.b.Helper()
	mirrored, alone := newDaily(w.b), newDaily(w.b)
	single := &benchNet{b: w.b}
	single.start("news", "", func(c *Config) {
		c.AllowPrivateFeeds, c.Interval = true, interval
		c.Feeds = []feedring.FeedSpec{{URL: alone.URL + "/feed.xml", Theme: "news", Provider: "alone.example"}}
	})
	d = newPublicDay(w, mirrored, peers, readers, interval)
	d.settled(mirrored, alone)
	forming := mirrored.looks.Load()
	d.asked.Store(0)
	d.same.Store(0)
	d.late.Store(0)
	shared, one = mirrored.looks.Load(), alone.looks.Load()
	other := mirrored.other.Load()
	d.run(mirrored, alone, hours)
	shared, one = mirrored.looks.Load()-shared, alone.looks.Load()-one
	w.b.Logf("%d readers at %d peers asked %d times, %d of them answered 304 and %d asked again; the feed was asked for %d times, that of one reader %d times; "+
		"before, while the group formed, %d times; %d and %d requests for what the site says of peers",
		readers, peers, d.asked.Load(), d.same.Load(), d.late.Load(), shared, one, forming, other, mirrored.other.Load()-other)
	d.until(fmt.Sprintf("at-%d", hours-1))
	return shared, one, d
}

// settled waits until the group has found who is nearest to the origin: while it
// looks for it, others take over.
func (d *publicDay) settled(mirrored, alone *daily) {
	d.t.Helper()
	const looks = 5
	shared, one := mirrored.looks.Load(), alone.looks.Load()
	benchUntil(d.t, "one that goes on looking for all", func() bool {
		if alone.looks.Load() < one+looks {
			return false
		}
		even := mirrored.looks.Load() <= shared+looks
		shared, one = mirrored.looks.Load(), alone.looks.Load()
		return even
	})
}

// TestReadersAddNothing: an origin is asked by all peers of a group, and their
// readers, as by one reader.
func TestReadersAddNothing(t *testing.T) {
	const peers, readers, hours = 4, 400, 8
	shared, one, d := dayOfReaders(&benchNet{b: t}, peers, readers, hours, 400*time.Millisecond)
	if 2*shared > 3*one { // two that fetch would be twice as many
		t.Errorf("the origin was asked %d times, that of one reader %d times", shared, one)
	}
	if d.asked.Load() < readers || d.same.Load() == 0 {
		t.Errorf("readers asked %d times, %d of them for what they had", d.asked.Load(), d.same.Load())
	}
}

// BenchmarkTenThousandReaders is a day of ten peers and ten thousand readers, each
// of whom comes three times, an hour of six seconds, or as much
// longer as this hour's readers take.
func BenchmarkTenThousandReaders(b *testing.B) {
	for range b.N {
		shared, one, d := dayOfReaders(&benchNet{b: b}, 10, 10_000, hoursOfDay, 6*time.Second)
		b.ReportMetric(float64(shared), "origin-requests")
		b.ReportMetric(float64(one), "one-reader's")
		b.ReportMetric(float64(d.asked.Load()), "readers'-requests")
		b.ReportMetric(0, "ns/op")
	}
}
