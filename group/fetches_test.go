package group

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

const mirrored = "https://mirrored.example/rss"

// sharedFetches makes a group that shares its looks; all but the first with count
// peers offer the mirrored feed.
func sharedFetches(seed uint64, fetchers int, way func(feedring.PeerID) time.Duration) *cluster {
	c := newCluster(seed)
	c.alter = func(cfg *Config) { cfg.Fetchers = fetchers }
	c.way = way
	return c
}

// mirror starts peers that offer the mirrored feed.
func (c *cluster) mirror(from, to int) (ids []feedring.PeerID) {
	for i := from; i < to; i++ {
		id := feedring.PeerID(fmt.Sprintf("p%02d", i))
		ids = append(ids, id)
		first := len(c.nodes) == 0
		n := c.start(id, mirrored)
		if first {
			c.step(n, Establish{})
		} else {
			c.step(n, Enter{Via: []feedring.PeerID{"p00"}})
		}
	}
	return ids
}

func (c *cluster) fetchers() (ids []feedring.PeerID) {
	for _, n := range c.alives() {
		if n.turns[mirrored].Slot > 0 {
			ids = append(ids, n.id)
		}
	}
	return ids
}

// look fails unless exactly these look, and everybody else knows by whom.
func (c *cluster) look(t *testing.T, want ...feedring.PeerID) {
	t.Helper()
	if got := c.fetchers(); !slices.Equal(got, want) {
		t.Errorf("%v look, not %v\n%s", got, want, c.state())
	}
	for _, n := range c.alives() {
		turn := n.turns[mirrored]
		if i := slices.Index(want, n.id); i >= 0 && (turn.Slot != i+1 || turn.Slots != len(want)) || i < 0 && turn.By != want[0] {
			t.Errorf("%s was told %+v", n.id, turn)
		}
	}
}

func far(ways map[feedring.PeerID]time.Duration) func(feedring.PeerID) time.Duration {
	return func(p feedring.PeerID) time.Duration { return ways[p] }
}

// Who offers a feed alone looks at once, and nobody is told anything.
func TestAloneSharesNothing(t *testing.T) {
	c := sharedFetches(1, 2, nil)
	c.sent = func(s Send) {
		switch s.Message.(type) {
		case AssignmentsWanted, Assignments:
			t.Errorf("%s was sent %T", s.To, s.Message)
		}
	}
	ids := c.group(4)
	for _, id := range ids {
		url := c.nodes[id].feeds[0].URL
		if turn := c.nodes[id].turns[url]; turn.Slot != 1 || turn.Slots != 1 {
			t.Errorf("%s was told %+v", id, turn)
		}
	}
	c.turned = func(p feedring.PeerID, _ FetchAssignment) { t.Errorf("%s is told again", p) }
	c.run(100 * time.Second)
	if n := c.nodes["alone"]; n != nil {
		t.Fatal(n)
	}
}

// A peer that is in no group yet does not wait for one for long.
func TestFeedIsFetchedAloneAfterShortWait(t *testing.T) {
	c := sharedFetches(1, 1, nil)
	c.alter = func(cfg *Config) { cfg.Refresh, cfg.Fetchers = 10*time.Second, 1 }
	n := c.start("p00", mirrored)
	c.step(n, Enter{Via: []feedring.PeerID{"nobody"}})
	c.run(2*time.Second - time.Millisecond)
	if len(c.fetchers()) > 0 {
		t.Error("it did not wait for a group")
	}
	c.run(2 * time.Millisecond)
	c.look(t, "p00")
}

// Of peers that start together the nearest to the origin looks, and nobody else
// does in the meantime.
func TestNearestPeerFetches(t *testing.T) {
	c := sharedFetches(2, 1, far(map[feedring.PeerID]time.Duration{"p00": 80 * time.Millisecond, "p01": 50 * time.Millisecond, "p02": 12 * time.Millisecond, "p03": 30 * time.Millisecond, "p04": 12 * time.Millisecond}))
	looked := map[feedring.PeerID]bool{}
	c.turned = func(p feedring.PeerID, turn FetchAssignment) { looked[p] = looked[p] || turn.Slot > 0 }
	n := c.start("p00") // founds, and offers the feed with the others
	c.step(n, Establish{})
	c.run(100 * time.Millisecond)
	c.mirror(1, 5)
	n.feeds = append(n.feeds, feedring.Feed{URL: mirrored, Provider: "mirrored.example"})
	c.step(n, Describe{Feeds: n.feeds})
	c.run(3 * time.Second)
	c.look(t, "p02")
	if len(looked) > 5 || looked["p01"] || looked["p03"] || looked["p04"] {
		t.Errorf("%v looked", looked)
	}
	c.run(5 * time.Minute)
	c.look(t, "p02")
}

