// Package exchange plays FeedEx's experiment (Jun and Ahamad, "FeedEx:
// Collaborative Exchange of News Feeds", WWW 2006, section 4): nodes that look at
// the same feeds by themselves, exchange by the paper's rules, or exchange by
// ours, with the same looks at the origins. Nodes are rules of exchange, not
// whole peers; the rules of ours are internal/gossip, which the product uses.
package exchange

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/feedring/feedring/internal/gossip"
	"github.com/feedring/feedring/internal/sim/experiment"
)

// Config is the set-up. All are of section 4.3 and table 2, but for Long.
type Config struct {
	Seed      uint64          `json:"seed"`
	Nodes     int             `json:"nodes"`
	Feeds     int             `json:"feeds"`
	Each      int             `json:"each"` // feeds of a node
	Intervals []time.Duration `json:"intervals_ns"`
	Short     time.Duration   `json:"short_ns"` // of the paper: nobody has anything at its begin, and it ends in the middle
	Long      time.Duration   `json:"long_ns"`  // what is published in it, after an interval, and an interval's time to see it
	Failing   int             `json:"failing"`  // machines whose looks all failed, of the run that has them
	Riders    int             `json:"riders"`   // nodes that forward nothing, of the run that has them
	ByRiders  time.Duration   `json:"by_ns"`    // the interval of those two runs
	Bounds    []float64       `json:"bounds"`   // FeedEx's D where there are riders, in entries; elsewhere there is none

	Latencies experiment.Latencies `json:"latencies,omitempty"` // between nodes; empty: by chance, for each pair one
}

// Default is the paper's.
func Default() Config {
	c := Config{Nodes: 161, Feeds: 70, Each: 20, Short: 22 * time.Hour, Long: 5 * 24 * time.Hour,
		Failing: 27, Riders: 16, ByRiders: 16 * time.Hour, Bounds: []float64{400, 1000}}
	for every := 30 * time.Minute; every <= 16*time.Hour; every *= 2 {
		c.Intervals = append(c.Intervals, every)
	}
	return c
}

// Check says what cannot be played.
func (c Config) Check() error {
	switch {
	case c.Nodes < 2 || c.Nodes > 2000:
		return fmt.Errorf("%d nodes: give 2 to 2000", c.Nodes)
	case c.Feeds < 1 || c.Feeds > 1000 || c.Each < 1 || c.Each > c.Feeds:
		return fmt.Errorf("%d of %d feeds: give 1 to 1000, and no more of them to a node", c.Each, c.Feeds)
	case c.Short < time.Hour || c.Long < time.Hour || c.Short+c.Long > 60*24*time.Hour:
		return fmt.Errorf("runs of %s and %s: give an hour to 60 days in all", c.Short, c.Long)
	case c.Failing < 0 || c.Failing >= c.Nodes || c.Riders < 0 || c.Riders >= c.Nodes:
		return fmt.Errorf("%d failing nodes and %d free riders of %d: some must be left", c.Failing, c.Riders, c.Nodes)
	}
	for _, every := range append(c.Intervals, c.ByRiders) {
		if every < time.Minute || every > 7*24*time.Hour {
			return fmt.Errorf("an interval of %s: give a minute to a week", every)
		}
	}
	return c.Latencies.Check()
}

// Result is all of it.
type Result struct {
	Config  Config   `json:"config"`
	Short   []Row    `json:"short"`
	Long    []Row    `json:"long"`
	Failing Row      `json:"failing"` // as Short
	Riders  []Riders `json:"riders"`  // as Long
	Killed  []Killed `json:"killed"`  // as Long
}

// Row is one interval.
type Row struct {
	Every  time.Duration `json:"every_ns"`
	Alone  Score         `json:"alone"`
	FeedEx Score         `json:"feedex"`
	Ours   Score         `json:"ours"`   // one looks for all, as often as all subscribers together
	Hourly Score         `json:"hourly"` // one looks for all, once an hour
}

// Riders is how those who forward nothing come off beside those who do.
type Riders struct {
	Bound  float64 `json:"bound"` // of FeedEx; 0: not FeedEx
	Kept   bool    `json:"kept"`  // ours: turns that bring nothing are kept
	Riding Score   `json:"riding"`
	Others Score   `json:"others"`
}

// Killed is how readers come off from the moment on at which of each feed one subscriber looks no more: with ours, the only
// one that did.
type Killed struct {
	Carried bool  `json:"carried"` // ours: another subscriber volunteers
	Score   Score `json:"score"`
}

// Study plays all of it.
func Study(cfg Config, progress experiment.Progress) (Result, error) {
	r := Result{Config: cfg}
	if err := cfg.Check(); err != nil {
		return r, err
	}
	total, done := 2*len(cfg.Intervals)+3, 0
	for _, every := range cfg.Intervals {
		progress.Tell(done, total, "%s, a look in %s", cfg.Short, every)
		r.Short = append(r.Short, cfg.row(run{every: every, length: cfg.Short}))
		progress.Tell(done+1, total, "%s, a look in %s", cfg.Long, every)
		r.Long = append(r.Long, cfg.row(run{every: every, length: cfg.Long, whole: true}))
		done += 2
	}
	progress.Tell(done, total, "%d machines whose looks fail", cfg.Failing)
	r.Failing = cfg.row(run{every: cfg.ByRiders, length: cfg.Short, failing: cfg.Failing})
	progress.Tell(done+1, total, "%d free riders", cfg.Riders)
	for _, d := range cfg.Bounds {
		r.Riders = append(r.Riders, cfg.riders(FeedEx, d, false))
	}
	r.Riders = append(r.Riders, cfg.riders(Ours, 0, true), cfg.riders(Ours, 0, false))
	progress.Tell(done+2, total, "the only mirror of each feed is killed")
	r.Killed = append(r.Killed, cfg.killed(FeedEx, false), cfg.killed(Ours, false), cfg.killed(Ours, true), cfg.killed(Hourly, true))
	return r, nil
}

