package peer

import (
	"flag"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/ring"
)

var faultSeeds = flag.Int("seeds", 60, "how many random runs TestFaults makes")

// TestFaults lets peers die, come back, be cut off and lose messages, asks all
// the while, and checks the invariants of docs/protocol.md that are the peer's:
// S5, S6, S7, L4 and L6.
func TestFaults(t *testing.T) {
	seeds := *faultSeeds
	if testing.Short() {
		seeds = 10
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { newFaults(t, uint64(seed)).play() })
	}
}

type faults struct {
	*cluster
	random *rand.Rand
	themes int
	finals map[string]int
	asked  map[uint64]*asked
}

// asked is a question under way. certain: it is for a theme that a peer
// served, and that every live manager had on its map, all the time.
type asked struct {
	at      feedring.PeerID
	query   feedring.Query
	until   time.Time
	certain bool
}

func newFaults(t *testing.T, seed uint64) *faults {
	f := &faults{cluster: newCluster(t), random: rand.New(rand.NewPCG(seed, 9)), finals: map[string]int{}, asked: map[uint64]*asked{}}
	f.cluster.random = f.random
	if seed%2 == 1 {
		f.cfg.Routing = RingOnly
	}
	f.check = f.carried
	f.watch = f.observe
	return f
}

// carried looks at each message.
func (f *faults) carried(_ *cluster, from, to feedring.PeerID, message feedring.Message) {
	switch x := message.(type) {
	case Final: // S5
		key := fmt.Sprint(x.Final.ID, x.Final.Attempt, from)
		if f.finals[key]++; f.finals[key] > 1 {
			f.t.Fatalf("S5: a second final for attempt %d from %s", x.Final.Attempt, from)
		}
	case ring.Search: // S7
		if x.Hop > x.HopLimit || x.HopLimit > 2*f.themes+8 || len(x.Visited) > x.Hop {
			f.t.Fatalf("S7: %+v", x)
		}
	}
}

func (f *faults) observe() {
	for stream, a := range f.asked {
		if got := f.answers[stream]; len(got) > 0 {
			f.answered(stream, a, got)
			delete(f.asked, stream)
		} else if f.peers[a.at].down {
			delete(f.asked, stream)
		} else if f.now.After(a.until) {
			f.t.Fatalf("L4: %+v has no answer by its deadline", a.query)
		} else {
			a.certain = a.certain && f.certain(a.query.Theme)
		}
	}
}

func (f *faults) answered(stream uint64, a *asked, got []feedring.Final) {
	if len(got) > 1 || got[0].ID != queryID(stream) {
		f.t.Fatalf("S5: %d answers", len(got))
	}
	if a.certain && got[0].Status == feedring.Unsatisfied {
		f.t.Fatalf("S6: %q is served and on every map, and the answer is unsatisfied", a.query.Theme)
	}
}

// certain reports whether theme is served by somebody alive, and on the map of
// every live manager and of none lost.
func (f *faults) certain(theme feedring.Theme) bool {
	served := false
	for _, name := range f.names {
		h := f.peers[name]
		if h.down {
			continue
		}
		if it := h.memberships[theme.Group()]; it.settled() && it.role == feedring.RoleManager && it.group.Serves("") {
			served = true
		}
		if _, live, _ := h.ring.Row(theme.Group()); !live {
			return false
		}
	}
	return served
}

func (f *faults) play() {
	n := 3 + f.random.IntN(6)
	f.themes = n + 1
	for i := range n {
		f.begin(i, n)
	}
	f.run(5*time.Second, nil)
	for range 60 {
		f.trouble()
		f.run(time.Duration(f.random.IntN(400))*time.Millisecond, nil)
	}
	f.loss = 0
	clear(f.side)
	for _, name := range f.names {
		if f.peers[name].down {
			f.comeBack(name)
		}
	}
	f.recover()
}

func peerName(i int) feedring.PeerID { return feedring.PeerID(fmt.Sprintf("p%d", i)) }

// begin starts peer i: with a theme of its own, some with another's as well.
func (f *faults) begin(i, n int) {
	if i == 0 {
		f.start(peerName(0))
	} else {
		f.start(peerName(i), peerName(f.random.IntN(i)))
	}
	specs := []string{fmt.Sprintf("theme%d=provider%d.org", i%max(1, n-1), i)}
	if f.random.IntN(3) == 0 {
		specs = append(specs, fmt.Sprintf("extra%d=extra%d.org", f.random.IntN(2), i))
	}
	f.publish(peerName(i), specs...)
}

