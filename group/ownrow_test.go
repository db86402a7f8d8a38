package group

import (
	"fmt"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
)

// However many feeds a peer has to catch up with, its row never promises what
// is not there: a feed that is behind is excepted, or the mark is not before the
// peer joined.
func TestMarkWaitsForBackfills(t *testing.T) {
	for name, past := range map[string]State{
		"newcomer":   {},
		"whole once": {From: testStart.Add(-30 * time.Hour)},
		"just whole": {From: testStart.Add(-time.Hour)},
	} {
		t.Run(name+", one publisher", func(t *testing.T) { catchesUp(t, past, 1) })
		t.Run(name+", a publisher for each feed", func(t *testing.T) { catchesUp(t, past, manyFeeds) })
	}
}

const manyFeeds = catalogue.MaxBackfill + 50

// catchesUp has a peer enter a group where so many publish many feeds.
func catchesUp(t *testing.T, past State, publishers int) {
	c := newCluster(1)
	n := c.start("me")
	n.disk = past
	n = c.start("me")
	rows := make([]*Row, publishers)
	for i := range rows {
		rows[i] = &Row{Group: n.m.group, Peer: feedring.PeerID(fmt.Sprint("p", i)), Incarnation: 1, Version: 1, Admitted: testStart}
	}
	var heads []feedring.Head
	for i := range manyFeeds {
		url, row := fmt.Sprintf("https://p.example/%03d", i), rows[i%publishers]
		row.Feeds = append(row.Feeds, feedring.Feed{URL: url})
		heads = append(heads, feedring.Head{Feed: feedring.FeedRef{URL: url, Publisher: row.Peer}, Position: feedring.Position{Epoch: 1, Sequence: 9}})
	}
	c.step(n, Enter{Via: []feedring.PeerID{"p0"}})
	c.run(10 * time.Millisecond)
	joined := c.now
	term := feedring.Term{Number: 1, Claimant: "p0"}
	c.step(n, Receive{From: "p0", Message: Admitted{
		Header: Header{Group: n.m.group, Term: term}, Claim: Claim{Group: n.m.group, Term: term}, Admitted: c.now, Rows: rows, Heads: heads,
	}})
	c.run(10 * time.Millisecond)
	for i := range heads {
		row := n.m.me().row
		for _, h := range heads[i:] {
			if !excepts(row, h.Feed) && row.From.Before(joined) {
				t.Fatalf("after %d feeds the row promises all of %s from %s on", i, h.Feed.URL, row.From)
			}
		}
		n.m.replicator.Heads[heads[i].Feed].InFlight = true
		n.m.replicator.Polls.Begin(heads[i].Feed.Publisher)
		c.step(n, Fetched{Feed: heads[i].Feed, From: "p0", Head: heads[i], Known: heads[i]})
	}
	if row := n.m.me().row; len(row.Backfilling) > 0 || row.From.After(c.now.Add(-23*time.Hour)) && past.From.IsZero() {
		t.Errorf("whole, it says %v, %v", row.From, row.Backfilling)
	}
}

// Who is polled may have dropped, by a clock that is ahead, what is fresh by the clock here:
// a row promises nothing from before, whether its mark had moved back by then or not.
func TestMarkIsNotBeforeWhatAHolderDropped(t *testing.T) {
	for name, first := range map[string]time.Duration{"a newcomer": 10 * time.Second, "who was whole": time.Hour} {
		c := newCluster(1)
		ids := c.group(2)
		n := c.nodes[ids[1]]
		c.run(first)
		if whole := n.m.me().row.From.Before(c.now.Add(-23 * time.Hour)); !whole {
			t.Fatalf("%s: the mark is %s", name, n.m.me().row.From)
		}
		ref := feedring.FeedRef{URL: c.nodes[ids[0]].feeds[0].URL, Publisher: ids[0]}
		dropped := c.now.Add(4*time.Minute - 24*time.Hour + 300*time.Millisecond)
		for _, at := range []time.Time{c.now.Add(-24 * time.Hour), dropped, dropped.Add(-time.Minute)} {
			n.m.replicator.Head(ref).InFlight = true
			n.m.replicator.Polls.Begin(ids[0])
			head := feedring.Head{Feed: ref, Position: n.m.replicator.Head(ref).Pos}
			c.step(n, Fetched{Feed: ref, From: ids[0], Head: head, Known: head, Dropped: at})
		}
		for _, later := range []time.Duration{0, 10 * time.Second, 3 * time.Minute} {
			c.run(later)
			if mark := n.m.me().row.From; mark.Before(dropped) || mark.After(dropped.Add(time.Second)) {
				t.Errorf("%s: what was seen up to %s is not here, and the mark is %s", name, dropped, mark)
			}
		}
		if disk := n.disk.From; disk.Before(dropped) {
			t.Errorf("%s: the mark on disk is %s", name, disk)
		}
	}
}

