package integration

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// burst is an origin whose feed tells of many entries at once.
type burst struct {
	mu    sync.Mutex
	items []string // XML
}

func (b *burst) add(n int, at time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for range n {
		i := len(b.items)
		b.items = append(b.items, fmt.Sprintf("<item><guid isPermaLink=\"false\">b%d</guid><title>entry %d</title><pubDate>%s</pubDate><description>%s</description></item>",
			i, i, at.UTC().Format(time.RFC1123Z), strings.Repeat("word ", 100)))
	}
}

func (b *burst) serve(w http.ResponseWriter, _ *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	w.Header().Set("Content-Type", "application/rss+xml")
	fmt.Fprintf(w, `<rss version="2.0"><channel><title>B</title>%s</channel></rss>`, strings.Join(b.items, ""))
}

// TestKilledFollower kills a follower amid the entries that it prints, again and
// again: the next one goes on, loses nothing, and repeats at most the one entry
// that was being printed at each kill.
func TestKilledFollower(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"network", "socket"} {
		t.Run(way, func(t *testing.T) {
			const first, more, kills = 40, 60, 6
			o, b := newOrigin(t), &burst{}
			b.add(first, time.Now().Add(-time.Hour))
			n := newNetwork(t, "300ms", "--interval", "100ms")
			p := n.peer(nil, "news=b@"+o.serve("b", b.serve))
			until(t, 20*time.Second, "entries", func() bool { return len(n.query(p, "--theme", "news").entries()) == first })
			data, whom := t.TempDir(), []string{"--peer", p.addr}
			if way == "socket" {
				data, whom = p.data, nil
			}
			times, all := make(map[string]int), first
			random := rand.New(rand.NewPCG(1, 2))
			for i := range kills + 1 {
				args := []string{"follow", "--json", "--resume", "k", "--data", data}
				if i == 0 {
					args = append(append(args, "--theme", "news"), whom...)
				}
				f := start(t, args...)
				if i > 0 {
					f.event(t, 20*time.Second, "an answer", func(o object) bool { return o.str("event") == "answered" })
					b.add(more, time.Now())
					all += more
				}
				if i < kills {
					enough := 1 + random.IntN(more/2)
					seen := 0
					f.event(t, 20*time.Second, "some entries", func(o object) bool {
						if o.str("id") != "" && o.str("event") == "" {
							seen++
						}
						return seen == enough
					})
					f.kill()
				} else {
					until(t, 20*time.Second, "all entries", func() bool {
						missing := all - len(times)
						for _, e := range (result{objects: objects(f.output())}).entries() {
							if times[e.str("title")] == 0 {
								missing--
							}
						}
						return missing <= 0
					})
					f.stop(t, 5*time.Second)
				}
				for _, e := range (result{objects: objects(f.output())}).entries() {
					times[e.str("title")]++
				}
			}
			again := 0
			for title, n := range times {
				if again += n - 1; n > 2 {
					t.Errorf("%s was printed %d times", title, n)
				}
			}
			if len(times) != all || again > kills {
				t.Errorf("%d of %d entries were printed, %d of them again after %d kills", len(times), all, again, kills)
			}
		})
	}
}
