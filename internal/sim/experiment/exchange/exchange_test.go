package exchange

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/feedring/feedring/internal/gossip"
)

// small is the set-up in little: as many subscribers of a feed.
func small() Config {
	c := Default()
	c.Seed, c.Nodes, c.Feeds, c.Each = 1, 80, 12, 6
	c.Intervals, c.Long = []time.Duration{16 * time.Hour}, 30*time.Hour
	c.Riders, c.Bounds = 8, []float64{100}
	return c
}

// What section 4 claims of exchange, and what we claim beside it, in little.
func TestClaims(t *testing.T) {
	c := small()
	row := c.row(run{every: 16 * time.Hour, length: c.Long, whole: true})
	alone, feedex, ours, hourly := row.Alone, row.FeedEx, row.Ours, row.Hourly
	if alone.Lag.Mean < 5*60 || alone.Missed.Mean < 0.2 {
		t.Errorf("alone: %+v", alone)
	}
	if feedex.Lag.Mean > alone.Lag.Mean/10 || feedex.Missed.Mean > 0.02 || feedex.Looks != alone.Looks {
		t.Errorf("FeedEx: %+v", feedex)
	}
	if r := feedex.Ratio(); r < 5 || r > 9 {
		t.Errorf("FeedEx checks %.1f times for each bundle", r)
	}
	if ours.Lag.Mean > 0.6*feedex.Lag.Mean || ours.Missed.Mean > 0.01 || ours.Looks > 1.01*feedex.Looks {
		t.Errorf("ours: %+v", ours)
	}
	if r := ours.Ratio(); r > 1.5 || ours.Repairs > 0 {
		t.Errorf("we announce %.2f times for each bundle, %d were missed", r, ours.Repairs)
	}
	if hourly.Lag.Mean < 25 || hourly.Lag.Mean > 35 || hourly.Missed.Mean > 0.02 || hourly.Looks > feedex.Looks/2 {
		t.Errorf("ours, once an hour: %+v", hourly)
	}
	if again := c.row(run{every: 16 * time.Hour, length: c.Long, whole: true}); !reflect.DeepEqual(row, again) {
		t.Error("another time it comes out otherwise")
	}
}

// Who forwards nothing is left to itself by FeedEx, and has all in ours.
func TestRiders(t *testing.T) {
	c := small()
	theirs, ours, kept := c.riders(FeedEx, 100, false), c.riders(Ours, 0, false), c.riders(Ours, 0, true)
	if theirs.Riding.Lag.Mean < 1.5*theirs.Others.Lag.Mean {
		t.Errorf("FeedEx: %+v", theirs)
	}
	if ours.Riding.Lag.Mean > theirs.Riding.Lag.Mean/5 || ours.Riding.Missed.Mean > 0.02 {
		t.Errorf("ours: %+v", ours)
	}
	if ours.Others.Missed.Mean > 0.01 || kept.Others.Missed.Mean < 0.05 {
		t.Errorf("with turns in vain that end others miss %.4f, with those that are kept %.4f", ours.Others.Missed.Mean, kept.Others.Missed.Mean)
	}
}

// When the only mirror of each feed is killed, its readers miss all from then on, unless one of them volunteers: then they
// come off as FeedEx's subscribers, of whom the others look on.
func TestKilledMirrors(t *testing.T) {
	c := small()
	theirs, ended, carried := c.killed(FeedEx, false).Score, c.killed(Ours, false).Score, c.killed(Ours, true).Score
	if ended.Missed.Mean < 0.9 {
		t.Errorf("without volunteers readers miss %.4f", ended.Missed.Mean)
	}
	if carried.Missed.Mean > 0.01 || theirs.Missed.Mean > 0.02 || carried.Lag.Mean > 0.6*theirs.Lag.Mean {
		t.Errorf("with volunteers %+v, FeedEx %+v", carried, theirs)
	}
	if carried.Looks > 1.01*theirs.Looks*40/39 {
		t.Errorf("volunteers look %.3f times an hour, FeedEx's subscribers %.3f times", carried.Looks, theirs.Looks)
	}
}

func TestConfig(t *testing.T) {
	if err := Default().Check(); err != nil {
		t.Error(err)
	}
	for _, change := range []func(*Config){
		func(c *Config) { c.Nodes = 1 }, func(c *Config) { c.Each = 71 }, func(c *Config) { c.Short = 0 },
		func(c *Config) { c.Riders = 161 }, func(c *Config) { c.Intervals = []time.Duration{0} },
	} {
		c := Default()
		if change(&c); c.Check() == nil {
			t.Errorf("%+v is played", c)
		}
	}
}

