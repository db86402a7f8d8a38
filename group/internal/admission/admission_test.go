package admission

import (
	"fmt"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
	"github.com/feedring/feedring/internal/standing"
)

var start = time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)

func from(prefix standing.Prefix, p feedring.PeerID, at time.Time) newcomer {
	return newcomer{Row: &catalogue.Row{Peer: p}, Prefix: prefix, Since: at}
}

func prefixed(i int) standing.Prefix { return standing.Prefix(fmt.Sprintf("10.%d.0.0/24", i)) }

// T2: of any number of prefixes with any number of keys, one that was not drawn lately is
// drawn in the next period.
func TestPrefixesTakeTurns(t *testing.T) {
	n := newNewcomers(time.Second)
	occupied, in := new(standing.Occupancy), 0
	for i := range 1000 {
		now := start.Add(time.Duration(i) * time.Millisecond / 2)
		n.ask(from(prefixed(i%3), feedring.PeerID(fmt.Sprint("key", i)), now), false)
		in += len(n.draw(now, occupied))
	}
	if in != admittedInPeriod {
		t.Fatalf("%d were admitted in one period", in)
	}
	at := start.Add(900 * time.Millisecond)
	if n.ask(from("192.0.2.0/24", "honest", at), false) || len(n.draw(at, occupied)) > 0 {
		t.Error("one more was admitted in that period")
	}
	drawn := n.draw(start.Add(time.Second), occupied)
	if len(drawn) == 0 || drawn[0] != "honest" {
		t.Errorf("drawn in the next period: %s", drawn)
	}
}

func TestPrefixWithoutRoomIsSentAway(t *testing.T) {
	n := newNewcomers(time.Second)
	occupied := new(standing.Occupancy)
	for i := range 20 {
		n.ask(from("192.0.2.0/24", feedring.PeerID(fmt.Sprint(i)), start), false)
		n.draw(start, occupied)
	}
	if got := occupied.Of("192.0.2.0/24"); got != 8 {
		t.Errorf("one /24 has %d places", got)
	}
	if again := n.again("192.0.2.0/24", occupied); again != 10*time.Second {
		t.Errorf("asks again in %s", again)
	}
	if again := n.again("192.0.3.0/24", occupied); again != time.Second {
		t.Errorf("another asks again in %s", again)
	}
	if n.unanswered(start.Add(2 * time.Second)); len(n.waiting) == 0 || len(n.unanswered(start.Add(2*time.Second))) != 8 {
		t.Error("they are forgotten too soon")
	}
	if n.unanswered(start.Add(3 * time.Second)); len(n.waiting) > 0 || n.admitted["0"] != nil {
		t.Error("who does not answer is not forgotten")
	}
}

func TestQueueOfManyPrefixes(t *testing.T) {
	n := newNewcomers(time.Second)
	for i := range 3 * maxWaiting {
		n.ask(from(prefixed(i%100), feedring.PeerID(fmt.Sprint("key", i)), start), false)
	}
	n.ask(from("192.0.2.0/24", "honest", start), false)
	if len(n.waiting) != maxWaiting || n.waiting["honest"] == nil {
		t.Errorf("%d wait, and a new prefix is among them: %t", len(n.waiting), n.waiting["honest"] != nil)
	}
}

// T1: in a full table the lowest class above its part gives way, there the most crowded prefix.
func TestVictim(t *testing.T) {
	hold := func(p feedring.PeerID, s standing.Class, prefix standing.Prefix, away bool, hours int) holder {
		return holder{Member{Peer: p, Away: away, Since: start.Add(time.Duration(hours) * time.Hour)}, s, prefix}
	}
	all := []holder{
		hold("v1", standing.Vouched, "a", false, 0), hold("v2", standing.Vouched, "a", false, 0), hold("v3", standing.Vouched, "a", true, 0),
		hold("s1", standing.Settled, "", false, 0), hold("s2", standing.Settled, "", true, 0),
		hold("n1", standing.New, "b", false, 1), hold("n2", standing.New, "c", false, 1), hold("n3", standing.New, "c", false, 2),
	}
	for _, c := range []struct {
		all  []holder
		want feedring.PeerID
	}{
		{all, "n3"},
		{append(all[:3:3], hold("v4", standing.Vouched, "b", true, 0), hold("v5", standing.Vouched, "c", false, 9)), "v3"},
		{append(all[:5:5], hold("n1", standing.New, "b", false, 1), hold("n2", standing.New, "c", true, 5)), "n2"},
		{all[3:5:5], ""},
	} {
		if got := victim(c.all, 8); got != c.want {
			t.Errorf("%q gives way, not %q", got, c.want)
		}
	}
}

