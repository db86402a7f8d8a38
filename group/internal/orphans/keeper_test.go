package orphans

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
	"github.com/feedring/feedring/internal/standing"
)

const (
	r   = 10 * time.Second
	url = "https://site.example/rss"
)

// group is a group of volunteers v1 to v4, in which others offer feeds. Each volunteer does at once what its keeper says.
type group struct {
	t    *testing.T
	now  time.Time
	rows map[feedring.PeerID]*catalogue.Row
	away map[feedring.PeerID]bool
	new  map[feedring.PeerID]bool // peers that are not known for long enough
	of   map[feedring.PeerID]*member
	idle map[feedring.PeerID]bool // volunteers that carry nothing, whatever their keeper says
	none map[string]bool          // feeds of which nobody holds an entry
}

// member is the group as one volunteer sees it.
type member struct {
	*group
	self   feedring.PeerID
	keeper *Keeper
	at     time.Time
	list   []feedring.Feed
	told   int
}

func (s *member) Now() time.Time { return s.now }
func (s *member) Index() *catalogue.Index {
	var rows []*catalogue.Row
	for _, row := range s.rows {
		rows = append(rows, row)
	}
	return catalogue.NewIndex(s.self, rows, func(p feedring.PeerID) bool { return s.away[p] })
}

func (s *member) Member(p feedring.PeerID) catalogue.Member {
	return catalogue.Member{Row: s.rows[p], Away: s.away[p]}
}
func (s *member) Prefix(p feedring.PeerID) standing.Prefix { return "" }
func (s *member) Known(p feedring.PeerID) bool             { return s.rows[p] != nil && !s.new[p] }
func (s *member) Holds(url string) bool                    { return !s.none[url] }
func (s *member) CarryAt(at time.Time)                     { s.at = at }
func (s *member) CarryTime() time.Time                     { return s.at }
func (s *member) Emit(o Output)                            { s.list, s.told = o.(Carry).Feeds, s.told+1 }

func newGroup(t *testing.T, volunteers int) *group {
	g := &group{
		t: t, now: time.Unix(1_000_000, 0), rows: map[feedring.PeerID]*catalogue.Row{}, away: map[feedring.PeerID]bool{}, new: map[feedring.PeerID]bool{},
		of: map[feedring.PeerID]*member{}, idle: map[feedring.PeerID]bool{}, none: map[string]bool{},
	}
	for i := range volunteers {
		p := feedring.PeerID(fmt.Sprintf("v%d", i+1))
		g.rows[p] = &catalogue.Row{Peer: p, Volunteer: true}
		s := &member{group: g, self: p}
		s.keeper = New(Config{Self: p, Refresh: r}, s)
		g.of[p] = s
		s.keeper.Describe(true, nil)
	}
	return g
}

func (g *group) offers(p feedring.PeerID, urls ...string) {
	row := &catalogue.Row{Peer: p}
	for _, u := range urls {
		row.Feeds = append(row.Feeds, feedring.Feed{URL: u, Title: "t", Provider: "p"})
	}
	g.rows[p] = row
	g.changed()
}

// leaves has a peer leave in good order.
func (g *group) leaves(p feedring.PeerID) {
	row := *g.rows[p]
	row.Left = true
	g.rows[p] = &row
	g.changed()
}

func (g *group) goes(p feedring.PeerID, away bool) {
	g.away[p] = away
	g.changed()
}

func (g *group) changed() {
	for _, s := range g.of {
		s.keeper.RowsChanged()
	}
}

// passes lets time pass, from one timer to the next, and a tenth of a period at least.
func (g *group) passes(d time.Duration) {
	for end := g.now.Add(d); g.now.Before(end); g.now = g.next(end) {
		for _, p := range []feedring.PeerID{"v1", "v2", "v3", "v4"} {
			s := g.of[p]
			if s == nil || g.away[p] || s.at.IsZero() || s.at.After(g.now) {
				continue
			}
			s.at = time.Time{}
			told := s.told
			s.keeper.Review()
			if s.told > told && !g.idle[p] {
				row := *g.rows[p]
				row.Feeds = s.list
				g.rows[p] = &row
				s.keeper.Describe(true, s.list)
				g.changed()
			}
		}
	}
}

// next is when the next timer fires, but not before a tenth of a period.
func (g *group) next(end time.Time) time.Time {
	for p, s := range g.of {
		if !s.at.IsZero() && s.at.Before(end) && !g.away[p] {
			end = s.at
		}
	}
	if soon := g.now.Add(r / 10); end.Before(soon) {
		return soon
	}
	return end
}

// carriers are the volunteers whose row says that they carry a feed.
func (g *group) carriers(url string) (by []feedring.PeerID) {
	for p, row := range g.rows {
		if !g.away[p] && slices.ContainsFunc(row.Feeds, func(f feedring.Feed) bool { return f.URL == url && f.Carried > 0 }) {
			by = append(by, p)
		}
	}
	slices.Sort(by)
	return by
}

