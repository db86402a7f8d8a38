package integration

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestPlanetFleet spreads a fleet over the planet, and takes how long an entry takes from
// the publisher's store to a personal feed, polled at any peer of the fleet.
// FEEDRING_PLANET plays eight peers and 100 entries, otherwise three and a few are played.
func TestPlanetFleet(t *testing.T) {
	size, subscribed, entries := 3, 12, 6
	if os.Getenv("FEEDRING_PLANET") != "" {
		size, subscribed, entries = 8, 400, 100
	}
	s := newPlanetNet(t)
	build := func(name string) *machine { return s.place(s.machine(name)) }
	news := newFeed("news", 3)
	f, _ := newSpreadFleet(t, build, news, size, "")
	publisher := f.network.peers[0]
	f.subscribe(f.peers[0], subscribed)
	f.polled("news story 2", f.peers[0])

	const readers = 8 // of each entry
	var stored, polls []time.Duration
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(1, 5))
	client, watched := publisher.onSocket(), s.watch()
	for k := range entries {
		title := fmt.Sprintf("story of the planet %d.", k)
		news.add(title, "x", time.Time{})
		until(t, 20*time.Second, "an entry at the publisher", func() bool {
			return strings.Contains(answerOf(client, "http://feedring/api/v1/entries?theme=news&limit=5"), title)
		})
		from := time.Now()
		var reading sync.WaitGroup
		for range readers {
			p, path := f.peers[random.IntN(size)], f.ledger[random.IntN(len(f.ledger))]
			reading.Go(func() {
				var last time.Duration
				for shown := false; !shown; {
					asked := time.Now()
					shown = strings.Contains(answerOf(http.DefaultClient, p.http+path), title)
					if last = time.Since(asked); asked.Sub(from) > 20*time.Second {
						t.Errorf("%s does not show an entry after %v", path, asked.Sub(from))
						return
					}
				}
				took := time.Since(from)
				mu.Lock()
				defer mu.Unlock()
				stored, polls = append(stored, took), append(polls, last)
			})
		}
		reading.Wait()
	}
	strained := watched()
	slices.Sort(stored)
	slices.Sort(polls)
	trip := 2 * s.places.Median()
	goal := 50*time.Millisecond + 2*trip
	t.Logf("%d peers of a fleet, round trips of %v in the median; %v", size, trip, strained)
	t.Logf("%d polls of %d entries: stored → in the document that was read, p50 %v (goal %v), p99 %v; the last poll alone p50 %v, p99 %v",
		len(stored), entries, quantile(stored, 0.5), goal, quantile(stored, 0.99), quantile(polls, 0.5), quantile(polls, 0.99))
	switch {
	case strained.much():
		t.Skipf("every entry came, and times do not count, since the machine was %v", strained)
	case quantile(stored, 0.5) > goal:
		t.Errorf("an entry takes %v in the median, and the goal is %v", quantile(stored, 0.5), goal)
	}
}

// answerOf is the body of a good answer; empty: there was none.
func answerOf(client *http.Client, url string) string {
	answer, err := client.Get(url)
	if err != nil {
		return ""
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		return ""
	}
	return string(body)
}
