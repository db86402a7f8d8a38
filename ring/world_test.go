package ring

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// network is a network of machines in virtual time, with one latency.
type network struct {
	t       *testing.T
	now     time.Time
	latency time.Duration
	peers   map[feedring.PeerID]*node
	names   []feedring.PeerID
	mail    []packet
	random  *rand.Rand
	lose    float64
	cut     func(l packet) bool
	trace   func(l packet)
	ended   map[feedring.QueryID][]Ended
	sent    map[feedring.Verb]int
	tests   map[string]int // how often a peer visited a group for an attempt
}

type node struct {
	*Machine
	serves map[feedring.GroupID][]string // membership: providers
	down   bool
}

type packet struct {
	at       time.Time
	from, to feedring.PeerID
	message  Message
}

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

const refresh = 2 * time.Second

func newNetwork(t *testing.T) *network {
	return &network{t: t, now: epoch, latency: 5 * time.Millisecond, peers: map[feedring.PeerID]*node{},
		random: rand.New(rand.NewPCG(7, 8)), ended: map[feedring.QueryID][]Ended{}, sent: map[feedring.Verb]int{}, tests: map[string]int{}}
}

func (w *network) add(name feedring.PeerID) *node {
	n := &node{serves: map[feedring.GroupID][]string{}}
	m, err := New(Config{Self: name, Refresh: refresh, Seed: uint64(len(w.names)), Memberships: n}, w.now)
	if err != nil {
		w.t.Fatal(err)
	}
	n.Machine = m
	w.peers[name] = n
	w.names = append(w.names, name)
	return n
}

func (n *node) Serves(g feedring.GroupID, provider string) (serves, member bool) {
	providers, member := n.serves[g]
	return slices.ContainsFunc(providers, func(p string) bool { return feedring.Provider(p).Matches(provider) }), member
}

// Judges: whoever leads a group judges by itself, and so do the others here.
func (n *node) Judges() []feedring.PeerID { return nil }

// manage makes a peer the manager of a theme's group.
func (w *network) manage(name feedring.PeerID, theme feedring.Theme, secondary feedring.PeerID) {
	w.manageTerm(name, theme, secondary, 1)
}

func (w *network) manageTerm(name feedring.PeerID, theme feedring.Theme, secondary feedring.PeerID, number uint64) {
	for _, p := range []feedring.PeerID{name, secondary} {
		if p != "" {
			w.peers[p].serves[theme.Group()] = []string{string(theme) + ".org"}
		}
	}
	w.step(name, Announce{Row: Row{Theme: theme, Term: feedring.Term{Number: number, Claimant: name}, Secondary: secondary,
		Acknowledged: secondary != "", Peers: 1, Feeds: 1,
		Manager: feedring.PeerInfo{ID: name, Addrs: []string{"/memory/" + string(name)}}, Deputy: feedring.PeerInfo{ID: secondary}}})
}

func (w *network) step(name feedring.PeerID, in Input) {
	n := w.peers[name]
	if n.down {
		return
	}
	for _, out := range n.Step(w.now, in) {
		switch out := out.(type) {
		case *Send:
			w.post(packet{at: w.now.Add(w.latency), from: name, to: out.To, message: out.Message.(Message)})
		case Ended:
			w.ended[out.ID] = append(w.ended[out.ID], out)
		}
	}
	if got, want := n.Beside(), n.findBeside(); !slices.Equal(got, want) {
		w.t.Fatalf("%s remembers %v beside it, and finds %v", name, got, want)
	}
	if got, want := n.around().groups, n.findWatched(); !slices.Equal(got, want) {
		w.t.Fatalf("%s remembers that it watches %v, and finds %v", name, got, want)
	}
}

func (w *network) post(l packet) {
	w.sent[l.message.Verb()]++
	if l.to == l.from {
		l.at = w.now
	} else if w.random.Float64() < w.lose {
		return
	}
	if w.trace != nil {
		w.trace(l)
	}
	at, _ := slices.BinarySearchFunc(w.mail, l, func(a, b packet) int {
		return cmp.Or(a.at.Compare(b.at), -1) // behind those of the same time
	})
	w.mail = slices.Insert(w.mail, at, l)
}

// run lets time pass until done, at most d.
func (w *network) run(d time.Duration, done func() bool) bool {
	end := w.now.Add(d)
	for {
		if done != nil && done() {
			return true
		}
		next, who := end, feedring.PeerID("")
		for _, name := range w.names {
			if n := w.peers[name]; !n.down && n.Deadline().Before(next) {
				next, who = n.Deadline(), name
			}
		}
		switch {
		case len(w.mail) > 0 && !w.mail[0].at.After(next):
			l := w.mail[0]
			w.mail = w.mail[1:]
			w.now = l.at
			w.deliver(l)
		case who != "":
			if next.After(w.now) { // earlier only for a peer that was down
				w.now = next
			}
			w.step(who, Tick{})
			if !w.peers[who].Deadline().After(w.now) {
				w.t.Fatalf("%s wants to be woken at once, again", who)
			}
		default:
			w.now = end
			return done == nil || done()
		}
	}
}

func (w *network) deliver(l packet) {
	if n := w.peers[l.to]; n != nil && !n.down && (w.cut == nil || !w.cut(l)) {
		w.step(l.to, Receive{From: l.from, Message: l.message})
	}
}

// grow makes a ring of n groups of one peer each, joining one after the other
// through the first.
func (w *network) grow(n int) {
	for i := range n {
		name := feedring.PeerID(fmt.Sprintf("p%03d", i))
		w.add(name)
		if i > 0 {
			w.step(name, Meet{Peers: []feedring.PeerID{"p000"}})
			if !w.run(time.Second, w.peers[name].Synced) {
				w.t.Fatalf("%s got no map", name)
			}
		}
		w.manage(name, theme(i), "")
	}
}

func theme(i int) feedring.Theme { return feedring.Theme(fmt.Sprintf("theme%02d", i)) }

func (w *network) agreed(n int) func() bool {
	return func() bool {
		for _, name := range w.names {
			if p := w.peers[name]; !p.down && len(p.Live()) != n {
				return false
			}
		}
		return true
	}
}

var asked byte

// search runs one search to its end.
func (w *network) search(at feedring.PeerID, from, theme feedring.Theme, within time.Duration) Ended {
	w.t.Helper()
	asked++
	id := feedring.QueryID{asked}
	w.step(at, Begin{ID: id, From: from.Group(), Theme: theme, Within: within})
	w.run(within+time.Second, func() bool { return len(w.ended[id]) > 0 })
	if len(w.ended[id]) != 1 {
		w.t.Fatalf("%d ends of a search", len(w.ended[id]))
	}
	return w.ended[id][0]
}

func (w *network) partition(cut func(l packet) bool) (heal func()) {
	w.cut = cut
	return func() { w.cut = nil }
}
