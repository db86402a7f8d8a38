package exchange

import (
	"container/heap"
	"math/rand/v2"
	"slices"
	"time"
)

const (
	shortestHop, longestHop = 10 * time.Millisecond, 90 * time.Millisecond // a message, one way; the same for a pair each time
	// beat is how often our beacons tell of heads to who missed a notify: r/3.
	beat = 10 * time.Second / 3
)

// turn is one look of a node at a feed.
type turn struct {
	at         time.Duration
	node, feed int
}

// world is one run: nodes, what is on its way, and what was counted.
type world struct {
	feeds   []feed
	nodes   []node
	stores  []store
	turns   []turn // in order
	looks   int
	queue   queue
	order   uint64
	now     time.Duration
	from    time.Duration // what comes before is not counted
	until   time.Duration
	checks  int
	puts    int
	bundles int               // of them, those that brought something new
	entries int               // in puts
	heads   map[uint64][]bool // ours: who has which bundle, until the beacons told it
	near    [][]int           // ours: neighbours
	riders  int               // the first nodes, which forward nothing
	repairs int               // polls that only a beacon brought about
	random  *rand.Rand
	hop     func(a, b int) time.Duration // how long a message takes between two nodes
}

// play runs until the looks are over, and what they brought about.
func (w *world) play() {
	for len(w.turns) > 0 || len(w.queue) > 0 {
		if len(w.queue) == 0 || len(w.turns) > 0 && w.turns[0].at <= w.queue[0].at {
			t := w.turns[0]
			w.turns = w.turns[1:]
			w.now = t.at
			w.look(t)
			continue
		}
		e := heap.Pop(&w.queue).(*event)
		w.now = e.at
		if e.beacon != 0 {
			w.beacon(e.beacon)
			continue
		}
		w.count(e)
		w.step(e.to, e.from, e.m)
	}
}

func (w *world) look(t turn) {
	if w.now >= w.from {
		w.looks++
	}
	f := &w.feeds[t.feed]
	from, to := f.document(t.at)
	news := make([]int32, 0, to-from)
	for i := from; i < to; i++ {
		if w.stores[t.node][t.feed][i] == missing && f.shows(i, t.at) {
			news = append(news, int32(i))
		}
	}
	w.step(t.node, t.node, message{kind: looked, feed: t.feed, news: news})
}

func (w *world) step(to, from int, m message) {
	if w.nodes[to] == nil { // alone
		w.stores[to].add(m.feed, m.news, w.now)
		return
	}
	if w.heads != nil && m.kind == looked && len(m.news) > 0 && to >= w.riders {
		id := digest(m.feed, m.news)
		w.heads[id] = make([]bool, len(w.nodes))
		w.heads[id][to] = true
		w.push(event{at: (w.now/beat + 2) * beat, beacon: id})
	}
	for _, s := range w.nodes[to].step(w.now, from, m) {
		after := s.after
		if s.to != to {
			after += w.hop(to, s.to)
		}
		w.push(event{at: w.now + after, to: s.to, from: to, m: s.message})
	}
}

// hop is how long a message takes between two nodes, where nobody measured it.
func hop(a, b int) time.Duration {
	random := rand.New(rand.NewPCG(uint64(min(a, b)), uint64(max(a, b))))
	return shortestHop + time.Duration(random.Int64N(int64(longestHop-shortestHop)))
}

func (w *world) push(e event) {
	w.order++
	e.order = w.order
	heap.Push(&w.queue, &e)
}

// count counts what a node receives.
func (w *world) count(e *event) {
	if e.m.kind == put && w.heads != nil {
		if h := w.heads[e.m.bundle]; h != nil {
			h[e.to] = true
		}
	}
	if w.now < w.from || w.now >= w.until {
		return
	}
	switch e.m.kind {
	case check:
		w.checks++
	case put:
		w.puts++
		if slices.ContainsFunc(e.m.news, func(i int32) bool { return w.stores[e.to][e.m.feed][i] == missing }) {
			w.bundles++
		}
		w.entries += len(e.m.news)
	}
}

// beacon lets everybody who was not told of a bundle poll a neighbour that has it:
// in the product beacons, which go to all neighbours, name the heads that moved.
func (w *world) beacon(bundle uint64) {
	has := w.heads[bundle]
	delete(w.heads, bundle)
	for i := range w.nodes {
		if has[i] {
			continue
		}
		from := w.random.IntN(len(has))
		for !has[from] {
			from = (from + 1) % len(has)
		}
		for _, j := range w.near[i] {
			if has[j] {
				from = j
			}
		}
		w.repairs++
		w.push(event{at: w.now + w.hop(i, from), to: from, from: i, m: message{kind: unseen, bundle: bundle}})
	}
}