func (g *group) carry(when string, want int) {
	g.t.Helper()
	if by := g.carriers(url); len(by) != want {
		g.t.Errorf("%s: %v carry it, and %d should", when, by, want)
	}
}

// A feed whose only peer is away is carried after ten periods by two, until that one is back for ten.
func TestTwoCarryUntilTheOwnerIsBack(t *testing.T) {
	g := newGroup(t, 4)
	g.offers("p", url)
	g.passes(30 * r)
	g.carry("while it is offered", 0)
	g.goes("p", true)
	g.passes(9*r + r/2)
	g.carry("before ten periods are over", 0)
	g.passes(r)
	g.carry("after ten periods", 2)
	g.passes(40 * r)
	g.carry("later", 2)
	g.goes("p", false)
	g.passes(9 * r)
	g.carry("while the owner is back for nine", 2)
	g.passes(2 * r)
	g.carry("when it is back for ten", 0)
}

// Who left in good order did not take its feeds out, unless a site named it: then it is the site's to say.
func TestFeedsOfAPeerThatLeft(t *testing.T) {
	g := newGroup(t, 3)
	g.offers("p", url)
	g.leaves("p")
	g.passes(11 * r)
	g.carry("after it left", 2)

	g = newGroup(t, 3)
	g.offers("p", url)
	g.rows["p"].Vouches = []catalogue.Vouch{{Site: "site.example", Publisher: "p"}}
	g.leaves("p")
	g.passes(30 * r)
	g.carry("after the site's own peer left", 0)
}

// What its owner takes out nobody carries, also if volunteers did so while the owner was away.
func TestWhatWasTakenOut(t *testing.T) {
	g := newGroup(t, 3)
	g.offers("p", url)
	g.passes(r)
	g.offers("p")
	g.passes(30 * r)
	g.carry("after it was taken out", 0)
	g.offers("p", url)
	g.goes("p", true)
	g.passes(11 * r)
	g.carry("while the owner is away", 2)
	g.offers("p")
	g.goes("p", false)
	g.passes(r)
	g.carry("when the owner is back and has taken it out", 0)
}

// A peer that goes again before it was back for ten periods changes nothing.
func TestPeerThatFlaps(t *testing.T) {
	g := newGroup(t, 3)
	g.offers("p", url)
	for range 10 {
		g.goes("p", true)
		g.passes(5 * r)
		g.goes("p", false)
		g.passes(r)
	}
	g.carry("while it is never away for long", 0)
	g.goes("p", true)
	g.passes(11 * r)
	told := g.of["v1"].told + g.of["v2"].told + g.of["v3"].told
	for range 10 {
		g.goes("p", false)
		g.passes(5 * r)
		g.goes("p", true)
		g.passes(r)
	}
	g.carry("while it is never back for long", 2)
	if now := g.of["v1"].told + g.of["v2"].told + g.of["v3"].told; now != told {
		t.Errorf("the list changed %d times", now-told)
	}
}

// A volunteer that does not carry what it should is not waited for.
func TestIdleVolunteer(t *testing.T) {
	for _, idle := range [][]feedring.PeerID{{"v1"}, {"v2"}, {"v3"}, {"v4"}, {"v1", "v2"}, {"v3", "v4"}} {
		g := newGroup(t, 4)
		for _, p := range idle {
			g.idle[p] = true
		}
		g.offers("p", url)
		g.goes("p", true)
		g.passes(32 * r)
		g.carry(fmt.Sprintf("while %v do nothing", idle), 2)
	}
}

// A carrier that goes away is replaced, and the next one begins no sooner than a fetch of that one would have been due.
func TestCarrierThatGoes(t *testing.T) {
	g := newGroup(t, 3)
	g.offers("p", url)
	g.goes("p", true)
	g.passes(15 * r)
	first := g.carriers(url)
	g.goes(first[0], true)
	gone := g.now
	g.passes(25 * r)
	g.carry("after one of them went", 2)
	for _, p := range g.carriers(url) {
		if p != first[1] && g.of[p].keeper.LookedAt(url).Before(gone.Add(-r)) {
			t.Errorf("%s takes the last fetch for one of %v, and %s was there until %v", p, g.of[p].keeper.LookedAt(url), first[0], gone)
		}
	}
	g.goes(first[0], false)
	g.passes(15 * r)
	g.carry("when it is back", 2)
}

// Nobody carries a feed for more than a week, also where one volunteer follows another.
func TestAWeekAtMost(t *testing.T) {
	g := newGroup(t, 2)
	g.offers("p", url)
	g.goes("p", true)
	g.passes(6 * 24 * time.Hour)
	g.carry("after six days", 2)
	delete(g.rows, "p") // it is forgotten
	g.of["v3"] = &member{group: g, self: "v3"}
	g.rows["v3"] = &catalogue.Row{Peer: "v3", Volunteer: true}
	g.of["v3"].keeper = New(Config{Self: "v3", Refresh: r}, g.of["v3"])
	g.of["v3"].keeper.Describe(true, nil)
	g.changed()
	g.passes(r)
	g.goes("v1", true)
	g.passes(15 * r)
	g.carry("by another that came later", 2)
	g.passes(24 * time.Hour)
	g.carry("after seven days", 0)
}

