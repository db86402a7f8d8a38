package group

import (
	"container/heap"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/standing"
)

const testTheme = feedring.Theme("news")

var testStart = time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)

// cluster drives machines in virtual time: it is the network, the disks and
// the stores of a small group.
type cluster struct {
	now           time.Time
	seed          uint64
	rng           *rand.Rand
	events        eventHeap
	turn          uint64
	nodes         map[feedring.PeerID]*testNode
	cut           map[[2]feedring.PeerID]bool
	loss          func(from, to feedring.PeerID, m Message) bool
	delay         func() time.Duration
	trace         func(format string, args ...any)
	check         func()
	alter         func(*Config)
	placed        []Placed
	polled        func(feedring.PeerID)
	sent          func(Send)
	brought       func(to feedring.PeerID, of feedring.FeedRef, e testEntry) // by an answer to a poll
	answers       bool                                                       // what is published travels in its notify
	noise         func(from feedring.PeerID) bool                            // answers polls with what is no answer
	streams       uint64
	duplicates    []feedring.PeerID                   // that reported another process with their key
	way           func(feedring.PeerID) time.Duration // to every origin
	turned        func(feedring.PeerID, FetchAssignment)
	fetchRequests []feedring.PeerID // that were asked for a look
	slow          bool              // it took more than 3r after the faults to agree
}

type testNode struct {
	id       feedring.PeerID
	m        *Machine
	disk     State
	store    map[feedring.FeedRef][]testEntry
	feeds    []feedring.Feed
	life     int // inputs of an earlier life are dropped
	up       bool
	paused   bool
	held     []event
	departed bool
	admitted []uint64
	refused  []Refusal
	checks   map[feedring.FeedRef]Vouch
	roles    []string
	balances []Balance
	turns    map[string]FetchAssignment // who looks at own feeds
	prefix   standing.Prefix            // from where it connects
}

type testEntry struct {
	pos  feedring.Position
	seen time.Time
}

type event struct {
	at   time.Time
	turn uint64
	to   feedring.PeerID
	life int
	in   Input
	do   func()
}

type eventHeap []event

