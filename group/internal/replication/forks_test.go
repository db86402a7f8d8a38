package replication

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
	"github.com/feedring/feedring/internal/standing"
)

// members is a group of p1, which is this peer, p2 and p3; p2 publishes.
type members struct {
	fake
	polled []feedring.FeedRef
	epoch  uint64 // of this peer's own feed, as its row has it
	of     uint64 // of p2's
}

func (m *members) Member(p feedring.PeerID) (of catalogue.Member) {
	if p == "p1" || p == "p2" || p == "p3" {
		of.Row = &catalogue.Row{Peer: p, Feeds: []feedring.Feed{{URL: url, Epoch: m.of}}}
	}
	return of
}
func (m *members) Neighbours() []feedring.PeerID               { return []feedring.PeerID{"p2", "p3"} }
func (m *members) Manager() feedring.PeerID                    { return "p3" }
func (m *members) Jitter(time.Duration) time.Duration          { return 0 }
func (m *members) PollAt(ref feedring.FeedRef, _ time.Time)    { m.polled = append(m.polled, ref) }
func (m *members) PollSet(feedring.FeedRef) bool               { return false }
func (m *members) EpochChanged(_ string, epoch uint64)         { m.epoch = epoch }
func (m *members) Quota(feedring.PeerID) (none standing.Quota) { return none }
func (m *members) Credit(feedring.PeerID, int)                 {}
func (m *members) Dropped(time.Time)                           {}

func newMembers() (*Replicator, *members) {
	m := &members{fake: fake{now: time.Unix(1000, 0)}, of: 7}
	r := New(Config{Group: feedring.Theme("news").Group(), Self: "p1", Refresh: time.Minute, Freshness: time.Hour, Retention: time.Hour}, m)
	r.Describe([]feedring.Feed{{URL: url}})
	return r, m
}

// later is when evidence is too old.
var later = time.Unix(1000, 0).Add(30 * 24 * time.Hour)

var theirs = feedring.FeedRef{URL: url, Publisher: "p2"}

func headAt(epoch, sequence uint64, hash byte) feedring.Head {
	return feedring.Head{Feed: theirs, Position: feedring.Position{Epoch: epoch, Sequence: sequence}, Hash: [32]byte{hash}}
}

// compared are the heads that the driver is to compare.
func comparisons(out []Output) (heads []feedring.Head) {
	for _, o := range out {
		if d, ok := o.(Compare); ok && d.From == "p3" {
			heads = append(heads, d.Head)
		}
	}
	return heads
}