func (cfg Config) killed(system string, carried bool) Killed {
	s := newStage(cfg, run{every: cfg.ByRiders, length: cfg.Long, whole: true, killed: true, carried: carried})
	return Killed{carried, s.score(s.play(system), system, func(int) bool { return true })}
}

func (cfg Config) riders(system string, d float64, kept bool) Riders {
	s := newStage(cfg, run{every: cfg.ByRiders, length: cfg.Long, whole: true, riders: cfg.Riders, bound: d, kept: kept})
	w := s.play(system)
	return Riders{d, kept,
		s.score(w, system, func(i int) bool { return i < cfg.Riders }),
		s.score(w, system, func(i int) bool { return i >= cfg.Riders }),
	}
}

// The systems.
const (
	Alone  = "alone"
	FeedEx = "FeedEx"
	Ours   = "ours"
	Hourly = "ours, hourly"
)

// run is what differs from run to run.
type run struct {
	every   time.Duration
	length  time.Duration
	whole   bool // it begins before what is counted, and ends after
	failing int
	riders  int
	bound   float64 // 0: none
	kept    bool    // turns that bring nothing
	killed  bool    // of each feed one subscriber looks no more, from where it counts on
	carried bool    // … and another does in its place
}

func (cfg Config) row(r run) Row {
	return newStage(cfg, r).row()
}

func (s *stage) row() Row {
	everybody := func(int) bool { return true }
	score := func(system string) Score { return s.score(s.play(system), system, everybody) }
	return Row{s.run.every, score(Alone), score(FeedEx), score(Ours), score(Hourly)}
}

// stage is what all systems of a row have in common.
type stage struct {
	cfg           Config
	run           run
	feeds         []feed
	subscriptions [][]int
	working       []bool
	hop           func(a, b int) time.Duration
	from, to, end time.Duration // what is published from..to counts; looks go on to end
}

func newStage(cfg Config, r run) *stage {
	s := &stage{cfg: cfg, run: r, to: r.length, end: r.length, hop: hop}
	if places := cfg.Latencies.Places(cfg.Seed); places != nil {
		s.hop = places.OneWay
	}
	if r.whole {
		s.from, s.to, s.end = 2*r.every, 2*r.every+r.length, 4*r.every+r.length
	}
	s.feeds = newFeeds(cfg.Seed, cfg.Feeds, s.end)
	s.subscriptions = subscribe(cfg.Seed, cfg.Nodes, cfg.Feeds, cfg.Each)
	s.working = make([]bool, cfg.Nodes)
	for i := range s.working {
		s.working[i] = i >= r.failing
	}
	return s
}

// play runs one system.
func (s *stage) play(system string) *world {
	random := s.random()
	w := &world{feeds: s.feeds, nodes: make([]node, s.cfg.Nodes), from: s.from, until: s.end, random: random, riders: s.run.riders, hop: s.hop}
	for range w.nodes {
		w.stores = append(w.stores, newStore(s.feeds))
	}
	switch every := func(subscribers int) time.Duration { return s.run.every / time.Duration(subscribers) }; system {
	case Hourly:
		every = func(int) time.Duration { return time.Hour }
		fallthrough
	case Ours:
		w.turns = byOne(random, s.subscriptions, s.working, s.cfg.Feeds, every, s.end, s.run.riders, s.run.kept)
		s.ours(w)
	case FeedEx:
		s.feedex(w)
		fallthrough
	default:
		w.turns = byChance(random, s.subscriptions, s.working, s.run.every, s.end)
	}
	if s.run.killed {
		w.turns = withoutFirst(w.turns, s.subscriptions, s.from, s.end, s.run.carried)
	}
	w.play()
	return w
}

func (s *stage) random() *rand.Rand { return rand.New(rand.NewPCG(s.cfg.Seed, 0x6578)) }

func (s *stage) feedex(w *world) {
	links := byOverlap(s.cfg.Seed, s.subscriptions)
	told := hops(s.subscriptions, links, s.cfg.Feeds)
	bound := s.run.bound
	if bound == 0 {
		bound = math.Inf(1)
	}
	for i := range w.nodes {
		n := &feedex{bound: bound, self: i, neighbours: links[i], interests: told[i], held: w.stores[i], deficit: map[int]float64{}, rides: i < s.run.riders}
		n.mine = interest(s.subscriptions[i], links[i], told[i], -1, s.cfg.Feeds)
		w.nodes[i] = n
	}
}

func (s *stage) ours(w *world) {
	ids, index := peerIDs(s.cfg.Nodes)
	mesh := gossip.NewMesh(ids, spot)
	w.heads = make(map[uint64][]bool)
	for i := range w.nodes {
		var near []int
		for _, p := range mesh.Neighbours(ids[i]) {
			near = append(near, index[p])
		}
		w.near = append(w.near, near)
		n := newOurs(i, ids, index, mesh, w.stores[i], s.cfg.Seed)
		n.rides = i < s.run.riders
		w.nodes[i] = n
	}
}

func (s *stage) score(w *world, system string, of func(int) bool) Score {
	return w.score(system, s.subscriptions, s.from, s.to, of)
}