// Who looks goes on while nobody is nearer by half.
func TestAssignmentsDoNotMoveForLittle(t *testing.T) {
	c := sharedFetches(3, 1, far(map[feedring.PeerID]time.Duration{"p00": 40 * time.Millisecond, "p01": 25 * time.Millisecond, "p02": 20 * time.Millisecond}))
	c.mirror(0, 1)
	c.run(time.Second)
	c.look(t, "p00")
	c.mirror(1, 2)
	c.run(time.Minute)
	c.look(t, "p00")
	c.mirror(2, 3)
	c.run(time.Minute)
	c.look(t, "p02")
	for d := range 40 { // it wavers
		c.step(c.nodes["p02"], OriginMeasured{URL: mirrored, Distance: time.Duration(18+d%10) * time.Millisecond})
		c.run(10 * time.Second)
		c.look(t, "p02")
	}
}

// The death of who looks is noticed as any other, and another goes on.
func TestSilentFetcherIsReplaced(t *testing.T) {
	for _, dead := range []feedring.PeerID{"p00", "p03"} { // the manager and a member
		t.Run(string(dead), func(t *testing.T) {
			c := sharedFetches(4, 1, func(p feedring.PeerID) time.Duration {
				if p == dead {
					return 5 * time.Millisecond
				}
				return 50 * time.Millisecond
			})
			c.mirror(0, 5)
			c.run(33 * time.Second) // the next asks are far
			c.look(t, dead)
			c.crash(dead)
			died := c.now
			for len(c.fetchers()) == 0 && c.now.Sub(died) < time.Minute {
				c.run(10 * time.Millisecond)
			}
			if took := c.now.Sub(died); took > 4*time.Second {
				t.Errorf("another looks after %v", took)
			}
			c.run(10 * time.Second)
			if n := len(c.fetchers()); n != 1 {
				t.Errorf("%d look", n)
			}
			c.start(dead)
			c.step(c.nodes[dead], Enter{Via: []feedring.PeerID{"p01", "p02"}})
			c.run(time.Minute)
			c.look(t, dead)
		})
	}
}

// A new manager lets who looks go on.
func TestTakeoverKeepsAssignments(t *testing.T) {
	c := sharedFetches(5, 2, func(p feedring.PeerID) time.Duration {
		if p == "p03" || p == "p04" {
			return 5 * time.Millisecond
		}
		return 50 * time.Millisecond
	})
	c.mirror(0, 6)
	c.run(time.Minute)
	c.look(t, "p03", "p04")
	c.turned = func(p feedring.PeerID, turn FetchAssignment) { t.Errorf("%s is told %+v", p, turn) }
	c.crash("p00")
	c.run(20 * time.Second)
	if lead, err := c.leader(); err != nil || lead == "p00" {
		t.Fatal(lead, err)
	}
	c.look(t, "p03", "p04")
	c.run(2 * time.Minute)
}

// Each half of a group that is cut has one who looks, and the whole has one again.
func TestPartitionSharesAgain(t *testing.T) {
	c := sharedFetches(6, 1, nil)
	ids := c.mirror(0, 6)
	c.run(10 * time.Second)
	if n := len(c.fetchers()); n != 1 {
		t.Fatal(n)
	}
	c.split(ids[:3], ids[3:])
	c.run(20 * time.Second)
	half := 0
	for _, p := range c.fetchers() {
		if slices.Contains(ids[:3], p) {
			half++
		}
	}
	if all := len(c.fetchers()); all != 2 || half != 1 {
		t.Errorf("%d look, %d in the first half", all, half)
	}
	c.heal()
	c.run(20 * time.Second)
	if looks := c.fetchers(); len(looks) != 1 {
		t.Errorf("%v look\n%s", looks, c.state())
	}
}

