package group

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// fetched has a peer tell of a fetch that just ended.
func (c *cluster) fetched(p feedring.PeerID, l LastFetch) {
	c.step(c.nodes[p], OriginFetched{URL: mirrored, Last: l})
}

// Whoever fetches next knows the last fetch and what the origin asked for then,
// though who fetched, and the manager with it, died a moment after it.
func TestNextFetcherKnowsLastFetch(t *testing.T) {
	for _, test := range []struct {
		name  string
		peers int
		dead  feedring.PeerID
	}{{"the manager", 4, "p00"}, {"a member", 4, "p03"}, {"one of two", 2, "p00"}} {
		t.Run(test.name, func(t *testing.T) {
			c := sharedFetches(20, 1, func(p feedring.PeerID) time.Duration {
				if p == test.dead {
					return 5 * time.Millisecond
				}
				return 50 * time.Millisecond
			})
			c.mirror(0, test.peers)
			c.run(33 * time.Second)
			c.look(t, test.dead)
			c.fetched(test.dead, LastFetch{ETag: `"1"`, Entries: 7})
			c.run(5 * time.Second)
			c.fetched(test.dead, LastFetch{Wait: time.Hour, Host: "mirrored.example", ETag: `"2"`, Entries: 8, Failures: 3, Again: 4 * time.Hour, Gone: true})
			looked := c.now
			c.run(100 * time.Millisecond)
			c.crash(test.dead)
			c.run(30 * time.Second)
			looks := c.fetchers()
			if len(looks) != 1 {
				t.Fatalf("%v look", looks)
			}
			l := c.nodes[looks[0]].turns[mirrored].Last
			if l == nil {
				t.Fatal("nothing is known of the last look")
			}
			// as of when it was told of its turn
			if whole := l.Ago + l.Wait; (whole-time.Hour).Abs() > 50*time.Millisecond || l.Ago > c.now.Sub(looked) || l.Ago <= 0 {
				t.Errorf("it knows of a look %v ago, after which to wait for %v more", l.Ago, l.Wait)
			}
			if l.Host != "mirrored.example" || l.ETag != `"2"` || l.Entries != 8 {
				t.Errorf("it was told %+v", l)
			}
			if whole := l.Ago + l.Again; l.Failures != 3 || !l.Gone || (whole-4*time.Hour).Abs() > 50*time.Millisecond {
				t.Errorf("of how that look ended it was told %+v", l)
			}
		})
	}
}

// Fetches that come often are told a few times in a period, and a host that wants
// to be left alone at once.
func TestFetchesAreReportedSparingly(t *testing.T) {
	c := sharedFetches(21, 1, nil)
	c.mirror(0, 3)
	c.run(15 * time.Second)
	c.look(t, "p00")
	said := 0
	c.sent = func(s Send) {
		if m, ok := s.Message.(Assignments); ok && m.Feeds[0].Last != nil {
			said++
		}
	}
	for i := range 400 { // in 4 r
		c.fetched("p00", LastFetch{Entries: uint64(i)})
		c.run(10 * time.Millisecond)
	}
	if said < 2*4 || said > 2*4*4+4 {
		t.Errorf("two peers were told %d times of what happened in 4 periods", said)
	}
	c.run(time.Second)
	c.fetched("p00", LastFetch{})
	c.run(20 * time.Millisecond)
	said = 0
	c.fetched("p00", LastFetch{Wait: time.Minute, Host: "mirrored.example"})
	c.run(5 * time.Millisecond)
	if said != 2 {
		t.Errorf("of a host that asks to be left alone %d were told", said)
	}
}

