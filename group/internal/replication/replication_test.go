package replication

import (
	"slices"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
)

const url = "https://a.example/rss"

// fake is a membership of one peer that collects what it is to do.
type fake struct {
	Membership
	now time.Time
	out []Output
}

func (f *fake) Now() time.Time                                                     { return f.now }
func (f *fake) Large() bool                                                        { return false }
func (f *fake) Emit(o Output)                                                      { f.out = append(f.out, o) }
func (f *fake) Acknowledged() bool                                                 { return false }
func (f *fake) Present() []feedring.PeerID                                         { return nil }
func (f *fake) Neighbours() []feedring.PeerID                                      { return nil }
func (f *fake) Announce(feedring.Head, Answer, []feedring.PeerID, feedring.PeerID) {}
func (f *fake) EpochChanged(string, uint64)                                        {}

// Member knows this peer alone.
func (f *fake) Member(p feedring.PeerID) (m catalogue.Member) {
	if p == "p1" {
		m.Row = &catalogue.Row{Peer: p, Feeds: []feedring.Feed{{URL: url}}}
	}
	return m
}

// take returns what was to be done since the last take.
func (f *fake) take() []Output {
	out := f.out
	f.out = nil
	return out
}

func newReplicator() (*Replicator, *fake) {
	f := &fake{now: time.Unix(1000, 0)}
	r := New(Config{Group: feedring.Theme("news").Group(), Self: "p1", Refresh: time.Minute, Freshness: time.Hour, Retention: time.Hour}, f)
	r.Describe([]feedring.Feed{{URL: url}})
	return r, f
}

// A batch waits for the group, and for the batch before it to be on disk: no position is given twice.
func TestOneBatchAtATimeGetsPositions(t *testing.T) {
	r, f := newReplicator()
	r.Publish(Publish{Batch: 1, URL: url, Entries: 2})
	r.Publish(Publish{Batch: 2, URL: url, Entries: 1})
	if out := f.take(); len(out) > 0 {
		t.Fatalf("before it is in the group: %v", out)
	}
	r.Enter()
	first, ok := f.out[0].(Append)
	if out := f.take(); !ok || len(out) != 1 || first.Batch != 1 || first.First != (feedring.Position{Epoch: 1000, Sequence: 1}) {
		t.Fatalf("then %v", out)
	}
	r.OnAppended(Appended{Batch: 1, Head: feedring.Head{Feed: first.Feed, Position: feedring.Position{Epoch: 1000, Sequence: 2}}})
	i := slices.IndexFunc(f.out, func(o Output) bool { a, ok := o.(Append); return ok && a.Batch == 2 })
	if i < 0 || f.out[i].(Append).First.Sequence != 3 {
		t.Errorf("after the first is on disk: %v", f.out)
	}
}

// A batch that cannot wait gets no positions, and its publisher is told so.
func TestBatchesThatGetNoPositions(t *testing.T) {
	r, f := newReplicator()
	r.Publish(Publish{Batch: 1, URL: "https://other.example/", Entries: 1})
	if out := f.take(); len(out) != 1 || out[0].(Unplaced).Full {
		t.Errorf("of a feed that the row does not name: %v", out)
	}
	for b := range uint64(MaxQueue) {
		r.Publish(Publish{Batch: b, URL: url, Entries: 1})
	}
	if out := f.take(); len(out) > 0 {
		t.Errorf("while there is room: %v", out)
	}
	r.Publish(Publish{Batch: MaxQueue, URL: url, Entries: 1})
	if out := f.take(); len(out) != 1 || !out[0].(Unplaced).Full {
		t.Errorf("beyond: %v", out)
	}
	r.Describe(nil)
	if out := f.take(); len(out) != MaxQueue {
		t.Errorf("the feed is taken out, and %d of %d batches are refused", len(out), MaxQueue)
	}
}

// A holder's report of what it dropped is believed within bounds, and never of the publisher itself.
func TestDroppedIsBounded(t *testing.T) {
	fresh := time.Unix(10_000, 0)
	f := Fetch{Feed: feedring.FeedRef{URL: url, Publisher: "p1"}, From: "p2", Fresh: fresh}
	own, proof, gap := f, f, f
	own.From, proof.Proof, gap.Gap = "p1", true, fresh.Add(time.Minute)
	for _, c := range []struct {
		name  string
		fetch Fetch
		told  time.Time
		want  time.Time
	}{
		{"clocks differ", f, fresh.Add(droppedSlack), time.Time{}},
		{"a report", f, fresh.Add(time.Minute), fresh.Add(time.Minute)},
		{"a report of too much", f, fresh.Add(time.Hour), fresh.Add(droppedMost)},
		{"by the publisher", own, fresh.Add(time.Minute), time.Time{}},
		{"a poll for proof", proof, fresh.Add(time.Minute), time.Time{}},
		{"a gap that is allowed", gap, fresh.Add(time.Minute), time.Time{}},
	} {
		if got := c.fetch.Dropped(c.told); !got.Equal(c.want) {
			t.Errorf("%s: %v, not %v", c.name, got, c.want)
		}
	}
}