func (f *faults) trouble() {
	who := f.names[f.random.IntN(len(f.names))]
	switch f.random.IntN(12) {
	case 0:
		f.kill(who)
	case 1, 2:
		if f.peers[who].down {
			f.comeBack(who)
		}
	case 3:
		f.side[who] = f.random.IntN(2)
	case 4:
		clear(f.side)
	case 5:
		f.loss = []float64{0, 0.05, 0.2}[f.random.IntN(3)]
	default:
		f.askOne(who)
	}
}

func (f *faults) comeBack(who feedring.PeerID) {
	f.start(who, f.names[f.random.IntN(len(f.names))], f.names[0])
	f.step(who, f.peers[who].offer)
}

func (f *faults) askOne(who feedring.PeerID) {
	if f.peers[who].down {
		return
	}
	q := feedring.Query{Theme: feedring.Theme(fmt.Sprintf("theme%d", f.random.IntN(f.themes)))}
	switch f.random.IntN(4) {
	case 0:
		q.Theme = ""
	case 1:
		q.Provider = "provider1"
	}
	within := time.Duration(200+f.random.IntN(5000)) * time.Millisecond
	f.stream++
	certain := q.Theme != "" && q.Provider == "" && f.certain(q.Theme)
	f.asked[f.stream] = &asked{at: who, query: q, until: f.now.Add(within), certain: certain}
	f.step(who, Ask{Stream: f.stream, Client: "client", ID: queryID(f.stream), Query: q, Within: within})
}

// recover checks L6 and that no table keeps anything.
func (f *faults) recover() {
	groups := map[feedring.GroupID]bool{}
	for _, name := range f.names {
		for theme := range f.peers[name].offer.Feeds {
			groups[theme.Group()] = true
		}
	}
	r := f.cfg.Refresh
	// Memberships settle first (L1), some of them a little later than by 3r.
	rounds := 2 * bits.Len(uint(len(groups)-1))
	limit := 4*r + time.Duration(rounds)*r/3 + r
	if !f.run(limit, func() bool { return f.agree(len(groups)) && f.alike() }) {
		for _, name := range f.names {
			h := f.peers[name]
			f.t.Logf("%s sees %d of %d", name, len(h.ring.Live()), len(groups))
			for _, it := range h.inOrder() {
				row, live, known := h.ring.Row(it.id)
				f.t.Logf("  %s is %s of %s (phase %d, %+v): live %v, known %v, %+v", name, it.role, it.theme, it.phase, it.seen.Term, live, known, row)
			}
		}
		f.t.Fatal("L6: the views of the ring are not true")
	}
	f.run(12*time.Second, nil)
	for _, name := range f.names {
		h := f.peers[name]
		searches, hops := h.ring.Searching()
		if len(h.asks)+len(h.jobs)+searches+hops+len(h.self) > 0 {
			f.t.Fatalf("%s keeps %d asks, %d jobs, %d searches, %d hops", name, len(h.asks), len(h.jobs), searches, hops)
		}
	}
}

func (f *faults) alike() bool {
	for _, name := range f.names {
		if f.peers[name].ring.Hash(f.now) != f.peers[f.names[0]].ring.Hash(f.now) {
			return false
		}
	}
	return true
}

// Whatever comes in, nothing panics, and the machine does not want to be woken
// in the past for ever.
func FuzzStep(f *testing.F) {
	f.Add([]byte("news and weather and everything else"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := New(Config{Self: "a", Refresh: time.Second, Attempts: 3, Freshness: time.Hour}, State{}, epoch)
		if err != nil {
			t.Fatal(err)
		}
		now := epoch
		b := &bytesReader{data: data}
		for len(b.data) > 0 {
			now = now.Add(time.Duration(b.byte()) * 10 * time.Millisecond)
			m.Step(now, randomInput(b))
		}
		if at := m.Deadline(); !at.IsZero() && !at.After(now) {
			m.Step(now, Tick{})
			if at := m.Deadline(); !at.IsZero() && !at.After(now) {
				t.Fatal("it wants to be woken at once, for ever")
			}
		}
	})
}