func TestWordOfMembers(t *testing.T) {
	a := newAccounts()
	count := func(by feedring.PeerID, of standing.Class) (taken int) {
		for range 2 * maxTold {
			if a.tell(by, of) {
				taken++
			}
		}
		return taken
	}
	if n := count("new", standing.New); n != 0 {
		t.Errorf("%d rows are taken on a new peer's word", n)
	}
	if n := count("settled", standing.Settled); n != 64 {
		t.Errorf("%d rows are taken on a settled peer's word", n)
	}
	a.leave(place{told: "settled"}, 0)
	if n := count("settled", standing.Settled); n != 1 {
		t.Errorf("%d rows are taken in the place of one", n)
	}
}

func TestBytesOfStrangers(t *testing.T) {
	a := newAccounts()
	stranger, held := place{prefix: "192.0.2.0/24"}, 0
	for size := 2 << 20; size > 0; size /= 8 {
		for range 1000 {
			if a.fits(stranger, 0, size) {
				a.replace(stranger, 0, size)
				held += size
			}
		}
	}
	if held < pressed || held > maxStrange || held != a.strange {
		t.Errorf("%d bytes are held, and %d counted", held, a.strange)
	}
	if !a.fits(place{}, 0, 2<<20) {
		t.Error("who has no prefix is counted")
	}
}

// group is one whose manager is this peer, unless follows names another.
type group struct {
	*Admitter
	members map[feedring.PeerID]Member
	rows    map[feedring.PeerID]*catalogue.Row
	follows feedring.PeerID
	now     time.Time
}

func newGroup(rows int) *group {
	g := &group{members: map[feedring.PeerID]Member{}, rows: map[feedring.PeerID]*catalogue.Row{}, now: start}
	g.Admitter = New(Config{Refresh: time.Second, Freshness: 48 * time.Hour, Rows: rows}, g)
	return g
}

func (g *group) Now() time.Time                 { return g.now }
func (g *group) Count() int                     { return len(g.members) }
func (g *group) Joining() bool                  { return false }
func (g *group) Merging() bool                  { return g.follows == "" }
func (g *group) Follows(p feedring.PeerID) bool { return p == g.follows }

func (g *group) Admission(p feedring.PeerID) (Member, bool) {
	m, ok := g.members[p]
	return m, ok
}

func (g *group) Admissions() (all []Member) {
	for _, m := range g.members {
		all = append(all, m)
	}
	return all
}

func (g *group) Evict(p feedring.PeerID) {
	g.Leave(g.rows[p])
	delete(g.members, p)
	delete(g.rows, p)
}

// enters has the peer of a row get a place on from's word.
func (g *group) enters(r *catalogue.Row, from feedring.PeerID) bool {
	away, ok := g.Take(r, from)
	if ok {
		g.members[r.Peer], g.rows[r.Peer] = Member{Peer: r.Peer, First: g.now, Since: g.now, Away: away}, r
	}
	return ok
}

// joins has a peer ask over its own connection; those that are admitted answer at once.
func (g *group) joins(p feedring.PeerID, prefix standing.Prefix, known bool) {
	in, _ := g.Ask(&catalogue.Row{Peer: p}, prefix, known)
	for _, r := range in {
		g.enters(r, r.Peer)
		g.Entered(r.Peer)
	}
}

func (g *group) leaves(p feedring.PeerID) {
	m := g.members[p]
	m.Away = true
	g.members[p] = m
}

