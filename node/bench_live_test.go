package node

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/node/internal/nodetest"
)

// BenchmarkDelivery takes one entry from its publisher's disk to a hundred
// followers, each with a host of its own, at the ten peers of a group: notify,
// check, wake, check again. Followers at the publisher itself do not count, but for the
// processor time, which is that of all peers and followers for each of these.
func BenchmarkDelivery(b *testing.B) {
	const peers, followers = 10, 100
	w := &benchNet{b: b}
	w.group("news", peers)
	publisher := w.nodes[1]
	stored := benchStored(publisher)
	arrived := make(chan benchArrival, followers)
	for i := range followers {
		w.follow(w.client(w.nodes[i%peers]), func(e feedring.Entry) { arrived <- benchArrival{e.Title, e.Via, time.Now()} })
	}
	w.attached("news", followers)
	var took latencies
	n, before := 0, computing(b)
	for b.Loop() {
		n++
		title := fmt.Sprintf("entry %d", n)
		w.publish(publisher, title)
		at := <-stored
		for range followers {
			select {
			case a := <-arrived:
				if a.title != title {
					b.Fatalf("%s instead of %s", a.title, title)
				}
				if a.via != publisher.ID() {
					took.add(a.at.Sub(at))
				}
			case <-time.After(benchWithin):
				b.Fatal("a follower was not told")
			}
		}
	}
	b.ReportMetric(float64((computing(b)-before).Microseconds())/float64(n*followers), "cpu-µs/follower")
	took.report(b)
}

type benchArrival struct {
	title string
	via   feedring.PeerID
	at    time.Time
}

// benchStored tells when a batch of n's own feed is on disk.
func benchStored(n *Node) <-chan time.Time {
	stored, loop := make(chan time.Time, 1), n.effects.publisher.Loop
	n.effects.publisher.Loop = nodetest.Tell(func(g feedring.GroupID, in group.Input) {
		if _, ok := in.(group.Appended); ok {
			stored <- time.Now()
		}
		loop.Tell(g, in)
	})
	return stored
}

// follow follows news until the benchmark ends, and returns when the first
// answer is there.
func (w *benchNet) follow(c *client.Client, each func(feedring.Entry)) {
	w.b.Helper()
	first := make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	w.b.Cleanup(func() { cancel(); <-ended })
	go func() {
		defer close(ended)
		o := client.FollowOptions{Within: time.Minute, First: func(client.Answer) error { first <- nil; return nil }}
		err := c.Follow(ctx, feedring.Query{Theme: "news"}, o, func(e feedring.Entry, _ feedring.Cursor) error {
			each(e)
			return nil
		})
		if err != nil && !errors.Is(err, context.Canceled) {
			first <- err
		}
	}()
	if err := <-first; err != nil {
		w.b.Fatal(err)
	}
}

// attached waits until so many clients are served, and tells how many each
// peer serves.
func (w *benchNet) attached(theme feedring.Theme, clients int) []int {
	w.b.Helper()
	var loads []int
	benchUntil(w.b, fmt.Sprintf("%d clients", clients), func() bool {
		loads = loads[:0]
		total := 0
		for _, n := range w.nodes {
			leases := n.loop.View().Memberships[theme].Leases
			loads, total = append(loads, leases), total+leases
		}
		return total == clients
	})
	return loads
}

// BenchmarkThousandFollowers attaches a thousand followers to a group of ten
// peers, fifty of them at a time, and looks how they are spread and at what
// the origin of the one feed that grows is asked meanwhile: as much as with no
// reader at all but the publisher.
func BenchmarkThousandFollowers(b *testing.B) {
	const peers, hosts, each, interval = 10, 20, 50, 500 * time.Millisecond
	for range b.N {
		w := &benchNet{b: b}
		var requests atomic.Int64
		origin := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			n := requests.Add(1)
			rw.Header().Set("Content-Type", "application/rss+xml")
			fmt.Fprintf(rw, `<rss version="2.0"><channel><title>grows</title><link>https://example.org/</link><description>x</description>`+
				`<item><title>story %d</title><guid isPermaLink="false">%d</guid><description>x</description></item></channel></rss>`, n, n)
		}))
		b.Cleanup(origin.Close)
		w.start("news", "grows.example", func(c *Config) {
			c.AllowPrivateFeeds, c.Interval = true, interval
			c.Feeds = []feedring.FeedSpec{{URL: origin.URL, Theme: "news", Provider: "grows.example"}}
		})
		for i := range peers - 1 {
			w.start("news", fmt.Sprintf("p%d.example", i))
		}
		w.formed("news", peers)

		before := requests.Load()
		pause := 20 * interval // the requests of as much time are compared, whatever happens in it
		<-time.After(pause)
		alone := requests.Load() - before

		var got atomic.Int64
		var all sync.WaitGroup
		for i := range hosts {
			c := w.client(w.nodes[i%peers])
			for range each {
				all.Go(func() { w.follow(c, func(feedring.Entry) { got.Add(1) }) })
			}
			if i%2 == 1 {
				all.Wait()
			}
		}
		loads := w.attached("news", hosts*each)
		before = requests.Load()
		<-time.After(pause) // as above
		followed := requests.Load() - before
		b.ReportMetric(float64(slices.Max(loads))*peers/(hosts*each), "largest/mean")
		b.ReportMetric(float64(followed)/float64(alone), "origin-requests/one-reader's")
		b.ReportMetric(float64(got.Load())/(hosts*each), "entries/follower")
		b.ReportMetric(0, "ns/op")
	}
}