// Those that fetch in turn hear what the origin asked of one of them.
func TestFetchersWaitWhenOneIsAskedTo(t *testing.T) {
	c := sharedFetches(22, 3, nil)
	c.mirror(0, 4)
	c.run(15 * time.Second)
	looks := c.fetchers()
	if len(looks) != 3 {
		t.Fatal(looks)
	}
	c.fetched(looks[1], LastFetch{Wait: time.Hour, Host: "mirrored.example"})
	c.run(time.Second)
	for _, p := range looks {
		l := c.nodes[p].turns[mirrored].Last
		if heard := l != nil && l.Wait > 59*time.Minute; heard == (p == looks[1]) {
			t.Errorf("%s, of %v, was told %+v", p, looks, l)
		}
	}
}

// What somebody says of the last fetch has bounds, at the manager and at others.
func TestLastFetchIsBounded(t *testing.T) {
	c := sharedFetches(27, 1, nil)
	c.mirror(0, 3)
	c.run(15 * time.Second)
	c.look(t, "p00")
	c.fetched("p00", LastFetch{Wait: 1000 * time.Hour, Again: 1000 * time.Hour, Failures: 1 << 30, Host: "mirrored.example"})
	c.run(time.Second)
	c.crash("p00")
	c.run(20 * time.Second)
	for _, p := range c.fetchers() {
		if l := c.nodes[p].turns[mirrored].Last; l == nil || l.Wait > 25*time.Hour || l.Again > 25*time.Hour || l.Failures < 8 || l.Failures > 100 {
			t.Errorf("%s was told %+v", p, l)
		}
	}
}

// A feed that is gone is told of at once.
func TestGoneFeedIsReportedAtOnce(t *testing.T) {
	c := sharedFetches(28, 1, nil)
	c.mirror(0, 3)
	c.run(15 * time.Second)
	c.look(t, "p00")
	c.fetched("p00", LastFetch{})
	c.run(20 * time.Millisecond)
	said := 0
	c.sent = func(s Send) {
		if m, ok := s.Message.(Assignments); ok && m.Feeds[0].Last != nil && m.Feeds[0].Last.Gone {
			said++
		}
	}
	c.fetched("p00", LastFetch{Gone: true, Failures: 1})
	c.run(5 * time.Millisecond)
	if said != 2 {
		t.Errorf("%d were told", said)
	}
}

// Who rests hears at once that a host wants to be left alone, or that a feed is gone,
// and of no other fetch.
func TestRestingPeerLearnsOfHostBackoff(t *testing.T) {
	c := sharedFetches(31, 1, nil)
	c.mirror(0, 3)
	c.run(15 * time.Second)
	c.look(t, "p00")
	heard := map[feedring.PeerID][]LastFetch{}
	c.turned = func(p feedring.PeerID, turn FetchAssignment) {
		if turn.Slot > 0 || turn.By != "p00" || turn.Last == nil {
			t.Errorf("%s is told %+v", p, turn)
			return
		}
		heard[p] = append(heard[p], *turn.Last)
	}
	for _, l := range []LastFetch{{Entries: 1}, {Wait: time.Hour, Entries: 2}, {Wait: time.Hour, Host: "mirrored.example"}, {Gone: true, Failures: 1}} {
		c.run(10 * time.Second)
		c.fetched("p00", l)
	}
	c.run(time.Minute)
	for _, p := range []feedring.PeerID{"p01", "p02"} {
		if l := heard[p]; len(l) != 2 || l[0].Host != "mirrored.example" || l[0].Wait < 59*time.Minute || !l[1].Gone {
			t.Errorf("%s heard %+v", p, l)
		}
	}
}

// A peer that does not fetch cannot make others wait.
func TestReportsOfRestingPeersAreIgnored(t *testing.T) {
	c := sharedFetches(23, 1, nil)
	c.mirror(0, 3)
	c.run(15 * time.Second)
	c.look(t, "p00")
	m := c.nodes["p00"].m
	c.step(c.nodes["p00"], Receive{From: "p02", Message: AssignmentsWanted{
		Header: Header{Group: testTheme.Group(), Term: m.term()},
		Feeds:  []AssignmentRequest{{URL: mirrored, Fetching: true, Last: &LastFetch{Wait: 24 * time.Hour, Host: "mirrored.example"}}},
	}})
	c.run(time.Second)
	c.crash("p00")
	c.run(20 * time.Second)
	for _, p := range c.fetchers() {
		if l := c.nodes[p].turns[mirrored].Last; l != nil {
			t.Errorf("%s was told %+v", p, l)
		}
	}
}

