package peer

import (
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
)

// TestOfferedAgain: a theme that was left and is offered again goes on from the
// terms and heads of before, not from those that the peer started with.
func TestOfferedAgain(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	m, err := New(Config{Self: "p", Refresh: time.Second, Attempts: 3, Freshness: 24 * time.Hour, Seed: 1}, State{}, now)
	if err != nil {
		t.Fatal(err)
	}
	feed := feedring.Feed{URL: "https://x.org/", Provider: "x.org"}
	with := Offer{Feeds: map[feedring.Theme][]feedring.Feed{"sport": {feed}}}
	var last group.State
	var first []feedring.Position
	var slow bool // what is appended comes to the disk later
	var late []Input
	step := func(in Input) {
		todo := []Input{in}
		for len(todo) > 0 {
			outs := m.Step(now, todo[0])
			todo = todo[1:]
			for _, out := range outs {
				switch o := out.(type) {
				case group.Persist:
					if o.State.Term.Number < last.Term.Number || o.State.Highest < last.Highest || o.State.Incarnation < last.Incarnation {
						t.Errorf("the state fell from %+v to %+v", last, o.State)
					}
					last = o.State
					todo = append(todo, In{o.Group, group.Persisted{Token: o.Token}})
				case group.Append:
					first = append(first, o.First)
					done := In{o.Group, group.Appended{Batch: o.Batch, Head: feedring.Head{Feed: o.Feed, Position: o.First}}}
					if slow {
						late = append(late, done)
					} else {
						todo = append(todo, done)
					}
				}
			}
		}
	}
	settle := func() {
		for range 100 {
			now = now.Add(100 * time.Millisecond)
			step(Tick{})
		}
		if m.View().Roles["sport"].Role != feedring.RoleManager {
			t.Fatalf("not settled: %+v", m.View().Roles)
		}
	}
	publish := func(n uint64) {
		step(In{feedring.Theme("sport").Group(), group.Publish{Batch: n, URL: feed.URL, Entries: 1}})
	}
	step(with)
	settle()
	publish(1)
	before := last
	step(Offer{})
	settled := m.Fingerprint()
	step(with)
	if m.Clone().Fingerprint() == settled {
		t.Error("offered again, and nothing changed")
	}
	settle()
	publish(2)
	if last.Highest <= before.Highest || last.Incarnation <= before.Incarnation {
		t.Errorf("after %+v came %+v", before, last)
	}
	// A batch that is on its way to the disk while the theme is left counts too,
	// whether it comes there before the theme is offered again or after.
	for _, again := range []bool{false, true} {
		slow = true
		publish(uint64(len(first) + 1))
		slow = false
		step(Offer{})
		if again {
			step(with)
			settle()
		}
		step(late[len(late)-1])
		if !again {
			step(with)
			settle()
		}
		publish(uint64(len(first) + 1))
	}
	for i, at := range first {
		if at.Epoch != first[0].Epoch || at.Sequence != uint64(i+1) {
			t.Errorf("positions %v", first)
		}
	}
}
