package placement

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
	"github.com/feedring/feedring/group/internal/leases"
)

// fake is a membership whose manager is m.
type fake struct {
	Membership
	now     time.Time
	leaving bool
	ended   []feedring.QueryID
}

func (f *fake) Now() time.Time                            { return f.now }
func (f *fake) Manager() feedring.PeerID                  { return "m" }
func (f *fake) Secondary() feedring.PeerID                { return "s" }
func (f *fake) Leaving() bool                             { return f.leaving }
func (f *fake) ReservationAt(feedring.QueryID, time.Time) {}
func (f *fake) ReservationEnds(id feedring.QueryID)       { f.ended = append(f.ended, id) }

var theGroup = feedring.Theme("news").Group()

func newPlacer() (*Placer, *fake) {
	f := &fake{now: time.Unix(1000, 0)}
	return New(Config{Group: theGroup, Theme: "news", Self: "p1", Refresh: time.Minute, Freshness: time.Hour}, f, "m"), f
}

func query(n int) (id feedring.QueryID) {
	id[0], id[1] = byte(n), byte(n>>8)
	return id
}

// Only the manager and the secondary have places reserved without a small bound.
func TestReservationsOfOtherMembersAreFew(t *testing.T) {
	pl, f := newPlacer()
	n := 0
	reserve := func(by feedring.PeerID) bool {
		n++
		return pl.Reserve(Attempt{ID: query(n)}, feedring.PeerID(fmt.Sprint("c", n)), by)
	}
	for i := range MaxOfMember {
		if !reserve("other") {
			t.Fatalf("place %d is refused", i)
		}
	}
	if reserve("other") {
		t.Error("a member has more places than its bound")
	}
	for _, by := range []feedring.PeerID{"m", "s", "p1"} {
		if !reserve(by) {
			t.Errorf("%s gets no place", by)
		}
	}
	f.leaving = true
	if reserve("m") {
		t.Error("a peer that leaves reserves a place")
	}
}

// A ticket is good in its group, in time, at the peers that it names, signed by a trusted issuer.
func TestTickets(t *testing.T) {
	for _, c := range []struct {
		name  string
		alter func(*feedring.Ticket, *fake)
		want  leases.Refusal
	}{
		{"a good one", func(*feedring.Ticket, *fake) {}, leases.NotRefused},
		{"another group", func(t *feedring.Ticket, _ *fake) { t.Group = feedring.Theme("other").Group() }, leases.OtherGroup},
		{"too late", func(t *feedring.Ticket, f *fake) { t.Expiry = f.now }, leases.Expired},
		{"other peers", func(t *feedring.Ticket, _ *fake) { t.Peers = []feedring.PeerID{"p2"} }, leases.OtherPeers},
		{"a stranger's", func(t *feedring.Ticket, _ *fake) { t.Seal = &feedring.Seal{Signer: "x"} }, leases.UnknownIssuer},
		{"another client's place", func(t *feedring.Ticket, _ *fake) { t.Client = "c2" }, leases.OtherClient},
		{"it leaves", func(_ *feedring.Ticket, f *fake) { f.leaving = true }, leases.Leaving},
	} {
		pl, f := newPlacer()
		pl.Reserve(Attempt{ID: query(1)}, "c", "m")
		ticket := feedring.Ticket{ID: query(1), Group: theGroup, Client: "c", Peers: []feedring.PeerID{"p1"}, Expiry: f.now.Add(time.Minute), Seal: &feedring.Seal{Signer: "m"}}
		c.alter(&ticket, f)
		refusal, _, _ := pl.Attach(1, ticket)
		if good := refusal == leases.NotRefused; refusal != c.want || good != (pl.Leases() == 1) || good != (len(f.ended) == 1) {
			t.Errorf("%s: %q, %d leases, %d places taken", c.name, refusal, pl.Leases(), len(f.ended))
		}
	}
}