// The document of a feed is its last entries, and each batch comes at once.
func TestWorkload(t *testing.T) {
	feeds := newFeeds(1, 70, 5*24*time.Hour)
	total := 0.0
	for i := range feeds {
		f := &feeds[i]
		from, to := f.document(24 * time.Hour)
		if to-from != f.window || f.published[to-1] > 24*time.Hour || f.published[to] <= 24*time.Hour {
			t.Errorf("feed %d shows %d to %d of %d", i, from, to, len(f.published))
		}
		total += float64(len(f.published)) / 20 / f.rate
	}
	if mean := total / 70; mean < 0.9 || mean > 1.1 {
		t.Errorf("the feeds publish %.2f of their rates", mean)
	}
}

func TestNeighbours(t *testing.T) {
	subscriptions := subscribe(1, 161, 70, 20)
	links := byOverlap(1, subscriptions)
	in, out := 0.0, 0.0
	for i, near := range links {
		if len(near) < fewestNeighbours || len(near) > mostNeighbours {
			t.Errorf("%d has %d neighbours", i, len(near))
		}
		for _, j := range near {
			if !slices.Contains(links[j], i) {
				t.Errorf("%d is no neighbour of %d", i, j)
			}
			in += float64(overlap(subscriptions[i], subscriptions[j])) / float64(len(near))
		}
		out += float64(overlap(subscriptions[i], subscriptions[(i+1)%161]))
	}
	if in < 1.3*out {
		t.Errorf("neighbours have %.1f feeds in common, others %.1f", in/161, out/161)
	}
}

// A chain 0 - 1 - 2 - 3, where 3 alone subscribes to feed 1: what a node tells a
// neighbour counts the hops, and leaves out what that one told it.
func TestHops(t *testing.T) {
	subscriptions := [][]int{{0}, {0}, {0}, {1}}
	links := [][]int{{1}, {0, 2}, {1, 3}, {2}}
	told := hops(subscriptions, links, 2)
	for _, c := range []struct {
		who, by int
		want    []uint8
	}{{2, 3, []uint8{4, 0}}, {1, 2, []uint8{0, 1}}, {0, 1, []uint8{0, 2}}, {3, 2, []uint8{0, 4}}, {2, 1, []uint8{0, 4}}} {
		got := slices.Clone(told[c.who][c.by])
		for f := range got {
			got[f] = min(got[f], 4)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%d is told %v by %d, want %v", c.who, got, c.by, c.want)
		}
	}
}

func aFeedex(self int, d float64) *feedex {
	feeds := []feed{{published: make([]time.Duration, 20)}, {published: make([]time.Duration, 20)}}
	return &feedex{self: self, neighbours: []int{1, 2, 3}, mine: []uint8{0, 1}, held: newStore(feeds), deficit: map[int]float64{}, bound: d,
		interests: map[int][]uint8{1: {0, 4}, 2: {0, 0}, 3: {1, 1}}}
}

func asked(out []sending) (to []int) {
	for _, s := range out {
		if s.kind == check {
			to = append(to, s.to)
		}
	}
	return to
}

// Section 3.4: a bundle goes to who is interested, not to its path nor twice; old
// entries are taken out of it, and what comes back in a circle is dropped.
func TestFeedExForwards(t *testing.T) {
	n := aFeedex(0, 1000)
	out := n.step(0, 0, message{kind: looked, feed: 1, news: []int32{1, 2}})
	if got := asked(out); !slices.Equal(got, []int{2, 3}) {
		t.Errorf("of a feed that 1 is not interested in it asks %v", got)
	}
	id := out[0].bundle
	if out := n.step(0, 2, message{kind: seen, bundle: id}); len(out) > 0 {
		t.Errorf("a bundle that was seen is sent: %v", out)
	}
	out = n.step(0, 3, message{kind: unseen, bundle: id})
	if len(out) != 1 || out[0].kind != put || out[0].to != 3 || !slices.Equal(out[0].news, []int32{1, 2}) {
		t.Errorf("a bundle that was not seen: %v", out)
	}
	if out := n.step(0, 1, message{kind: check, bundle: id}); out[0].kind != seen {
		t.Error("its own bundle is not seen")
	}
	out = n.step(0, 1, message{kind: put, bundle: 9, feed: 0, news: []int32{3, 4}, path: []int{3}})
	if got := asked(out); !slices.Equal(got, []int{2}) {
		t.Errorf("with the path 3, 1 it asks %v", got)
	}
	if out := n.step(0, 2, message{kind: put, bundle: 11, feed: 0, news: []int32{3, 4}}); len(out) > 0 {
		t.Errorf("what is old goes on: %v", out)
	}
	out = n.step(0, 2, message{kind: put, bundle: 12, feed: 0, news: []int32{4, 5}})
	if b, _ := n.bundles.has(out[0].bundle); !slices.Equal(b.news, []int32{5}) || !slices.Equal(b.path, []int{2}) {
		t.Errorf("it goes on as %v", b)
	}
	if out := n.step(0, 2, message{kind: put, bundle: 13, feed: 0, news: []int32{9}, path: []int{0, 1}}); len(out) > 0 || n.held[0][9] != missing {
		t.Errorf("a circle: %v", out)
	}
}