func excepts(row *Row, ref feedring.FeedRef) bool {
	return row.Lacks(func(of feedring.FeedRef) bool { return of == ref || of == catalogue.AllOf(ref.Publisher) })
}

// A peer that left, lost its store and comes back begins its rows below its own
// tombstone, which those who hold it would go on believing. Whoever admits it
// shows it the tombstone, and it goes above.
func TestLeftAndForgotten(t *testing.T) {
	c := newCluster(1)
	ids := c.group(3)
	gone := c.nodes[ids[2]]
	url := gone.feeds[0].URL
	c.crash(ids[2])
	c.step(c.start(ids[2]), Enter{Via: ids[:2]}) // its second incarnation
	c.run(5 * time.Second)
	c.step(gone, Depart{})
	c.run(5 * time.Second)
	gone.disk, gone.store = State{}, map[feedring.FeedRef][]testEntry{}
	c.step(c.start(ids[2]), Enter{Via: ids[:2]})
	c.run(5 * time.Second)
	c.publish(ids[2], url)
	c.run(5 * time.Second)
	for _, id := range ids {
		row := c.nodes[id].m.members[ids[2]].row
		if row.Left || row.Incarnation < 3 {
			t.Errorf("%s holds row %d.%d of it, left: %v", id, row.Incarnation, row.Version, row.Left)
		}
		if held := c.nodes[id].m.replicator.Heads[feedring.FeedRef{URL: url, Publisher: ids[2]}]; held == nil || held.Pos.IsZero() {
			t.Errorf("%s does not hold what it published", id)
		}
	}
}

// Two lives of a peer that lost its store between them make rows of one
// version, and some hold the one, some the other: their hashes of the catalogue
// are the same. Who meets both shows them to the peer, which goes above them.
func TestTwoRowsOfOneVersion(t *testing.T) {
	for i := range 8 { // by hash the earlier row is the greater one, or not
		c := newCluster(1)
		ids := c.group(3)
		owner, holder := c.nodes[ids[2]], c.nodes[ids[1]]
		now := owner.m.me().row
		before := *now
		before.From = before.From.Add(-time.Duration(i+1) * time.Hour)
		holder.m.replaceRow(holder.m.members[owner.id], &before)
		c.step(holder, Receive{From: ids[0], Message: Rows{Header: owner.m.header(), Rows: []*Row{now}}})
		c.run(time.Second)
		made := owner.m.me().row
		if made.Incarnation == now.Incarnation {
			t.Errorf("%d: it goes on in incarnation %d", i, made.Incarnation)
		}
		for _, id := range ids {
			if row := c.nodes[id].m.members[owner.id].row; catalogue.Compare(row, made) != 0 {
				t.Errorf("%d: %s holds row %d.%d from %s, not %d.%d from %s", i, id, row.Incarnation, row.Version, row.From, made.Incarnation, made.Version, made.From)
			}
		}
	}
}

// A peer that keeps copies for longer than a row can say takes its own row, as
// others read it, for its own.
func TestOwnRowAsItTravels(t *testing.T) {
	c := newCluster(1)
	c.alter = func(cfg *Config) { cfg.Keep = 10 * 366 * 24 * time.Hour }
	ids := c.group(2)
	n := c.nodes[ids[1]]
	row := *n.m.me().row
	row.Keep = 366 * 24 * time.Hour
	c.step(n, Receive{From: ids[0], Message: Rows{Header: n.m.header(), Rows: []*Row{&row}}})
	c.run(time.Second)
	if is := n.m.me().row; is.Incarnation != row.Incarnation {
		t.Errorf("it goes on in incarnation %d", is.Incarnation)
	}
}