// A client that comes again on another stream has one lease.
func TestSecondStreamEndsTheFirst(t *testing.T) {
	pl, f := newPlacer()
	ticket := feedring.Ticket{ID: query(1), Group: theGroup, Client: "c", Peers: []feedring.PeerID{"p1"}, Expiry: f.now.Add(time.Minute)}
	pl.Attach(1, ticket)
	if refusal, old, again := pl.Attach(2, ticket); refusal != leases.NotRefused || !again || old != 1 || pl.Leases() != 1 {
		t.Errorf("%q, %d, %v, %d leases", refusal, old, again, pl.Leases())
	}
	if pl.Detach(2); pl.Load() != 0 {
		t.Errorf("in the end %d", pl.Load())
	}
}

// What a peer told of its clients stays through a term's beginning, but counts as told no more.
func TestLoads(t *testing.T) {
	pl, _ := newPlacer()
	if changed, first := pl.OnLoad("p2", 3); !changed || !first {
		t.Errorf("the first report: %v, %v", changed, first)
	}
	if changed, first := pl.OnLoad("p2", 3); changed || first {
		t.Errorf("the same again: %v, %v", changed, first)
	}
	pl.ForgetReports()
	if n, known := pl.Told("p2"); n != 3 || known || pl.LoadOf("p2") != 3 {
		t.Errorf("a new term: %d, %v", n, known)
	}
	if pl.Forget("p2"); pl.LoadOf("p2") != 0 {
		t.Error("the load of a lost member counts")
	}
}

// room is a group of peers that hold everything and make room; liar tells no load.
type room struct {
	fake
	index   *catalogue.Index
	members map[feedring.PeerID]catalogue.Member
	load    map[feedring.PeerID]int
	asked   feedring.PeerID
	granted []feedring.PeerID
}

func (g *room) Coin() bool                                { return false }
func (g *room) Index() *catalogue.Index                   { return g.index }
func (g *room) Member(p feedring.PeerID) catalogue.Member { return g.members[p] }
func (g *room) LookupAt(Attempt, time.Time)               {}
func (g *room) LookupSet(Attempt) bool                    { return true }
func (g *room) LookupEnds(Attempt)                        {}

func (g *room) Whole([]feedring.FeedRef, time.Time) []feedring.FeedRef { return nil }

func (g *room) AskRoom(of feedring.PeerID, _ Attempt, _ feedring.PeerID, _ []feedring.FeedRef, _ time.Time) {
	g.asked = of
}

func (g *room) Answer(_ feedring.PeerID, _ Attempt, a Answer) {
	for i := range a.Grants {
		g.granted = append(g.granted, a.Grants[i].Provider.ID)
	}
}

// roomOf is a group of p1, the manager, to pn, each of which has a feed and all entries.
func roomOf(n int) (*room, *Placer) {
	g := &room{members: map[feedring.PeerID]catalogue.Member{}, load: map[feedring.PeerID]int{}}
	g.now = time.Unix(1e6, 0)
	var rows []*catalogue.Row
	for i := range n {
		id := feedring.PeerID(fmt.Sprint("p", i+1))
		row := &catalogue.Row{Group: theGroup, Peer: id, Admitted: time.Unix(int64(i+1), 0), Feeds: []feedring.Feed{{URL: "u" + string(id), Provider: "p"}}}
		rows = append(rows, row)
		g.members[id] = catalogue.Member{Row: row}
	}
	g.index = catalogue.NewIndex("p1", rows, func(feedring.PeerID) bool { return false })
	return g, New(Config{Group: theGroup, Theme: "news", Self: "p1", Refresh: 10 * time.Second, Freshness: 24 * time.Hour}, g, "p1")
}