// startOffering starts peers, each of which offers feeds of one host by number.
func (c *cluster) startOffering(host string, offers map[feedring.PeerID][]int) {
	for i := range len(offers) {
		id := feedring.PeerID(fmt.Sprintf("p%02d", i))
		var urls []string
		for _, f := range offers[id] {
			urls = append(urls, fmt.Sprintf("https://%s/%d", host, f))
		}
		n := c.start(id, urls...)
		if i == 0 {
			c.step(n, Establish{})
		} else {
			c.step(n, Enter{Via: []feedring.PeerID{"p00"}})
		}
	}
}

// fetchersAt lists who fetches the feeds of a host, each once.
func (c *cluster) fetchersAt(host string) (ids []feedring.PeerID) {
	for _, n := range c.alives() {
		for url, turn := range n.turns {
			if turn.Slot > 0 && !slices.Contains(ids, n.id) && len(url) > len(host)+8 && url[8:8+len(host)] == host {
				ids = append(ids, n.id)
			}
		}
	}
	return ids
}

// All feeds of a host are fetched by one peer, whoever began with them; when it
// is gone, by one other, and when a nearer one comes that mirrors all, by that one.
func TestHostHasOneFetcher(t *testing.T) {
	c := sharedFetches(24, 1, far(map[feedring.PeerID]time.Duration{"p00": 30 * time.Millisecond, "p01": 40 * time.Millisecond, "p02": 35 * time.Millisecond, "p03": 4 * time.Millisecond, "p04": 5 * time.Millisecond}))
	all := []int{1, 2, 3, 4, 5, 6}
	c.startOffering("a.example", map[feedring.PeerID][]int{"p00": {1, 2, 3}, "p01": {4, 5, 6}, "p02": {5}}) // each alone at first
	c.run(20 * time.Second)
	for _, p := range []feedring.PeerID{"p00", "p01", "p02"} {
		n := c.nodes[p]
		n.feeds = nil
		for _, f := range all {
			url := fmt.Sprintf("https://a.example/%d", f)
			n.feeds = append(n.feeds, feedring.Feed{URL: url, Title: url, Provider: "a.example"})
		}
		c.step(n, Describe{Feeds: n.feeds})
	}
	c.run(time.Minute)
	one := c.fetchersAt("a.example")
	if len(one) != 1 {
		t.Fatalf("%v look", one)
	}
	c.turned = func(p feedring.PeerID, turn FetchAssignment) { t.Errorf("%s is told %+v", p, turn) }
	c.run(5 * time.Minute)
	c.turned = nil
	c.crash(one[0])
	c.run(time.Minute)
	next := c.fetchersAt("a.example")
	if len(next) != 1 || next[0] == one[0] {
		t.Fatalf("%v look after %v died", next, one)
	}
	some := c.start("p03", "https://a.example/1", "https://a.example/2") // nearer, but not to all
	c.step(some, Enter{Via: c.ids()})
	c.run(time.Minute)
	if now := c.fetchersAt("a.example"); !slices.Equal(now, next) {
		t.Errorf("%v look, for one that mirrors some came", now)
	}
	var urls []string
	for _, f := range all {
		urls = append(urls, fmt.Sprintf("https://a.example/%d", f))
	}
	c.step(c.start("p04", urls...), Enter{Via: c.ids()})
	c.run(time.Minute)
	if now := c.fetchersAt("a.example"); !slices.Equal(now, []feedring.PeerID{"p04"}) {
		t.Errorf("%v look, for one that is nearer and mirrors all came", now)
	}
}

