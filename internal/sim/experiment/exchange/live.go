package exchange

import (
	"math"
	"slices"
	"time"
)

// NoInterest stands for hops where nobody near subscribes.
const NoInterest = mostHops + 1

// Node is a FeedEx node for a program that has a clock and a network of its own: the
// rules are those of the model. Nodes, feeds and entries are numbers that mean the same
// to all nodes. It is not safe for concurrent use.
type Node struct {
	rules      feedex
	subscribed []int
}

// Bundle is new entries of a feed on their way.
type Bundle struct {
	ID      uint64
	Feed    int
	Entries []int32
	Path    []int // forwarders, the one that sends it not among them: who receives it adds that
}

// Check asks a neighbour whether it has seen a bundle.
type Check struct {
	To     int
	Bundle uint64
}

// NewNode returns a node without neighbours that subscribes to some of so many feeds, and
// bounds no deficit.
func NewNode(self, feeds int, subscribed []int) *Node {
	n := &Node{subscribed: subscribed, rules: feedex{self: self, held: make(store, feeds), interests: make(map[int][]uint8), deficit: make(map[int]float64), bound: math.Inf(1)}}
	n.rules.mine = n.Interest(-1)
	return n
}

// Neighbour takes what a neighbour says of its interests, by feed: hops to somebody who
// subscribes, or NoInterest. The first word of it connects the two.
func (n *Node) Neighbour(from int, interest []uint8) {
	if _, ok := n.rules.interests[from]; !ok {
		n.rules.neighbours = append(n.rules.neighbours, from)
		slices.Sort(n.rules.neighbours)
	}
	n.rules.interests[from] = interest
	n.rules.mine = n.Interest(-1)
}

// Interest is what a neighbour is told of the node's interests: without what only that
// neighbour wants.
func (n *Node) Interest(to int) []uint8 {
	return interest(n.subscribed, n.rules.neighbours, n.rules.interests, to, len(n.rules.held))
}

// Fetched takes the entries that a feed's document shows, and returns whom to ask about
// those that are new.
func (n *Node) Fetched(now time.Duration, feed int, shown []int32) []Check {
	news := slices.DeleteFunc(slices.Clone(shown), func(e int32) bool { return n.rules.held.has(feed, e) })
	return checks(n.rules.step(now, n.rules.self, message{kind: looked, feed: feed, news: news}))
}

// Seen answers check_did.
func (n *Node) Seen(id uint64) bool {
	_, ok := n.rules.bundles.has(id)
	return ok
}

// Unseen takes a neighbour's answer that it has not seen a bundle, and returns what to put
// there, if anything.
func (n *Node) Unseen(from int, id uint64) (Bundle, bool) {
	for _, s := range n.rules.step(0, from, message{kind: unseen, bundle: id}) {
		return Bundle{s.bundle, s.feed, s.news, s.path}, true
	}
	return Bundle{}, false
}

// Put takes a bundle of a neighbour, and returns which of its entries were new, and whom to
// ask about those.
func (n *Node) Put(now time.Duration, from int, b Bundle) (fresh []int32, then []Check) {
	fresh = slices.DeleteFunc(slices.Clone(b.Entries), func(e int32) bool { return n.rules.held.has(b.Feed, e) })
	if slices.Contains(b.Path, n.rules.self) {
		fresh = nil
	}
	return fresh, checks(n.rules.step(now, from, message{kind: put, bundle: b.ID, feed: b.Feed, news: b.Entries, path: b.Path}))
}

// Held is when the node had an entry; false: it has not.
func (n *Node) Held(feed int, entry int32) (time.Duration, bool) {
	if !n.rules.held.has(feed, entry) {
		return 0, false
	}
	return n.rules.held[feed][entry], true
}

func checks(out []sending) []Check {
	all := make([]Check, len(out))
	for i, s := range out {
		all[i] = Check{s.to, s.bundle}
	}
	return all
}

// Published is what one captured feed published, by when it came.
type Published struct {
	At   []time.Duration // from the beginning of the run, in order; before it: negative
	Gone []time.Duration // since when its document shows it no more
}

// Replay is a run that processes play, for the model: the same feeds, subscriptions, links
// and fetches, from nothing to the middle of everything as in the paper.
type Replay struct {
	Seed        uint64
	Nodes, Each int // feeds of a node
	Every       time.Duration
	Length      time.Duration
	Feeds       []Published
	Hop         func(a, b int) time.Duration // how long a message takes
}

// Subscriptions are the feeds of each node.
func (r Replay) Subscriptions() [][]int { return subscribe(r.Seed, r.Nodes, len(r.Feeds), r.Each) }

// Links are the neighbours of each node.
func (r Replay) Links() [][]int { return byOverlap(r.Seed, r.Subscriptions()) }

// First is when each node fetches each of its feeds for the first time.
func (r Replay) First() [][]time.Duration {
	first := make([][]time.Duration, r.Nodes)
	s := r.stage()
	for i, set := range s.subscriptions {
		first[i] = make([]time.Duration, len(set))
	}
	for _, t := range slices.Backward(byChance(s.random(), s.subscriptions, s.working, r.Every, r.Every)) {
		at, _ := slices.BinarySearch(s.subscriptions[t.node], t.feed)
		first[t.node][at] = t.at
	}
	return first
}

// Row plays the run without processes.
func (r Replay) Row() Row { return r.stage().row() }

func (r Replay) stage() *stage {
	s := &stage{
		cfg: Config{Seed: r.Seed, Nodes: r.Nodes, Feeds: len(r.Feeds), Each: r.Each}, run: run{every: r.Every, length: r.Length},
		to: r.Length, end: r.Length, subscriptions: r.Subscriptions(), working: slices.Repeat([]bool{true}, r.Nodes), hop: r.Hop,
	}
	for _, f := range r.Feeds {
		s.feeds = append(s.feeds, feed{window: len(f.At), published: f.At, gone: f.Gone})
	}
	return s
}