// The site's own peer looks, and mirrors only when it is away for long.
func TestSitesOwnPeerFetches(t *testing.T) {
	c := sharedFetches(7, 2, nil)
	ids := c.mirror(0, 4)
	ref := feedring.FeedRef{URL: mirrored, Publisher: "p02"}
	for _, id := range ids {
		c.nodes[id].checks[ref] = Vouch{Site: "mirrored.example", Publisher: "p02"}
	}
	for _, id := range ids {
		c.step(c.nodes[id], CheckSites{})
	}
	c.run(2 * time.Minute)
	c.look(t, "p02")
	c.crash("p02")
	c.run(9 * time.Second)
	if looks := c.fetchers(); len(looks) > 0 {
		t.Errorf("%v look a moment later", looks)
	}
	c.run(8 * time.Second)
	if looks := c.fetchers(); len(looks) != 2 {
		t.Errorf("%v look in its place", looks)
	}
	c.start("p02")
	c.step(c.nodes["p02"], Enter{Via: ids[:1]})
	c.run(5 * time.Second)
	c.look(t, "p02")
}

// Where one peer of the group wants several to look, they do, each at its turn.
func TestSeveralFetchersTakeSlots(t *testing.T) {
	c := sharedFetches(8, 1, nil)
	c.mirror(0, 3)
	c.alter = func(cfg *Config) { cfg.Fetchers = 4 }
	c.mirror(3, 4)
	c.alter = func(cfg *Config) { cfg.Fetchers = 1 }
	c.mirror(4, 9)
	c.run(30 * time.Second)
	looks := c.fetchers()
	if len(looks) != 4 {
		t.Fatalf("%v look", looks)
	}
	c.look(t, looks...)
	c.crash("p03") // who wanted it
	c.run(2 * time.Minute)
	if looks := c.fetchers(); len(looks) != 1 {
		t.Errorf("%v look when nobody wants several", looks)
	}
}

// Whom the origin refuses is replaced, and where it refuses all nobody is, for
// the moves would be requests.
func TestRefusedFetcherIsReplaced(t *testing.T) {
	c := sharedFetches(9, 1, nil)
	c.mirror(0, 4)
	c.run(10 * time.Second)
	c.look(t, "p00")
	c.step(c.nodes["p00"], OriginMeasured{URL: mirrored, Failing: true})
	c.run(10 * time.Second)
	c.look(t, "p01")
	moves := 0
	c.turned = func(p feedring.PeerID, turn FetchAssignment) {
		if turn.Slot > 0 {
			moves++
			c.later(c.nodes[p], 10*time.Millisecond, OriginMeasured{URL: mirrored, Failing: true})
		}
	}
	c.step(c.nodes["p01"], OriginMeasured{URL: mirrored, Failing: true})
	c.run(5 * time.Minute)
	if looks := c.fetchers(); moves != 2 || len(looks) != 1 {
		t.Errorf("%d moves, and %v look", moves, looks)
	}
}

// While the manager is silent, the fetcher goes on. Others take over one after another,
// after the assignment ran out.
func TestFetcherGoesOnWithoutManager(t *testing.T) {
	c := sharedFetches(10, 1, nil)
	c.mirror(0, 4)
	c.run(10 * time.Second)
	c.look(t, "p00")
	c.step(c.nodes["p00"], OriginMeasured{URL: mirrored, Failing: true})
	c.run(10 * time.Second)
	c.look(t, "p01")
	c.loss = func(_, _ feedring.PeerID, m Message) bool { _, is := m.(Assignments); return is }
	c.run(55 * time.Second)
	if looks := c.fetchers(); !slices.Equal(looks, []feedring.PeerID{"p01"}) {
		t.Errorf("%v look after a word that ran out", looks)
	}
	c.run(3 * time.Minute)
	if looks := c.fetchers(); !slices.Contains(looks, "p02") {
		t.Errorf("%v look, as if the first were heard of", looks)
	}
	c.loss = nil
	c.run(time.Minute)
	if looks := c.fetchers(); len(looks) != 1 {
		t.Errorf("%v look in the end", looks)
	}
}