type bytesReader struct{ data []byte }

func (b *bytesReader) byte() byte {
	if len(b.data) == 0 {
		return 0
	}
	x := b.data[0]
	b.data = b.data[1:]
	return x
}

func (b *bytesReader) peer() feedring.PeerID { return []feedring.PeerID{"", "a", "b", "c"}[b.byte()%4] }
func (b *bytesReader) theme() feedring.Theme {
	return []feedring.Theme{"", "news", "sport", "Bad"}[b.byte()%4]
}
func (b *bytesReader) number() int             { return []int{-1, 0, 1, 2, 10, math.MaxInt32}[b.byte()%6] }
func (b *bytesReader) group() feedring.GroupID { return b.theme().Group() }
func (b *bytesReader) term() feedring.Term {
	return feedring.Term{Number: uint64(b.number()), Claimant: b.peer()}
}

func randomInput(b *bytesReader) Input {
	within := time.Duration(b.number()) * time.Second
	id := feedring.QueryID{b.byte() % 2}
	switch b.byte() % 8 {
	case 0:
		return Offer{Feeds: map[feedring.Theme][]feedring.Feed{b.theme(): {{URL: "https://x.org/", Provider: "x.org"}}}}
	case 1:
		return Ask{Client: "k", ID: id, Attempt: uint32(b.number()), Query: feedring.Query{Theme: b.theme()}, Within: within}
	case 2:
		return Known{Peers: []feedring.PeerID{b.peer()}, Done: b.byte()%2 == 0}
	case 3:
		return Members{Theme: b.theme(), Peers: []feedring.PeerID{b.peer()}}
	case 4:
		return In{Group: b.group(), Input: group.Persisted{Token: uint64(b.number())}}
	default:
		return Receive{From: b.peer(), Message: randomMessage(b, id, within)}
	}
}

func randomMessage(b *bytesReader, id feedring.QueryID, within time.Duration) feedring.Message {
	row := ring.Row{Group: b.group(), Theme: b.theme(), Term: b.term(), Version: uint64(b.number()),
		Acknowledged: b.byte()%2 == 0, Gone: b.byte()%4 == 0, Secondary: b.peer(), Manager: feedring.PeerInfo{ID: b.peer()}}
	switch b.byte() % 14 {
	case 0:
		return Query{ID: id, Attempt: uint32(b.number()), Client: "k", Theme: b.theme(), Within: within}
	case 1:
		return Accepted{ID: id, Attempt: uint32(b.number())}
	case 2:
		return Final{Final: feedring.Final{ID: id, Attempt: uint32(b.number()), Status: feedring.Status(b.byte() % 5)}}
	case 3:
		return ring.Swap{Hash: uint64(b.byte())}
	case 4:
		return ring.Versions{Have: []ring.RowVersion{{Group: row.Group, Term: row.Term, Version: row.Version}}}
	case 5, 6:
		return ring.Rows{Rows: []*ring.Row{&row}, Want: []feedring.GroupID{b.group()}}
	case 7:
		return ring.Rows{Lost: []ring.Lost{{Group: row.Group, Term: row.Term, Version: row.Version}}}
	case 8, 9:
		return ring.Search{ID: id, Attempt: uint32(b.number()), Coordinator: b.peer(), Group: b.group(), Origin: b.group(), End: b.group(),
			Direction: ring.Direction(b.byte() % 5), Hop: b.number(), HopLimit: b.number(), Theme: b.theme(), Within: within}
	case 10:
		return ring.FoundGroup{ID: id, Attempt: uint32(b.number()), Group: b.group(), Direction: ring.Direction(b.byte() % 5), Hop: b.number()}
	case 11:
		return ring.Exhausted{ID: id, Attempt: uint32(b.number()), Visited: []feedring.GroupID{b.group()}, Direction: ring.Direction(b.byte() % 5), Hop: b.number()}
	case 12:
		return group.Placed{Header: group.Header{Group: b.group()}, ID: id, Attempt: uint32(b.number()), Served: b.byte()%2 == 0}
	default:
		return ring.SearchAck{ID: id, Attempt: uint32(b.number()), Group: b.group(), Direction: ring.Direction(b.byte() % 5)}
	}
}
