package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/peer"
)

// What a seed of the faults is.
const (
	troubled   = 10 * time.Minute
	warm       = 25 * time.Second // before the first fault
	followers  = 10
	faultEvery = 22 * time.Second // on average: more than 20 in a run
	askEvery   = 6 * time.Second
)

// scenario is a world in which things go wrong for ten minutes.
type scenario struct {
	*World
	nodes    []*node
	homes    []int    // by node: the number of its theme
	sites    []string // by node: a site that it publishes
	settlers int      // nodes that are there before the faults
	wide     bool
	times    int // how many times the peers of a plain seed there are
	faults   []fault
	readers  []*reader
	mends    []func()
	healed   bool
	calm     time.Duration // when the faults stopped
	count    int           // of faults
}

// newScenario makes the world of a seed: how it is differs from seed to seed, and
// how large it is, if no sizes of its groups are given.
func newScenario(seed uint64, sizes []int, trace func(string)) *scenario {
	cfg := Config{Seed: seed, Trace: trace, Peer: peer.Config{Refresh: 10 * time.Second, Attempts: 3, Freshness: 24 * time.Hour},
		Conditions: Conditions{Delay: time.Millisecond << (seed % 6), Jitter: time.Millisecond << (seed % 5)}}
	if seed%3 == 0 {
		cfg.Peer.Freshness = time.Duration(2+seed%4) * time.Minute
	}
	if seed%2 == 1 {
		cfg.Peer.Routing = peer.RingOnly
	}
	wide := sizes != nil || Wide(seed)
	if wide {
		cfg.Peer.Fetchers = int(1 + seed/10%3)
	}
	s := &scenario{World: New(cfg), wide: wide, times: 1, faults: faults}
	if s.wide {
		s.faults = slices.Concat(faults, wider)
	}
	if sizes == nil && Stores(seed) {
		s.faults = append(s.faults, ofStores...)
	}
	switch {
	case sizes != nil:
		s.enlarge(sizes)
	case s.wide:
		sizes = s.shape()
	default:
		sizes = plain
	}
	s.people(sizes)
	return s
}

func themeName(group int) feedring.Theme { return feedring.Theme(fmt.Sprintf("theme%d", group)) }

func siteName(node int) string { return fmt.Sprintf("site%d", node) }

func (s *scenario) anyClock() clock {
	return clock{skew: s.between(-2*time.Second, 2*time.Second), drift: time.Duration(s.random.IntN(400) - 200)}
}

// people makes the nodes, each of its group, and what they publish.
func (s *scenario) people(sizes []int) {
	groups := len(sizes)
	for i, home := range homes(sizes) {
		c := s.anyClock()
		var through []int32
		if i > 0 {
			through = append(through, 0, int32(s.random.IntN(i)))
		}
		n := s.addNode(c, through...)
		s.nodes, s.homes, s.sites = append(s.nodes, n), append(s.homes, home), append(s.sites, siteName(i))
		theme := themeName(home)
		s.publish(n, theme, siteName(i), seldom(sizes[home])*s.between(15*time.Second, 2*time.Minute))
		if s.often(s.mirrors()) && i >= groups { // a mirror of what another publishes
			s.publish(n, theme, siteName(home), time.Minute)
		}
		if s.often(8) { // a member of another group as well
			s.publish(n, themeName((home+1)%groups), fmt.Sprintf("second%d", i), time.Minute)
		}
	}
	s.settlers = len(s.nodes)
	for _, o := range s.origins {
		if !s.often(4) && (!s.wide || len(o.feeds) == 1 || s.often(2)) {
			o.names = o.feeds[0].node.id
		}
	}
	for _, n := range s.nodes {
		s.after(s.between(0, 5*time.Second), func() { s.begin(n) })
	}
}

// audience has readers come, who ask from time to time.
func (s *scenario) audience() {
	for range s.times * followers {
		s.after(s.between(10*time.Second, 4*time.Minute), s.newFollower)
	}
	s.after(warm/2, s.nextQuery)
}

func (s *scenario) anyBook() []int32 {
	book := []int32{s.anyNode().index}
	for len(book) < 3 {
		book = append(book, s.anyNode().index)
	}
	return s.withSomebody(nil, book)
}

func (s *scenario) newFollower() {
	theme, provider := s.anyTheme(), ""
	if s.often(4) {
		i := s.random.IntN(len(s.nodes))
		theme, provider = themeName(s.homes[i]), s.sites[i]
	}
	r := s.newReader(s.addClient(s.anyBook()), theme, provider, time.Time{}, true)
	s.readers = append(s.readers, r)
	s.tracef("%s follows %s %q", r.client.id, theme, provider)
	s.World.ask(r, r.since, 10*time.Second)
}

func (s *scenario) nextQuery() {
	if s.quiet {
		return
	}
	s.after(s.between(0, 2*askEvery/time.Duration(s.times)), s.nextQuery)
	c := s.anyClient()
	if c == nil {
		return
	}
	theme, provider, since := s.anyTheme(), "", time.Time{}
	switch s.random.IntN(8) {
	case 0:
		theme = ""
	case 1:
		provider = s.sites[s.random.IntN(len(s.nodes))]
	case 2:
		theme = "nobody"
	case 3:
		since = began.Add(s.now - s.between(0, s.now))
	case 4:
		since = began.Add(s.now - s.cfg.Peer.Freshness*time.Duration(s.random.IntN(20))/10)
	case 5:
		theme, provider = "", s.sites[s.random.IntN(len(s.nodes))]
	}
	r := s.newReader(c, theme, provider, since, false)
	s.World.ask(r, since, 10*time.Second)
}

// anyClient is a client that is still there, to ask something more; nil: none.
func (s *scenario) anyClient() *client {
	if len(s.readers) == 0 {
		return nil
	}
	c := s.readers[s.random.IntN(len(s.readers))].client
	if !c.here {
		return nil
	}
	return c
}

// nextFault begins a fault, and plans the next.
func (s *scenario) nextFault() {
	if s.healed {
		return
	}
	every := faultEvery / time.Duration(s.times)
	s.after(s.between(every/8, 2*every-every/8), s.nextFault)
	total := 0
	for i := range s.faults {
		total += s.faults[i].weight
	}
	pick := s.random.IntN(total)
	for i := range s.faults {
		if pick -= s.faults[i].weight; pick < 0 {
			s.count++
			s.tracef("--- fault %d: %s", s.count, s.faults[i].name)
			s.faults[i].begin(s)
			return
		}
	}
}

// heal ends all faults.
func (s *scenario) heal() {
	s.healed, s.calm = true, s.now
	s.tracef("--- faults stop")
	for i := 0; i < len(s.mends); i++ {
		s.mends[i]()
	}
}