// What a new peer offered, or never published, is not carried.
func TestStrangersFeedsAreNotCarried(t *testing.T) {
	g := newGroup(t, 2)
	g.new["p"] = true
	g.offers("p", url)
	g.goes("p", true)
	g.passes(30 * r)
	g.carry("of a new peer", 0)

	g = newGroup(t, 2)
	g.none[url] = true
	g.offers("p", url)
	g.goes("p", true)
	g.passes(30 * r)
	g.carry("of which nobody holds anything", 0)
}

// A new peer that offers the feed, or says that it has carried it for long, keeps nobody from carrying it; who offered it
// before does, however new it counts as after a restart of the volunteer.
func TestNewPeersEndNothing(t *testing.T) {
	g := newGroup(t, 3)
	g.offers("p", url)
	g.goes("p", true)
	g.new["liar"], g.new["p"] = true, false
	g.offers("liar", url)
	g.passes(11 * r)
	g.carry("beside a new peer that offers it", 2)
	g.rows["liar"] = &catalogue.Row{Peer: "liar", Volunteer: true, Feeds: []feedring.Feed{{URL: url, Carried: 1}}}
	g.changed()
	g.passes(20 * r)
	g.carry("beside one that says it carried it in 1970", 3)
	g.new["p"] = true
	g.goes("p", false)
	g.passes(11 * r)
	g.carry("when who offered it is back", 1)
}

// Of very many feeds each volunteer carries a thousand, and who offered few has all of them carried.
func TestTenThousandOrphans(t *testing.T) {
	g := newGroup(t, 2)
	var many []string
	for i := range 10_000 {
		many = append(many, fmt.Sprintf("https://name%05d.example/rss", i))
	}
	few := []string{"https://a.example/", "https://b.example/", "https://c.example/"}
	g.offers("sybil", many...)
	g.offers("p", few...)
	g.goes("sybil", true)
	g.goes("p", true)
	g.passes(11 * r)
	for _, p := range []feedring.PeerID{"v1", "v2"} {
		if n := len(g.rows[p].Feeds); n != MaxCarried {
			t.Errorf("%s carries %d", p, n)
		}
		for _, u := range few {
			if !slices.Contains(g.carriers(u), p) {
				t.Errorf("%s does not carry %s", p, u)
			}
		}
	}
	both := 0
	for _, u := range many {
		if len(g.carriers(u)) == 2 {
			both++
		}
	}
	if both > MaxCarried/2 {
		t.Errorf("%d of them are carried twice, while others are not", both)
	}
}

// However many feeds somebody made up at one site, and under whatever names below it, a volunteer carries few of them.
func TestManyFeedsOfOneSite(t *testing.T) {
	g := newGroup(t, 2)
	var many []string
	for i := range 2_000 {
		many = append(many, fmt.Sprintf("https://n%d.victim.example/%d", i%100, i))
	}
	g.offers("sybil", many...)
	g.offers("p", url)
	g.goes("sybil", true)
	g.goes("p", true)
	g.passes(20 * r)
	for _, p := range []feedring.PeerID{"v1", "v2"} {
		if n := len(g.rows[p].Feeds); n != maxOfSite+1 {
			t.Errorf("%s carries %d", p, n)
		}
	}
	g.carry("beside them", 2)
}

// What a volunteer carried before it started again it goes on with, and no longer than before.
func TestCarriedOverARestart(t *testing.T) {
	g := newGroup(t, 1)
	g.offers("p", url)
	g.goes("p", true)
	g.passes(15 * r)
	g.carry("at first", 1)
	s := g.of["v1"]
	s.keeper, s.told = New(Config{Self: "v1", Refresh: r}, s), 0
	s.keeper.Describe(true, g.rows["v1"].Feeds)
	g.passes(3 * r)
	if s.told != 0 || len(g.carriers(url)) != 1 {
		t.Errorf("after a restart it was told %d times, and %v carry it", s.told, g.carriers(url))
	}
	g.passes(7 * 24 * time.Hour)
	g.carry("after a week", 0)
}

// Who does not volunteer any more carries nothing.
func TestVolunteerThatStops(t *testing.T) {
	g := newGroup(t, 1)
	g.offers("p", url)
	g.goes("p", true)
	g.passes(15 * r)
	s := g.of["v1"]
	s.keeper.Describe(false, g.rows["v1"].Feeds)
	s.keeper.Review()
	if len(s.list) != 0 {
		t.Errorf("it carries %v", s.list)
	}
}