func TestOtherHashesAreCompared(t *testing.T) {
	r, m := newMembers()
	r.Holding([]feedring.Head{headAt(7, 5, 1)})
	for _, c := range []struct {
		name    string
		told    feedring.Head
		from    feedring.PeerID
		compare bool
	}{
		{"the same", headAt(7, 5, 1), "p3", false},
		{"another entry at the position that is held", headAt(7, 5, 2), "p3", true},
		{"an entry before it, which the store knows", headAt(7, 4, 2), "p3", true},
		{"no hash", headAt(7, 5, 0), "p3", false},
		{"more than is held", headAt(7, 6, 2), "p3", false},
		{"another epoch", headAt(6, 5, 2), "p3", false},
		{"by a stranger", headAt(7, 5, 2), "p4", false},
	} {
		m.take()
		r.OnAdvertised(c.told, c.from)
		if got := comparisons(m.take()); (len(got) > 0) != c.compare {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// Evidence goes on disk before it counts. Then the log ends before the fork, the members are told once, and who tells
// of what comes after it is shown the evidence, once in a period. The next epoch goes on.
func TestLogEndsBeforeItsFork(t *testing.T) {
	r, m := newMembers()
	r.Holding([]feedring.Head{headAt(7, 5, 1)})
	fork := feedring.Fork{Feed: theirs, At: feedring.Position{Epoch: 7, Sequence: 4}}
	r.OnEvidence(feedring.Fork{Feed: feedring.FeedRef{URL: url, Publisher: "p4"}, At: fork.At}, "p3")
	r.OnEvidence(fork, "p4")
	if out := m.take(); len(out) > 0 {
		t.Errorf("evidence about, or of, a stranger is taken: %v", out)
	}
	r.OnEvidence(fork, "p3")
	if out := m.take(); !reflect.DeepEqual(out, []Output{Learn{Group: r.cfg.Group, Fork: fork, From: "p3"}}) {
		t.Fatalf("evidence leads to %v", out)
	}
	r.OnForked(Forked{Until: later, Feed: theirs, At: fork.At, Last: [32]byte{9}, From: "p3"})
	show := func(to ...feedring.PeerID) []Output {
		return []Output{Show{Group: r.cfg.Group, Feed: theirs, At: fork.At, To: to}}
	}
	if out := m.take(); !reflect.DeepEqual(out, show("p2")) {
		t.Errorf("then %v", out)
	}
	if h := r.All(); len(h) != 1 || h[0].Position.Sequence != 3 || h[0].Hash != [32]byte{9} || !r.Forked("p2") || r.Forked("p3") {
		t.Errorf("%v is held, forked: %v", h, r.Forked("p2"))
	}
	r.OnEvidence(fork, "p3")
	r.OnForked(Forked{Until: later, Feed: theirs, At: fork.At})
	r.OnForked(Forked{Until: later, Feed: theirs, At: feedring.Position{Epoch: 7, Sequence: 5}})
	r.OnAdvertised(headAt(7, 9, 3), "p3")
	if out := m.take(); len(out) > 0 || len(m.polled) > 0 {
		t.Errorf("what is known leads to %v, and a poll of %v", out, m.polled)
	}
	m.now = m.now.Add(time.Minute)
	r.OnAdvertised(headAt(7, 9, 3), "p3")
	r.OnAdvertised(headAt(7, 4, 3), "p3")
	if out := m.take(); !reflect.DeepEqual(out, show("p3")) || len(m.polled) > 0 {
		t.Errorf("who does not know of it a period later: %v", out)
	}
	r.Holding([]feedring.Head{headAt(7, 5, 1)})
	if h := r.All(); h[0].Position.Sequence != 3 {
		t.Errorf("what the store holds beyond the fork counts: %v", h)
	}
	r.OnForked(Forked{Until: later, Feed: theirs, At: feedring.Position{Epoch: 7, Sequence: 2}, From: "p3"})
	if h := r.All(); h[0].Position.Sequence != 1 {
		t.Errorf("an earlier fork does not count: %v", h)
	}
	m.of = 8
	if r.OnAdvertised(headAt(8, 1, 4), "p2"); len(m.polled) != 1 || r.Forked("p2") {
		t.Errorf("the next epoch: polled %v, forked %v", m.polled, r.Forked("p2"))
	}
}

// The first entry of an epoch may be the fork: nothing of the epoch counts, for nobody.
func TestForkAtTheFirstEntry(t *testing.T) {
	for _, held := range []feedring.Head{headAt(7, 1, 1), headAt(6, 9, 1)} {
		r, m := newMembers()
		r.Holding([]feedring.Head{held})
		r.OnForked(Forked{Until: later, Feed: theirs, At: feedring.Position{Epoch: 7, Sequence: 1}, Known: true})
		if h := r.All(); len(h) != 1 || h[0].Position != (feedring.Position{Epoch: 7}) || len(m.take()) > 0 {
			t.Errorf("from %v: %v is held", held.Position, h)
		}
	}
}

// A publisher whose disk was put back is shown its own fork, and goes on in another epoch.
func TestPublisherEndsItsFork(t *testing.T) {
	r, m := newMembers()
	own := feedring.FeedRef{URL: url, Publisher: "p1"}
	r.Holding([]feedring.Head{{Feed: own, Position: feedring.Position{Epoch: 5000, Sequence: 6}, Hash: [32]byte{1}}})
	r.Enter()
	r.OnAdvertised(feedring.Head{Feed: own, Position: feedring.Position{Epoch: 5000, Sequence: 6}, Hash: [32]byte{2}}, "p3")
	if got := comparisons(m.take()); len(got) != 1 {
		t.Fatalf("another entry of its own is not compared: %v", got)
	}
	r.OnForked(Forked{Until: later, Feed: own, At: feedring.Position{Epoch: 5000, Sequence: 6}})
	if m.epoch != 5001 {
		t.Errorf("it goes on in epoch %d", m.epoch)
	}
	m.take()
	r.Publish(Publish{Batch: 1, URL: url, Entries: 1})
	i := slices.IndexFunc(m.out, func(o Output) bool { _, ok := o.(Append); return ok })
	if i < 0 || m.out[i].(Append).First != (feedring.Position{Epoch: 5001, Sequence: 1}) {
		t.Errorf("its next entry: %v", m.out)
	}
}

// Copies of a machine do not share what they know of forks.
func TestForksAreCloned(t *testing.T) {
	r, m := newMembers()
	r.OnForked(Forked{Until: later, Feed: theirs, At: feedring.Position{Epoch: 7, Sequence: 4}, Known: true})
	c := r.Clone(m)
	c.OnForked(Forked{Until: later, Feed: theirs, At: feedring.Position{Epoch: 7, Sequence: 2}})
	if r.forks[theirs].at.Sequence != 4 || len(r.shown) > 0 || len(c.shown) == 0 {
		t.Errorf("the first one has %+v, shown %v", r.forks[theirs], r.shown)
	}
}

// A fork ends with its evidence: then heads count whole again, and it takes no place. Of too many the one that ends first
// is forgotten, and so is whom evidence was sent to a period ago.
func TestForksAreForgotten(t *testing.T) {
	r, _ := newMembers()
	at := feedring.Position{Epoch: 7, Sequence: 4}
	for i := range 2 * maxForks {
		r.OnForked(Forked{Feed: feedring.FeedRef{URL: url, Publisher: feedring.PeerID(rune(0x4e00 + i))}, At: at, Until: later.Add(time.Duration(i) * time.Second)})
	}
	if len(r.forks) != maxForks || r.forks[feedring.FeedRef{URL: url, Publisher: feedring.PeerID(rune(0x4e00))}] != nil {
		t.Errorf("%d forks are known", len(r.forks))
	}
	if len(r.shown) > maxShown {
		t.Errorf("%d times it is noted who was sent evidence", len(r.shown))
	}
	r, m := newMembers()
	r.Holding([]feedring.Head{headAt(7, 5, 1)})
	r.OnForked(Forked{Feed: theirs, At: at, Until: later})
	m.now = later
	if r.OnAdvertised(headAt(7, 9, 3), "p3"); r.Forked("p2") || len(m.polled) != 1 || m.polled[0] != theirs {
		t.Errorf("a fork that is too old counts: forked %v, polled %v", r.Forked("p2"), m.polled)
	}
	r.OnForked(Forked{Feed: feedring.FeedRef{URL: url, Publisher: "p3"}, At: at, Until: later.Add(time.Hour)})
	if len(r.forks) != 1 || len(r.shown) > 2 {
		t.Errorf("what is too old is kept: %d forks, shown to %d", len(r.forks), len(r.shown))
	}
}