// Section 3.5: entries count by hops, who gave most comes first, and nobody is
// given more than D beyond what it gave.
func TestFeedExDeficit(t *testing.T) {
	n := aFeedex(0, 2)
	n.step(0, 3, message{kind: put, bundle: 1, feed: 1, news: []int32{1, 2}})
	if n.deficit[3] != -1 {
		t.Errorf("two entries at one hop count %v", -n.deficit[3])
	}
	out := n.step(0, 0, message{kind: looked, feed: 0, news: []int32{1, 2}})
	if got := asked(out); !slices.Equal(got, []int{3, 1, 2}) {
		t.Errorf("it asks %v", got)
	}
	n.step(0, 1, message{kind: unseen, bundle: out[0].bundle})
	if n.deficit[1] != 2 {
		t.Errorf("after two entries it owes %v", n.deficit[1])
	}
	out = n.step(0, 0, message{kind: looked, feed: 0, news: []int32{3}})
	if got := asked(out); !slices.Equal(got, []int{3, 2}) {
		t.Errorf("beyond D it asks %v", got)
	}
	if out := n.step(0, 1, message{kind: unseen, bundle: out[0].bundle}); len(out) > 0 {
		t.Error("beyond D it gives")
	}
	n.step(0, 1, message{kind: put, bundle: 5, feed: 0, news: []int32{8}})
	if out = n.step(0, 0, message{kind: looked, feed: 0, news: []int32{9}}); !slices.Contains(asked(out), 1) {
		t.Error("who gives is not given to again")
	}
	n.rides = true
	if out := n.step(0, 0, message{kind: looked, feed: 0, news: []int32{10}}); len(out) > 0 {
		t.Error("a free rider forwards")
	}
}

// In ours polls that wait are answered by deficit: the free rider's last.
func TestOursServesRidersLast(t *testing.T) {
	ids, index := peerIDs(161)
	mesh := gossip.NewMesh(ids, spot)
	n := newOurs(0, ids, index, mesh, newStore([]feed{{published: make([]time.Duration, 20)}}), 1)
	near := mesh.Neighbours(ids[0])
	rider, giver, other := index[near[0]], index[near[1]], index[near[2]]
	n.links.Sent(near[0], 100)
	n.links.Received(near[1], 100)
	out := n.step(0, 0, message{kind: looked, feed: 0, news: []int32{1}})
	if got := asked(out); len(got) != len(near) {
		t.Errorf("the source tells %v of %v", got, near)
	}
	id := out[0].bundle
	if out := n.step(0, 5, message{kind: check, bundle: id, source: 5}); len(out) > 0 {
		t.Errorf("what it has it polls: %v", out)
	}
	if out := n.step(0, 7, message{kind: check, bundle: 9, source: 5}); len(out) != 1 || out[0].kind != unseen || out[0].to != 7 {
		t.Errorf("what it lacks it polls as %v", out)
	}
	var order []int
	take := func(out []sending) {
		for _, s := range out {
			if s.kind == put {
				order = append(order, s.to)
			}
		}
	}
	for _, p := range []int{other, rider, giver} {
		take(n.step(0, p, message{kind: unseen, bundle: id}))
	}
	for range 3 {
		take(n.step(0, 0, message{kind: served}))
	}
	if want := []int{other, giver, rider}; !slices.Equal(order, want) {
		t.Errorf("served are %v, want %v", order, want)
	}
}