// No incarnation is told before it is on disk: neither that of a new life, though
// an answer comes to what an earlier one asked, nor one above a row that this
// peer does not remember. The next life would use it again.
func TestIncarnationIsOnDiskFirst(t *testing.T) {
	manager := feedring.Term{Number: 1, Claimant: "p0"}
	m, err := New(Config{Theme: testTheme, Self: "p1", Refresh: 1e9, Attempts: 3, Freshness: 1e12}, State{Term: manager, Highest: 1, Incarnation: 1}, testStart)
	if err != nil {
		t.Fatal(err)
	}
	told := uint64(0)
	step := func(in Input) {
		for _, out := range m.Step(testStart, in) {
			s, ok := out.(*Send)
			if !ok {
				continue
			}
			rows, _ := s.Message.(Rows)
			for _, r := range rows.Rows {
				if r.Peer == "p1" {
					told = r.Incarnation
				}
			}
		}
		if told > m.disk.Incarnation {
			t.Fatalf("it tells incarnation %d, and %d is on disk", told, m.disk.Incarnation)
		}
	}
	h := Header{Group: m.group, Term: manager}
	admitted := Receive{From: "p0", Message: Admitted{
		Header: h, Claim: Claim{Group: m.group, Term: manager}, Admitted: testStart,
		Rows: []*Row{{Group: m.group, Peer: "p0", Incarnation: 1, Version: 1, Admitted: testStart}},
	}}
	step(admitted)
	step(Enter{Via: []feedring.PeerID{"p0"}})
	step(admitted)
	step(Persisted{Token: m.token})
	step(admitted)
	if told != 2 {
		t.Errorf("it tells incarnation %d", told)
	}
	step(Receive{From: "p0", Message: Rows{Header: h, Rows: []*Row{{Group: m.group, Peer: "p1", Incarnation: 7, Version: 1}}}})
	step(Receive{From: "p0", Message: RowsWanted{Header: h}})
	step(Receive{From: "p0", Message: Beacon{Header: h, Claim: Claim{Group: m.group, Term: manager}, Number: 1, Acknowledged: 1, Catalogue: 1}})
	step(Persisted{Token: m.token})
	step(Receive{From: "p0", Message: RowsWanted{Header: h}})
	if told != 8 {
		t.Errorf("it tells incarnation %d at last", told)
	}
}

// A peer whose clock was ahead, and set back before it started again, does not
// promise what it dropped by the wrong date.
func TestMarkKeepsToWhatWasDropped(t *testing.T) {
	whole := testStart.Add(-30 * time.Hour)
	for name, past := range map[string]State{
		"by a clock some hours ahead": {From: whole, Dropped: testStart.Add(-time.Hour)},
		"by a clock a day ahead":      {From: whole, Dropped: testStart.Add(6 * time.Hour)},
		"a newcomer":                  {Dropped: testStart.Add(6 * time.Hour)},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(1)
			n := c.start("me")
			n.disk = past
			n = c.start("me")
			if n.m.me().row.From.Before(past.Dropped) {
				t.Errorf("it begins with %s", n.m.me().row.From)
			}
			c.step(n, Enter{Via: []feedring.PeerID{"p0"}})
			c.run(10 * time.Millisecond)
			term := feedring.Term{Number: 1, Claimant: "p0"}
			row := &Row{Group: n.m.group, Peer: "p0", Incarnation: 1, Version: 1, Admitted: testStart}
			c.step(n, Receive{From: "p0", Message: Admitted{
				Header: Header{Group: n.m.group, Term: term}, Claim: Claim{Group: n.m.group, Term: term}, Admitted: c.now, Rows: []*Row{row},
			}})
			c.run(3 * n.m.cfg.Refresh)
			if got := n.m.me().row; got.Admitted.IsZero() || got.From.Before(past.Dropped) || got.From.After(past.Dropped.Add(time.Second)) {
				t.Errorf("its mark is %s, and it dropped all before %s", got.From, past.Dropped)
			}
		})
	}
}

// What was dropped by a clock that was ahead is believed for a day to come, and
// no longer than it is fresh.
func TestNoted(t *testing.T) {
	now := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	const fresh = 5 * time.Minute
	for _, test := range []struct {
		name string
		at   time.Time
		want time.Time
	}{
		{"nothing", time.Time{}, time.Time{}},
		{"not fresh any more", now.Add(-fresh), time.Time{}},
		{"fresh", now.Add(-time.Minute), now.Add(-time.Minute)},
		{"to come", now.Add(4 * time.Hour), now.Add(4 * time.Hour)},
		{"years to come", now.AddDate(10, 0, 0), now},
	} {
		if got := Noted(test.at, now, fresh); !got.Equal(test.want) {
			t.Errorf("%s: %s, not %s", test.name, got, test.want)
		}
	}
}