// A peer that alone offers one feed of a host fetches that one, and of the others only
// what it would fetch in any case.
func TestSoleFeedGivesNoClaimOnTheHost(t *testing.T) {
	c := sharedFetches(25, 1, far(map[feedring.PeerID]time.Duration{"p00": 10 * time.Millisecond, "p01": 80 * time.Millisecond, "p02": 30 * time.Millisecond}))
	c.startOffering("a.example", map[feedring.PeerID][]int{"p00": {1, 2}, "p01": {1, 2, 3}, "p02": {1, 2}})
	c.run(time.Minute)
	if looks := c.fetchersAt("a.example"); !slices.Equal(looks, []feedring.PeerID{"p00", "p01"}) {
		t.Errorf("%v look", looks)
	}
	for url, by := range map[string]feedring.PeerID{"https://a.example/1": "p00", "https://a.example/2": "p00", "https://a.example/3": "p01"} {
		if c.nodes[by].turns[url].Slot != 1 {
			t.Errorf("%s: %+v", url, c.nodes[by].turns[url])
		}
	}
	c.partly(t, "a.example")
	c.crash("p01")
	c.run(time.Minute)
	if looks := c.fetchersAt("a.example"); !slices.Equal(looks, []feedring.PeerID{"p00"}) {
		t.Errorf("%v look", looks)
	}
}

// oneForAll fails if several fetch the shared feeds of a host, all of which one peer offers.
func (c *cluster) oneForAll(t *testing.T) {
	t.Helper()
	offers, looks := map[string]int{}, map[feedring.PeerID]bool{}
	for _, n := range c.alives() {
		for _, f := range n.feeds {
			offers[f.URL]++
		}
	}
	maps.DeleteFunc(offers, func(_ string, n int) bool { return n < 2 })
	for _, n := range c.alives() {
		for url := range offers {
			if n.turns[url].Slot > 0 {
				looks[n.id] = true
			}
		}
	}
	for _, n := range c.alives() {
		count := 0
		for _, f := range n.feeds {
			if offers[f.URL] > 0 {
				count++
			}
		}
		if count == len(offers) && count > 0 && len(looks) != 1 {
			t.Errorf("%v look, though %s could look at all", looks, n.id)
		}
	}
}

// After whatever happened all shared feeds of a host that the same peers mirror
// have one fetcher, and turns come to rest.
func TestHostAssignmentsSettle(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			c := sharedFetches(seed, 1, nil)
			ways := map[feedring.PeerID]time.Duration{}
			c.way = func(p feedring.PeerID) time.Duration { return ways[p] }
			offers := map[feedring.PeerID][]int{}
			for i := range 5 {
				id := feedring.PeerID(fmt.Sprintf("p%02d", i))
				ways[id] = time.Duration(3+c.rng.IntN(60)) * time.Millisecond
				for f := range 6 {
					if c.rng.IntN(3) > 0 {
						offers[id] = append(offers[id], f)
					}
				}
				if offers[id] == nil {
					offers[id] = []int{0}
				}
			}
			c.startOffering("a.example", offers)
			for range 8 {
				p := c.ids()[1+c.rng.IntN(4)]
				if n := c.nodes[p]; n.up {
					c.crash(p)
				} else {
					c.start(p)
					c.step(n, Enter{Via: c.ids()})
				}
				c.run(time.Duration(300+c.rng.IntN(4000)) * time.Millisecond)
			}
			c.run(90 * time.Second)
			c.turned = func(p feedring.PeerID, turn FetchAssignment) { t.Errorf("%s is told %+v", p, turn) }
			c.run(3 * time.Minute)
			c.oneForAll(t)
			for f := range 6 {
				looks, there := 0, 0
				for _, n := range c.alives() {
					if slices.Contains(offers[n.id], f) {
						there++
					}
					if n.turns[fmt.Sprintf("https://a.example/%d", f)].Slot > 0 {
						looks++
					}
				}
				if looks != min(there, 1) {
					t.Errorf("%d of %d look at feed %d", looks, there, f)
				}
			}
		})
	}
}

