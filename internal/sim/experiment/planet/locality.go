package planet

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// LocalityConfig is the set-up of Cobra's figure 9 (Rose et al., "Cobra: Content-based
// Filtering and Aggregation of Blogs and RSS Feeds", NSDI 2007, section 3.7): fetchers
// that fetch feeds at places, all of them nodes of the matrix.
type LocalityConfig struct {
	Seed     uint64 `json:"seed"`
	Fetchers int    `json:"fetchers"`
	Feeds    int    `json:"feeds"`  // as many at each place, as far as that goes
	Places   int    `json:"places"` // each a host of its own
	Draws    int    `json:"draws"`  // of fetchers, places, and the moment at which fetchers measure
}

// DefaultLocality has Cobra's fetchers, and feeds at 40 hosts.
func DefaultLocality() LocalityConfig {
	return LocalityConfig{Seed: 1, Fetchers: 11, Feeds: 400, Places: 40, Draws: 100}
}

// Check says what cannot be played.
func (c LocalityConfig) Check() error {
	switch {
	case c.Fetchers < 1 || c.Places < 1 || c.Fetchers+c.Places > Stored:
		return fmt.Errorf("%d fetchers and %d places: give 1 of each at least, and no more than %d together", c.Fetchers, c.Places, Stored)
	case c.Feeds < c.Places || c.Feeds > 100_000:
		return fmt.Errorf("%d feeds: give %d to 100000, so that each place has one", c.Feeds, c.Places)
	case c.Draws < 1 || c.Draws > 10_000:
		return fmt.Errorf("%d draws: give 1 to 10000", c.Draws)
	}
	return nil
}

// LocalityResult has a row for each way to assign feeds to fetchers.
type LocalityResult struct {
	Config LocalityConfig `json:"config"`
	Rows   []LocalityRow  `json:"rows"`
}

// LocalityRow is one way, over all draws.
type LocalityRow struct {
	By     string  `json:"by"`
	Median float64 `json:"median_ms"` // round trip from a feed's fetcher to its place
	P90    float64 `json:"p90_ms"`
	Gain   float64 `json:"gain"` // by how much the median is below that of chance, as a share
	Most   int     `json:"most"` // feeds of one fetcher: the most in any draw
}

// The ways.
const (
	ByChance   = "chance"
	ByFirstFit = "Cobra's first fit"
	ByLease    = "nearest by lease, all start at once"
	ByArrival  = "nearest by lease, one after the other"
)

// Locality draws and assigns. It is a model: peers of ours are the rule by which a
// group's manager assigns the one fetcher of a host (group/internal/fetchassign), for
// fetchers that all mirror all feeds.
func (m *Matrix) Locality(cfg LocalityConfig) (LocalityResult, error) {
	result := LocalityResult{Config: cfg}
	if err := cfg.Check(); err != nil {
		return result, err
	}
	ways := []string{ByChance, ByFirstFit, ByLease, ByArrival}
	trips, most := map[string][]time.Duration{}, map[string]int{}
	for i := range cfg.Draws {
		d := m.Draw(cfg, cfg.Seed+uint64(i))
		for _, by := range ways {
			load := make([]int, cfg.Fetchers)
			for feed, fetcher := range d.Assign(by) {
				load[fetcher]++
				trips[by] = append(trips[by], m.RTT(d.Fetchers[fetcher], d.Places[feed%cfg.Places]))
			}
			most[by] = max(most[by], slices.Max(load))
		}
	}
	at := func(by string, share float64) float64 {
		all := trips[by]
		return all[int(share*float64(len(all)-1))].Seconds() * 1000
	}
	for _, by := range ways {
		slices.Sort(trips[by])
		result.Rows = append(result.Rows, LocalityRow{by, at(by, 0.5), at(by, 0.9), 1 - at(by, 0.5)/at(ByChance, 0.5), most[by]})
	}
	return result, nil
}

// Draw is one choice of fetchers and places. It is not safe for concurrent use.
type Draw struct {
	Fetchers []int             // nodes
	Places   []int             // nodes
	Measured [][]time.Duration // round trips from a fetcher to a place at the moment of the seed: see Matrix.Places

	cfg    LocalityConfig
	random *rand.Rand
}

// Draw chooses by a seed. The configuration is one that Check accepts.
func (m *Matrix) Draw(cfg LocalityConfig, seed uint64) *Draw {
	d := &Draw{cfg: cfg, random: rand.New(rand.NewPCG(seed, 0x6c6f63616c))}
	nodes := d.random.Perm(m.nodes)
	d.Fetchers, d.Places = nodes[:cfg.Fetchers], nodes[cfg.Fetchers:cfg.Fetchers+cfg.Places]
	now := m.Places(seed)
	for _, from := range d.Fetchers {
		var row []time.Duration
		for _, to := range d.Places {
			row = append(row, now.trip[from*m.nodes+to])
		}
		d.Measured = append(d.Measured, row)
	}
	return d
}

// Assign gives each feed one of the fetchers, by its number. Feed i is at place
// i mod cfg.Places.
func (d *Draw) Assign(by string) []int {
	switch by {
	case ByFirstFit:
		return d.firstFit()
	case ByLease, ByArrival:
		return d.byLease(by == ByArrival)
	}
	fetchers := make([]int, d.cfg.Feeds)
	for i, feed := range d.random.Perm(d.cfg.Feeds) {
		fetchers[feed] = i % d.cfg.Fetchers
	}
	return fetchers
}

// firstFit lets each fetcher in turn take the nearest feed that is left, so that all have
// as many: Cobra's algorithm, which knows all round trips.
func (d *Draw) firstFit() []int {
	fetchers, left := make([]int, d.cfg.Feeds), make([]int, d.cfg.Feeds)
	for i := range left {
		left[i] = i
	}
	for turn := 0; len(left) > 0; turn++ {
		fetcher := turn % d.cfg.Fetchers
		next := 0
		for i, feed := range left {
			if d.Measured[fetcher][feed%d.cfg.Places] < d.Measured[fetcher][left[next]%d.cfg.Places] {
				next = i
			}
		}
		fetchers[left[next]] = fetcher
		left = slices.Delete(left, next, next+1)
	}
	return fetchers
}

// leastGain is how much nearer a peer must be to replace a fetcher, besides being at
// half the distance at most.
const leastGain = 5 * time.Millisecond

// byLease gives all feeds of a place to one fetcher: the nearest, if all start at once. If
// they arrive one after the other, who fetches is replaced only by one that is much
// nearer.
func (d *Draw) byLease(arriving bool) []int {
	order, chosen := d.random.Perm(d.cfg.Fetchers), make([]int, d.cfg.Places)
	for place := range chosen {
		far := func(fetcher int) time.Duration { return d.Measured[fetcher][place] }
		if !arriving {
			chosen[place] = slices.MinFunc(order, func(a, b int) int { return cmp.Compare(far(a), far(b)) })
			continue
		}
		at := order[0]
		for _, next := range order[1:] {
			if 2*far(next) <= far(at) && far(at)-far(next) >= leastGain {
				at = next
			}
		}
		chosen[place] = at
	}
	fetchers := make([]int, d.cfg.Feeds)
	for feed := range fetchers {
		fetchers[feed] = chosen[feed%d.cfg.Places]
	}
	return fetchers
}