// byChance has every subscriber look once in an interval, at a time of its own.
func byChance(random *rand.Rand, subscriptions [][]int, working []bool, every, until time.Duration) []turn {
	var turns []turn
	for i, set := range subscriptions {
		for _, f := range set {
			phase := time.Duration(random.Int64N(int64(every)))
			for at := phase; at < until && working[i]; at += every {
				turns = append(turns, turn{at, i, f})
			}
		}
	}
	return inOrder(turns)
}

// A fetcher whose turn brought nothing is passed over for so long: as group/internal/fetchassign does.
const vainFor = 24 * time.Hour

// byOne has one subscriber fetch a feed for all, at a fixed interval that each feed has for itself. A node that tells
// nobody what it fetched keeps its turn if turns are kept; otherwise it loses it to the next after two intervals without
// a word, and has it again, being the nearest, when it is passed over no more.
func byOne(random *rand.Rand, subscriptions [][]int, working []bool, feeds int, every func(subscribers int) time.Duration, until time.Duration, silent int, kept bool) []turn {
	var turns []turn
	for f := range feeds {
		var subscribers []int
		for i, set := range subscriptions {
			if _, ok := slices.BinarySearch(set, f); ok && working[i] {
				subscribers = append(subscribers, i)
			}
		}
		if len(subscribers) == 0 {
			continue
		}
		random.Shuffle(len(subscribers), func(a, b int) { subscribers[a], subscribers[b] = subscribers[b], subscribers[a] })
		gap := every(len(subscribers))
		vain := make([]time.Duration, len(subscribers)) // until when each is passed over
		told, by := time.Duration(0), 0
		for at := time.Duration(random.Int64N(int64(gap))); at < until; at += gap {
			if !kept && at-told > 2*gap && subscribers[by] < silent {
				vain[by] = at + vainFor
			}
			if next := slices.IndexFunc(vain, func(t time.Duration) bool { return t <= at }); !kept && next >= 0 && next != by {
				by, told = next, at
			}
			if subscribers[by] >= silent {
				told = at
			}
			turns = append(turns, turn{at, subscribers[by], f})
		}
	}
	return inOrder(turns)
}

// gone is when a volunteer knows that nobody looks at a feed any more, after 14 r at most: as group/internal/orphans does.
const gone = 14 * 10 * time.Second

// withoutFirst ends the looks at each feed of who looked at it first, when it is killed. If the feed is carried, another
// subscriber goes on as often, and begins no sooner than an interval after that.
func withoutFirst(turns []turn, subscriptions [][]int, killed, until time.Duration, carried bool) []turn {
	mirror, last, every := map[int]int{}, map[int]time.Duration{}, map[int]time.Duration{}
	var left []turn
	for _, t := range turns {
		if _, known := mirror[t.feed]; !known {
			mirror[t.feed] = t.node
		}
		if mirror[t.feed] == t.node {
			if at, known := last[t.feed]; known {
				every[t.feed] = t.at - at
			}
			last[t.feed] = t.at
		}
		if t.at < killed || mirror[t.feed] != t.node {
			left = append(left, t)
		}
	}
	for feed := 0; carried && feed < len(mirror); feed++ {
		next := slices.IndexFunc(subscriptions, func(set []int) bool { return slices.Contains(set, feed) })
		if next == mirror[feed] {
			next += 1 + slices.IndexFunc(subscriptions[next+1:], func(set []int) bool { return slices.Contains(set, feed) })
		}
		for at := killed + max(gone, every[feed]); at < until && every[feed] > 0; at += every[feed] {
			left = append(left, turn{at, next, feed})
		}
	}
	return inOrder(left)
}

func inOrder(turns []turn) []turn {
	slices.SortStableFunc(turns, func(a, b turn) int { return int(a.at - b.at) })
	return turns
}

// event is a message that arrives, or a beacon.
type event struct {
	at       time.Duration
	order    uint64
	to, from int
	m        message
	beacon   uint64
}

type queue []*event

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	if q[i].at != q[j].at {
		return q[i].at < q[j].at
	}
	return q[i].order < q[j].order
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(*event)) }
func (q *queue) Pop() any {
	old := *q
	x := old[len(old)-1]
	*q = old[:len(old)-1]
	return x
}