// T1: who was a member before, and gave way to another of its prefix, does not come back beside it.
func TestPrefixWhoseMembersTakeTurns(t *testing.T) {
	g := newGroup(10_000)
	for i := range 100 {
		g.now = g.now.Add(time.Second)
		p := feedring.PeerID(fmt.Sprint("p", i))
		g.joins(p, "192.0.2.0/24", false)
		g.leaves(p)
	}
	for p := range 100 {
		g.joins(feedring.PeerID(fmt.Sprint("p", p)), "192.0.2.0/24", true)
		if n := len(g.members); n > 8 {
			t.Fatalf("%d of one /24 are in the catalogue", n)
		}
	}
}

// T1: members that go on from another prefix free no place for others.
func TestMembersThatMove(t *testing.T) {
	g := newGroup(10_000)
	for i := range 100 {
		g.now = g.now.Add(time.Second)
		p := feedring.PeerID(fmt.Sprint("p", i))
		g.joins(p, "192.0.2.0/24", false)
		if r := g.rows[p]; r != nil {
			g.Met(r, "198.51.100.0/24")
		}
	}
	if n := len(g.members); n != 8 {
		t.Errorf("%d that joined from one /24 are in the catalogue", n)
	}
}

// T2: a row of an unknown peer counts from its owner, the manager, and to a manager from a few members.
func TestWhoseWordCounts(t *testing.T) {
	g := newGroup(10_000)
	row := func(p feedring.PeerID) *catalogue.Row { return &catalogue.Row{Peer: p} }
	g.joins("new", "192.0.2.0/24", false)
	g.joins("settled", "", false)
	if g.enters(row("x"), "nobody") || g.enters(row("x"), "x") || g.enters(row("x"), "new") {
		t.Error("a row is taken on nobody's word, its owner's without admission, or that of a new peer")
	}
	if !g.enters(row("x"), "settled") || !g.members["x"].Away {
		t.Error("a settled peer's word counts for nothing, or its row as there")
	}
	g.follows = "manager"
	if g.enters(row("y"), "settled") || !g.enters(row("y"), "manager") || g.members["y"].Away {
		t.Error("a member takes a row from another than its manager")
	}
}

// A full catalogue takes a newcomer of another prefix in place of one of the most crowded prefix.
func TestFullCatalogue(t *testing.T) {
	g := newGroup(40)
	for i := range 80 {
		g.now = g.now.Add(time.Second)
		g.joins(feedring.PeerID(fmt.Sprint("p", i)), prefixed(i%10), false)
	}
	if len(g.members) != 40 {
		t.Fatalf("%d are in the catalogue", len(g.members))
	}
	g.now = g.now.Add(time.Second)
	if g.joins("honest", "192.0.2.0/24", false); g.rows["honest"] == nil || len(g.members) != 40 {
		t.Errorf("the newcomer is in: %t, of %d", g.rows["honest"] != nil, len(g.members))
	}
}

func TestDue(t *testing.T) {
	g := newGroup(100)
	var absent []feedring.PeerID
	for i := range 20 {
		p := feedring.PeerID(fmt.Sprintf("p%02d", i))
		g.members[p] = Member{Peer: p, Away: true, Probed: start.Add(-time.Duration(i) * time.Second)}
		g.places[p] = place{prefix: "a"}
		absent = append(absent, p)
	}
	g.members["q"], g.places["q"] = Member{Peer: "q", Named: true, Away: true}, place{prefix: "a"}
	g.members["r"] = Member{Peer: "r", Away: true}
	got := fmt.Sprint(g.Due(append([]feedring.PeerID{"r"}, append(absent, "q")...)))
	if want := "[r p12 p13 p14 p15 p16 p17 p18 p19 q]"; got != want {
		t.Errorf("%s are probed, want %s", got, want)
	}
}

func TestRetention(t *testing.T) {
	g := newGroup(10)
	g.now = start.Add(25 * time.Hour)
	for p, want := range map[feedring.PeerID]time.Duration{"new": time.Hour, "settled": 48 * time.Hour, "near": 48 * time.Hour, "vouched": 7 * 24 * time.Hour} {
		m := Member{Peer: p, First: g.now, Named: p == "vouched"}
		if p == "settled" {
			m.First = start
		}
		if g.members[p] = m; p != "near" {
			g.places[p] = place{prefix: "a"}
		}
		if got := g.Retention(p); got != want {
			t.Errorf("%s: %s", p, got)
		}
	}
}
