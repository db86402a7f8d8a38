package integration

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/feedring/feedring/internal/sim/experiment/planet"
)

// nearRun is Cobra's figure 9 with processes: peers that all mirror the same feeds, and
// sites at other places of the planet.
type nearRun struct {
	*network
	cfg   planet.LocalityConfig
	net   *lossyNet
	feeds []string // their addresses: feed i is at place i mod cfg.Places
}

// TestPlanetNear has peers mirror feeds of sites that are near and far, and reads which
// peer fetches which feed: the manager is to choose near ones. FEEDRING_PLANET plays
// Cobra's 11 fetchers and 400 feeds, at 40 places; without it a few are played.
func TestPlanetNear(t *testing.T) {
	cfg := planet.LocalityConfig{Seed: 1, Fetchers: 4, Feeds: 24, Places: 8, Draws: 1}
	if os.Getenv("FEEDRING_PLANET") != "" {
		cfg = planet.DefaultLocality()
	}
	s := newLossyNet(t, 1, conditions{})
	s.far = true
	r := &nearRun{network: newNetwork(t, planetRefresh.String()), cfg: cfg, net: s}
	drawn := planet.PlanetLab().Draw(cfg, cfg.Seed)
	r.build(drawn)
	by := r.fetchers()

	trips := func(fetchers []int) (median time.Duration, most int) {
		var all []time.Duration
		load := make([]int, cfg.Fetchers)
		for feed, fetcher := range fetchers {
			all = append(all, drawn.Measured[fetcher][feed%cfg.Places])
			load[fetcher]++
		}
		slices.Sort(all)
		return quantile(all, 0.5), slices.Max(load)
	}
	chance, _ := trips(drawn.Assign(planet.ByChance))
	fit, fitMost := trips(drawn.Assign(planet.ByFirstFit))
	best, bestMost := trips(drawn.Assign(planet.ByLease))
	ours, most := trips(by)
	t.Logf("%d fetchers, %d feeds at %d places; median round trip from a feed's fetcher to its place: chance %v; Cobra's first fit %v (most feeds of one: %d); the nearest %v (%d); peers %v (%d), %.0f %% below chance",
		cfg.Fetchers, cfg.Feeds, cfg.Places, chance, fit, fitMost, best, bestMost, ours, most, 100*(1-ours.Seconds()/chance.Seconds()))
	for feed, fetcher := range by {
		for other, row := range drawn.Measured {
			if place := feed % cfg.Places; row[place] < drawn.Measured[fetcher][place]/3 { // half is the rule, and a busy machine measures longer times
				t.Errorf("feed %d is fetched over %v, and peer %d is at %v", feed, drawn.Measured[fetcher][place], other, row[place])
			}
		}
	}
	if cfg.Fetchers < planet.DefaultLocality().Fetchers { // the median of a few places is that of one of them
		return
	}
	if ours.Seconds() > 0.6*chance.Seconds() {
		t.Errorf("peers fetch over %v in the median; by chance it is %v, and the goal is 40 %% less", ours, chance)
	}
	if ours > fit {
		t.Errorf("peers fetch over %v in the median, Cobra's first fit over %v", ours, fit)
	}
}

// build starts sites and peers at their places.
func (r *nearRun) build(drawn *planet.Draw) {
	var machines []*machine
	var sites []*origin
	for i := range drawn.Places {
		m := r.net.machine(fmt.Sprintf("site%d", i))
		machines = append(machines, m)
		sites = append(sites, m.originAt(m.addr+":80"))
	}
	for i := range r.cfg.Feeds {
		r.feeds = append(r.feeds, sites[i%r.cfg.Places].feed(newFeed(fmt.Sprintf("f%d", i), 1)))
	}
	r.extra = []string{"--interval", "1m"}
	var mirrored []string
	for i, address := range r.feeds {
		mirrored = append(mirrored, fmt.Sprintf("news=f%d@%s", i, address))
	}
	matrix := planet.PlanetLab()
	for i, node := range drawn.Fetchers {
		m := r.net.machine(fmt.Sprintf("peer%d", i))
		for k, other := range machines {
			trip := matrix.RTT(node, drawn.Fetchers[max(0, k-len(sites))])
			if k < len(sites) {
				trip = drawn.Measured[i][k]
			}
			r.net.between(m, other, conditions{delay: trip / 2})
			r.net.between(other, m, conditions{delay: trip / 2})
		}
		machines = append(machines, m)
		m.peer(r.network, r.peers[:min(1, len(r.peers))], mirrored...)
	}
}

// fetchers waits until all peers name the same one for each feed, and that is so for
// eight refreshes, and returns their numbers.
func (r *nearRun) fetchers() (by []int) {
	const steady = 8 * planetRefresh
	var since time.Time
	var open, moved int
	r.t.Cleanup(func() { r.t.Logf("fetchers moved %d times, %d feeds had no fetcher that all name", moved, open) })
	until(r.t, 5*time.Minute, "one fetcher of each feed", func() bool {
		now := r.named()
		if open = r.differ(now, by); open > 0 {
			by, since = now, time.Now()
			moved++
		}
		return time.Since(since) > steady
	})
	return by
}

// differ counts the feeds of which peers do not all name one fetcher, the same as before.
func (r *nearRun) differ(now, before []int) (feeds int) {
	for i := range now {
		if now[i] < 0 || before == nil || before[i] != now[i] {
			feeds++
		}
	}
	return feeds
}

// named is the fetcher of each feed that all peers name; -1: they do not.
func (r *nearRun) named() []int {
	number := make(map[string]int)
	for i, p := range r.peers {
		number[p.id] = i
	}
	by, names := make([]int, len(r.feeds)), make([]int, len(r.feeds))
	for _, p := range r.peers {
		for _, f := range command(r.t, "feed", "list", "--json", "--data", p.data).objects {
			feed := slices.Index(r.feeds, f.str("url"))
			fetcher, known := number[f.str("looked_at_by")]
			if !known || feed < 0 || names[feed] > 0 && by[feed] != fetcher {
				continue
			}
			by[feed] = fetcher
			names[feed]++
		}
	}
	for i, n := range names {
		if n < len(r.peers) {
			by[i] = -1
		}
	}
	return by
}