// partly fails unless those that fetch feeds of a host have parts of its time that
// do not overlap, all of which they have together.
func (c *cluster) partly(t *testing.T, host string) {
	t.Helper()
	type part struct {
		fetcher feedring.PeerID
		Part
	}
	var parts []part
	var all uint64
	for _, n := range c.alives() {
		for url, turn := range n.turns {
			p := part{n.id, turn.Part}
			if turn.Slot == 0 || !strings.HasPrefix(url, "https://"+host+"/") || slices.Contains(parts, p) {
				continue
			}
			parts, all = append(parts, p), all+uint64(p.Size)
		}
	}
	for i, p := range parts {
		for _, q := range parts[:i] {
			if q.From-p.From < p.Size || p.From-q.From < q.Size {
				t.Errorf("%v and %v overlap", p, q)
			}
		}
	}
	if all > 1<<32 || all < 1<<32-100 {
		t.Errorf("they look in %d of 2^32 of the time: %v", all, parts)
	}
}

// Where no one peer mirrors all feeds of a host those that fetch there share its time,
// and where one does it has all of it.
func TestHostTimeIsSplitBetweenFetchers(t *testing.T) {
	c := sharedFetches(29, 1, nil)
	c.startOffering("a.example", map[feedring.PeerID][]int{"p00": {1, 2}, "p01": {2, 3}, "p02": {3, 4, 5, 6, 7}, "p03": {8}})
	c.run(time.Minute)
	if looks := c.fetchersAt("a.example"); len(looks) < 3 { // p00, p02 and p03 offer some alone
		t.Fatalf("%v look", looks)
	}
	c.partly(t, "a.example")
	c.crash("p02")
	c.run(time.Minute)
	c.partly(t, "a.example")
	var urls []string
	for f := range 8 {
		urls = append(urls, fmt.Sprintf("https://a.example/%d", f+1))
	}
	c.step(c.start("p04", urls...), Enter{Via: c.ids()})
	c.run(2 * time.Minute)
	if looks := c.fetchersAt("a.example"); !slices.Equal(looks, []feedring.PeerID{"p04"}) {
		t.Errorf("%v look, though one mirrors all", looks)
	}
	for url, turn := range c.nodes["p04"].turns {
		if turn.Slot > 0 && turn.Part != (Part{}) {
			t.Errorf("%s has a part, though one looks at all: %+v", url, turn)
		}
	}
}

// Those that fetch one feed in turn share its host's time too.
func TestFetchersSplitTheHostTime(t *testing.T) {
	c := sharedFetches(30, 3, nil)
	c.startOffering("a.example", map[feedring.PeerID][]int{"p00": {1}, "p01": {1, 2}, "p02": {1, 2}, "p03": {1}})
	c.run(time.Minute)
	c.partly(t, "a.example")
}

// On a local network ways differ by chance, and no turn moves for that.
func TestAssignmentIgnoresSmallLatencyChanges(t *testing.T) {
	c := sharedFetches(26, 1, nil)
	c.mirror(0, 3)
	c.run(15 * time.Second)
	c.look(t, "p00")
	for range 20 {
		c.step(c.nodes["p00"], OriginMeasured{URL: mirrored, Distance: 4 * time.Millisecond})
		c.step(c.nodes["p01"], OriginMeasured{URL: mirrored, Distance: time.Millisecond})
		c.run(10 * time.Second)
	}
	c.look(t, "p00")
	for range 20 {
		c.step(c.nodes["p00"], OriginMeasured{URL: mirrored, Distance: 12 * time.Millisecond})
	}
	c.run(15 * time.Second)
	c.look(t, "p01")
}