func (h eventHeap) Len() int { return len(h) }
func (h eventHeap) Less(i, j int) bool {
	if c := h[i].at.Compare(h[j].at); c != 0 {
		return c < 0
	}
	return h[i].turn < h[j].turn
}
func (h eventHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *eventHeap) Push(x any)   { *h = append(*h, x.(event)) }
func (h *eventHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

func newCluster(seed uint64) *cluster {
	c := &cluster{
		now: testStart, seed: seed, rng: rand.New(rand.NewPCG(seed, 1)),
		nodes: map[feedring.PeerID]*testNode{}, cut: map[[2]feedring.PeerID]bool{},
		delay: func() time.Duration { return time.Millisecond },
	}
	return c
}

func (c *cluster) ids() []feedring.PeerID { return slices.Sorted(maps.Keys(c.nodes)) }

// start gives a peer a machine, with what is on its disk.
func (c *cluster) start(id feedring.PeerID, urls ...string) *testNode {
	n := c.nodes[id]
	if n == nil {
		n = &testNode{id: id, turns: map[string]FetchAssignment{}, store: map[feedring.FeedRef][]testEntry{}, checks: map[feedring.FeedRef]Vouch{}}
		c.nodes[id] = n
	}
	for _, u := range urls {
		n.feeds = append(n.feeds, feedring.Feed{URL: u, Title: u, Provider: feedring.ProviderOf(u)})
	}
	cfg := Config{Theme: testTheme, Self: id, Refresh: time.Second, Attempts: 3, Freshness: 24 * time.Hour, Seed: c.seed}
	if c.alter != nil {
		c.alter(&cfg)
	}
	m, err := New(cfg, n.disk, c.now)
	if err != nil {
		panic(err)
	}
	n.m, n.up, n.paused, n.departed, n.held = m, true, false, false, nil
	n.life++
	clear(n.turns)
	var heads []feedring.Head
	for _, ref := range slices.SortedFunc(maps.Keys(n.store), feedring.FeedRef.Compare) {
		heads = append(heads, n.head(ref))
	}
	c.step(n, Holding{Heads: heads})
	c.step(n, Describe{Addrs: []string{"/ip4/127.0.0.1/udp/1/" + string(id)}, Feeds: n.feeds})
	return n
}

func (n *testNode) head(ref feedring.FeedRef) feedring.Head {
	if es := n.store[ref]; len(es) > 0 {
		return feedring.Head{Feed: ref, Position: es[len(es)-1].pos}
	}
	return feedring.Head{Feed: ref}
}

func (c *cluster) crash(id feedring.PeerID) { c.nodes[id].up, c.nodes[id].paused = false, false }

// at schedules a deed.
func (c *cluster) at(d time.Duration, do func()) {
	c.turn++
	heap.Push(&c.events, event{at: c.now.Add(d), turn: c.turn, do: do})
}

func (c *cluster) later(n *testNode, d time.Duration, in Input) {
	c.turn++
	heap.Push(&c.events, event{at: c.now.Add(d), turn: c.turn, to: n.id, life: n.life, in: in})
}

func (c *cluster) step(n *testNode, in Input) {
	if !n.up || n.departed {
		return
	}
	for _, out := range n.m.Step(c.now, in) {
		c.do(n, out)
	}
	if c.turn%8 == 0 {
		if wrong := n.m.remembersWrong(); wrong != "" {
			panic(wrong)
		}
	}
	if c.check != nil {
		c.check()
	}
}

// run lets virtual time pass.
func (c *cluster) run(d time.Duration) {
	end := c.now.Add(d)
	for {
		next, tick := end, (*testNode)(nil)
		for _, id := range c.ids() {
			n := c.nodes[id]
			if due := n.m.Deadline(); n.up && !n.paused && !n.departed && !due.IsZero() && due.Before(next) {
				next, tick = due, n
			}
		}
		if len(c.events) > 0 && !c.events[0].at.After(next) {
			e := heap.Pop(&c.events).(event)
			c.now = e.at
			c.apply(e)
			continue
		}
		if tick == nil {
			break
		}
		if next.After(c.now) {
			c.now = next
		}
		c.step(tick, Tick{})
	}
	c.now = end
}

func (c *cluster) apply(e event) {
	if e.do != nil {
		e.do()
		return
	}
	n := c.nodes[e.to]
	if n.life != e.life {
		return
	}
	if n.paused {
		n.held = append(n.held, e)
		return
	}
	c.step(n, e.in)
}

func (c *cluster) resume(id feedring.PeerID) {
	n := c.nodes[id]
	n.paused = false
	c.step(n, Tick{})
	held := n.held
	n.held = nil
	for _, e := range held {
		c.step(n, e.in)
	}
}

func (c *cluster) do(n *testNode, out Output) {
	switch o := out.(type) {
	case *Send:
		c.send(n, *o)
	case Persist:
		c.at(2*time.Millisecond, c.alive(n, func() {
			n.disk = o.State
			c.step(n, Persisted{Token: o.Token})
		}))
	case RoleChanged:
		n.roles = append(n.roles, o.Role.String())
		c.tracef("%s is %s of term %d", n.id, o.Role, o.Term.Number)
	case Append:
		c.at(2*time.Millisecond, c.alive(n, func() {
			done := Appended{Batch: o.Batch, After: n.head(o.Feed).Position}
			n.store[o.Feed] = append(n.store[o.Feed], testEntry{o.First, c.now})
			if done.Head = n.head(o.Feed); c.answers {
				done.Answer = binary.BigEndian.AppendUint64(nil, uint64(c.now.UnixNano()))
			}
			c.step(n, done)
		}))
	case Fetch:
		if len(o.Answer) > 0 {
			c.take(n, o)
			return
		}
		if c.polled != nil {
			c.polled(o.From)
		}
		c.tracef("%s polls %s of %s after %d/%d", n.id, short(o.Feed.URL), o.From, o.After.Epoch, o.After.Sequence)
		c.fetch(n, o)
	case Admit:
		n.admitted = append(n.admitted, o.Stream)
		c.tracef("%s admits stream %d", n.id, o.Stream)
	case Refuse:
		n.refused = append(n.refused, o.Reason)
		c.tracef("%s refuses stream %d: %s", n.id, o.Stream, o.Reason)
	case Owing:
		n.balances = o.Owed
	case Check:
		v, ok := n.checks[o.Feed]
		c.later(n, 5*time.Millisecond, Checked{Feed: o.Feed, Vouched: ok, Vouch: v})
	case FetchAssignment:
		n.turns[o.URL] = o
		if c.turned != nil {
			c.turned(n.id, o)
		}
	case MeasureOrigin:
		if c.way != nil {
			c.later(n, 30*time.Millisecond, OriginMeasured{URL: o.URL, Distance: c.way(n.id)})
		}
	case FetchRequested:
		c.fetchRequests = append(c.fetchRequests, n.id)
	case DuplicateIdentity:
		c.duplicates = append(c.duplicates, n.id)
	case Wake:
		c.tracef("%s wakes followers of %s through %d", n.id, short(o.Feed.URL), o.Through.Sequence)
	case Departed:
		n.departed = true
		c.tracef("%s departed", n.id)
	}
}

func (c *cluster) alive(n *testNode, do func()) func() {
	life := n.life
	return func() {
		if n.life == life && n.up {
			do()
		}
	}
}

func (c *cluster) tracef(format string, args ...any) {
	if c.trace != nil {
		c.trace(format, args...)
	}
}

func (c *cluster) reach(a, b feedring.PeerID) bool { return !c.cut[[2]feedring.PeerID{a, b}] }

func (c *cluster) send(n *testNode, s Send) {
	msg := seal(n.id, s.Message.(Message))
	if s.To == "client" {
		if p, ok := msg.(Placed); ok {
			c.placed = append(c.placed, p)
			c.tracef("%s answers %s", n.id, describePlaced(p))
		} else {
			c.tracef("%s answers %s", n.id, describe(msg))
		}
		return
	}
	if c.sent != nil {
		c.sent(s)
	}
	to := c.nodes[s.To]
	lost := to == nil || !to.up || to.departed || !c.reach(n.id, s.To) || c.loss != nil && c.loss(n.id, s.To, msg)
	if c.trace != nil {
		mark := ""
		if lost {
			mark = " (lost)"
		}
		c.tracef("%s -> %s %s%s", n.id, s.To, describe(msg), mark)
	}
	if !lost {
		c.later(to, c.delay(), Receive{From: n.id, Prefix: n.prefix, Message: msg})
	}
}

// take stores the entry after that which is held: of an answer only its date is said.
func (c *cluster) take(n *testNode, o Fetch) {
	c.tracef("%s takes %s from %s after %d/%d", n.id, short(o.Feed.URL), o.From, o.After.Epoch, o.After.Sequence)
	seen := time.Unix(0, int64(binary.BigEndian.Uint64(o.Answer)))
	c.at(c.delay(), c.alive(n, func() {
		res := Fetched{Feed: o.Feed, From: o.From, Failed: true}
		for _, e := range c.nodes[o.From].store[o.Feed] {
			if e.seen.Equal(seen) && n.head(o.Feed).Position == o.After {
				n.store[o.Feed] = append(n.store[o.Feed], e)
				res.Known, res.Failed = feedring.Head{Feed: o.Feed, Position: e.pos}, false
			}
		}
		res.Head = n.head(o.Feed)
		c.step(n, res)
	}))
}

// fetch answers from the store of the other peer.
func (c *cluster) fetch(n *testNode, o Fetch) {
	life := n.life
	c.at(c.delay(), func() {
		from := c.nodes[o.From]
		res := Fetched{Feed: o.Feed, From: o.From, Failed: true}
		wait := 200 * time.Millisecond
		speaks := from != nil && from.up && !from.departed && !from.paused && (c.noise == nil || !c.noise(o.From))
		if speaks && c.reach(n.id, o.From) && c.reach(o.From, n.id) {
			res.Failed, wait = false, c.delay()
			res.Known = from.head(o.Feed)
			if from.m.large() && !o.Proof {
				c.later(from, 0, Served{Feed: o.Feed, To: n.id, Entries: 1})
			}
		}
		var batch []testEntry
		if !res.Failed {
			for _, e := range from.store[o.Feed] {
				if !o.Proof && e.pos.Compare(o.After) > 0 && (!o.After.IsZero() || !e.seen.Before(o.Fresh)) && len(batch) < 50 {
					batch = append(batch, e)
					if c.brought != nil {
						c.brought(n.id, o.Feed, e)
					}
				}
			}
		}
		c.at(wait, func() {
			if n.life != life || !n.up {
				return
			}
			for _, e := range batch {
				if e.pos.Compare(n.head(o.Feed).Position) > 0 {
					n.store[o.Feed] = append(n.store[o.Feed], e)
				}
			}
			res.Head = n.head(o.Feed)
			c.later(n, 0, res)
		})
	})
}

func (c *cluster) publish(id feedring.PeerID, url string) {
	c.step(c.nodes[id], Publish{Batch: c.rng.Uint64(), URL: url, Entries: 1})
}

// split cuts every link between the two sides.
func (c *cluster) split(sides ...[]feedring.PeerID) {
	for i, a := range sides {
		for j, b := range sides {
			for _, x := range a {
				for _, y := range b {
					if i != j {
						c.cut[[2]feedring.PeerID{x, y}] = true
					}
				}
			}
		}
	}
}

func (c *cluster) heal() { clear(c.cut) }

func (c *cluster) alives() []*testNode {
	var up []*testNode
	for _, id := range c.ids() {
		if n := c.nodes[id]; n.up && !n.departed && !n.paused {
			up = append(up, n)
		}
	}
	return up
}

// group founds at the first and lets the others join it.
func (c *cluster) group(n int) []feedring.PeerID {
	var ids []feedring.PeerID
	for i := range n {
		id := feedring.PeerID(fmt.Sprintf("p%02d", i))
		node := c.start(id, "https://"+string(id)+".example/rss")
		if i == 0 {
			c.step(node, Establish{})
		} else {
			c.step(node, Enter{Via: ids[:1]})
		}
		ids = append(ids, id)
		c.run(20 * time.Millisecond)
	}
	c.run(3 * time.Second)
	return ids
}

// leader returns the one manager that all live peers follow, or why not.
func (c *cluster) leader() (feedring.PeerID, error) {
	var lead feedring.PeerID
	for _, n := range c.alives() {
		v := n.m.View()
		if lead == "" {
			lead = v.Manager
		}
		if v.Manager == "" || v.Manager != lead || (v.Role == feedring.RoleManager) != (n.id == lead) {
			return "", fmt.Errorf("%s (%s) follows %q of term %v, not %q\n%s", n.id, v.Role, v.Manager, v.Term, lead, c.state())
		}
	}
	if n := c.nodes[lead]; n == nil || !n.up || n.departed {
		return "", fmt.Errorf("they follow %q, who is not there", lead)
	}
	return lead, nil
}

func (c *cluster) state() string {
	var b strings.Builder
	for _, n := range c.alives() {
		m := n.m
		fmt.Fprintf(&b, "  %s %s term %v disk %v highest %d secondary %s acked %v present %v\n", n.id, m.roleNow(), m.lead.claim.Term, m.disk.Term, m.want.Highest, m.lead.secondary, m.lead.acked, m.present())
	}
	return b.String()
}