// A member that tells load 0 has no more grants than its share of any 64 in a row, at
// whatever pace they are asked for, beside nine that serve readers for long.
func TestShareOfOneThatTellsNoLoad(t *testing.T) {
	for _, every := range []time.Duration{100 * time.Millisecond, 5 * time.Second, 10 * time.Minute} {
		g, pl := roomOf(10)
		for n := range 640 {
			key := Attempt{ID: query(n)}
			pl.OnLoad("p10", 0)
			for i := 2; i < 10; i++ {
				pl.OnLoad(feedring.PeerID(fmt.Sprint("p", i)), g.load[feedring.PeerID(fmt.Sprint("p", i))])
			}
			g.asked = ""
			pl.Lookup("coordinator", key, Query{Client: "reader", Within: time.Second})
			if g.asked != "" {
				g.load[g.asked]++
				pl.OnAssigned(g.asked, key, true, nil)
			}
			g.now = g.now.Add(every)
		}
		most := 0
		for from := 0; from+Consecutive <= len(g.granted); from++ {
			n := 0
			for _, p := range g.granted[from : from+Consecutive] {
				if p == "p10" {
					n++
				}
			}
			most = max(most, n)
		}
		t.Logf("a reader every %v: at most %d of %d grants in a row are the liar's", every, most, Consecutive)
		if len(g.granted) != 640 || most > Share(10) || most == 0 {
			t.Errorf("%d grants, at most %d of %d in a row are the liar's", len(g.granted), most, Consecutive)
		}
	}
}

// With many lookups under way the manager, whose own grants are under way for no time, has no more of
// them than the others.
func TestManagerAmongManyUnderWay(t *testing.T) {
	const peers, lookups = 20, 4000
	for _, underWay := range []int{10, 60, 150, 1000} {
		g, pl := roomOf(peers)
		for i := 1; i < peers; i++ {
			pl.OnLoad(feedring.PeerID(fmt.Sprint("p", i+1)), 0)
		}
		type question struct {
			of  feedring.PeerID
			key Attempt
		}
		var open []question
		for n := range lookups {
			key := Attempt{ID: query(n)}
			g.asked = ""
			pl.Lookup("coordinator", key, Query{Client: "reader", Within: time.Minute})
			if g.asked != "" {
				open = append(open, question{g.asked, key})
			}
			if len(open) > underWay {
				pl.OnAssigned(open[0].of, open[0].key, true, nil)
				open = open[1:]
			}
			g.now = g.now.Add(time.Millisecond)
		}
		of := map[feedring.PeerID]int{}
		for _, p := range g.granted {
			of[p]++
		}
		mean := len(g.granted) / peers
		t.Logf("%d under way: the manager has %d of %d grants, %d in the mean", underWay, of["p1"], len(g.granted), mean)
		if of["p1"] < mean/2 || of["p1"] > 3*mean/2 {
			t.Errorf("with %d under way the manager has %d of %d grants, %d in the mean", underWay, of["p1"], len(g.granted), mean)
		}
	}
}

// Vouched implements Membership.
func (f *fake) Vouched() map[feedring.FeedRef]string { return nil }

// Who carries a feed for others is asked, and stands for none of those that are away: they are missing, or there are copies.
func TestCarriersStandForNobody(t *testing.T) {
	pl, _ := newPlacer()
	offer := func(p feedring.PeerID, away bool, carried uint64) catalogue.Publication {
		return catalogue.Publication{Ref: feedring.FeedRef{URL: "u", Publisher: p}, Away: away, Carried: carried}
	}
	also := offer("also", true, 0)
	gone, there, carries, carried := offer("gone", true, 0), offer("there", false, 0), offer("carries", false, 7), offer("carried", true, 7)
	for _, x := range []struct{ all, want []catalogue.Publication }{
		{[]catalogue.Publication{carries, gone}, []catalogue.Publication{carries, gone}},
		{[]catalogue.Publication{carried, carries, gone}, []catalogue.Publication{carries, gone}},
		{[]catalogue.Publication{carries, also, gone}, []catalogue.Publication{carries, also}},
		{[]catalogue.Publication{also, gone}, []catalogue.Publication{also}},
		{[]catalogue.Publication{carries, gone, there}, []catalogue.Publication{there}},
		{[]catalogue.Publication{carries}, []catalogue.Publication{carries}},
		{[]catalogue.Publication{carried}, []catalogue.Publication{carried}},
	} {
		if got := pl.preferred(x.all); !slices.Equal(got, x.want) {
			t.Errorf("of %v it asks %v", x.all, got)
		}
	}
	if refs := mirrors([]catalogue.Publication{carried, carries, gone}); !slices.Equal(refs, []feedring.FeedRef{gone.Ref}) {
		t.Errorf("copies of %v are asked for", refs)
	}
}