// A ping at a peer that rests goes on to who looks, and a flood of them does not.
func TestFetchRequestReachesFetcher(t *testing.T) {
	c := sharedFetches(11, 1, nil)
	c.mirror(0, 3)
	c.run(10 * time.Second)
	c.look(t, "p00")
	for range 20 {
		c.step(c.nodes["p01"], FetchNow{URL: mirrored})
		c.step(c.nodes["p00"], Receive{From: "stranger", Message: FetchRequest{Header: Header{Group: testTheme.Group()}, URL: mirrored}})
		c.run(100 * time.Millisecond)
	}
	if !slices.Equal(c.fetchRequests, []feedring.PeerID{"p00"}) {
		t.Errorf("%v were asked to fetch", c.fetchRequests)
	}
}

// What a peer asks about without offering it is not kept.
func TestAssignmentsAreBounded(t *testing.T) {
	c := sharedFetches(12, 1, nil)
	c.mirror(0, 3)
	c.run(10 * time.Second)
	m := c.nodes["p00"].m
	for i := range 3000 {
		c.step(c.nodes["p00"], Receive{From: "p01", Message: AssignmentsWanted{
			Header: Header{Group: testTheme.Group(), Term: m.term()}, Feeds: []AssignmentRequest{{URL: fmt.Sprint("https://x/", i)}, {URL: mirrored, Fetchers: 1 << 30}},
		}})
	}
	if feeds, askers := m.sharing.Size(); feeds != 1 || askers != 3 {
		t.Errorf("%d feeds and %d askers are kept", feeds, askers)
	}
	c.run(time.Minute)
	if n := len(c.fetchers()); n > 3 {
		t.Errorf("%d look", n)
	}
}

// Copies of a machine that shares looks go on alike.
func TestShareClone(t *testing.T) {
	c := sharedFetches(13, 2, nil)
	c.mirror(0, 4)
	c.run(10 * time.Second)
	m := c.nodes["p00"].m
	was := m.Fingerprint()
	clone := m.Clone()
	if clone.Fingerprint() != was {
		t.Fatal("the copy is another machine")
	}
	clone.Step(c.now.Add(time.Minute), Receive{From: "p01", Message: AssignmentsWanted{
		Header: Header{Group: testTheme.Group(), Term: m.term()}, Feeds: []AssignmentRequest{{URL: mirrored, Distance: time.Second, Failing: true}},
	}})
	if m.Fingerprint() != was || clone.Fingerprint() == was {
		t.Error("a step of the copy is one of the machine, or none")
	}
}

// After crashes, cuts and losses one looks again, and the others know.
func TestSharedFetchesSettle(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			c := sharedFetches(seed, 1, func(p feedring.PeerID) time.Duration { return time.Duration(3*(int(p[2])-'0')+5) * time.Millisecond })
			ids := c.mirror(0, 6)
			c.run(5 * time.Second)
			c.loss = func(_, _ feedring.PeerID, _ Message) bool { return c.rng.IntN(6) == 0 }
			for range 30 {
				p := ids[c.rng.IntN(len(ids))]
				switch n := c.nodes[p]; c.rng.IntN(5) {
				case 0:
					c.crash(p)
				case 1, 2:
					if !n.up {
						c.start(p)
						c.step(n, Enter{Via: ids})
					}
				case 3:
					k := 1 + c.rng.IntN(5)
					c.split(ids[:k], ids[k:])
				default:
					c.heal()
				}
				c.run(time.Duration(200+c.rng.IntN(3000)) * time.Millisecond)
			}
			c.loss = nil
			c.heal()
			for _, p := range ids {
				if n := c.nodes[p]; !n.up {
					c.start(p)
					c.step(n, Enter{Via: ids})
				}
			}
			c.run(5 * time.Second)
			for _, n := range c.alives() { // the ring map makes those meet who founded apart
				for _, o := range c.alives() {
					if v := o.m.View(); n.m.lead.serving && o.m.lead.serving && n != o {
						c.step(n, Rival{Term: v.Term, Above: v.Term.Number, Acknowledged: v.Acknowledged, Peers: []feedring.PeerID{o.id}})
					}
				}
			}
			c.run(40 * time.Second)
			if _, err := c.leader(); err != nil {
				t.Fatal(err)
			}
			if looks := c.fetchers(); len(looks) == 1 {
				c.look(t, looks[0])
			} else {
				t.Errorf("%v look\n%s", looks, c.state())
			}
		})
	}
}
