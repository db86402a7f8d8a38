package client_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client"
)

// seen dates an entry: what is seen a while ago should be at every provider.
func seen(at time.Time) func(*feedring.Entry) {
	return func(e *feedring.Entry) {
		e.Published = at.UTC().Truncate(time.Second)
		e.Seen = e.Published
	}
}

// An empty answer stands if a second provider says the same, if the grant names no
// second, and not if the second has something or says nothing.
func TestEmptyAnswerNeedsASecond(t *testing.T) {
	for _, c := range []struct {
		name    string
		entries int
		prepare func(first, second, third *fakePeer) []*fakePeer // the providers of the grant
		want    feedring.Status
		missing []string
		shown   int
		asked   [3]int
	}{
		{"all say so", 0, func(a, b, c *fakePeer) []*fakePeer { return []*fakePeer{a, b, c} }, feedring.Answered, nil, 0, [3]int{1, 0, 1}},
		{"the two least loaded keep all back", 3, func(a, b, c *fakePeer) []*fakePeer {
			a.hides, b.hides = true, true
			return []*fakePeer{a, b, c}
		}, feedring.Answered, nil, 3, [3]int{1, 0, 1}},
		{"there is no second", 3, func(a, _, _ *fakePeer) []*fakePeer { a.hides = true; return []*fakePeer{a} }, feedring.Answered, nil, 0, [3]int{1, 0, 0}},
		{"the first keeps all back", 3, func(a, b, _ *fakePeer) []*fakePeer { a.hides = true; return []*fakePeer{a, b} }, feedring.Answered, nil, 3, [3]int{1, 1, 0}},
		{"the second cannot be reached", 3, func(a, b, c *fakePeer) []*fakePeer {
			a.hides, c.down = true, true
			return []*fakePeer{a, b, c}
		}, feedring.Answered, nil, 3, [3]int{1, 1, 0}},
		{"no other can be reached", 3, func(a, b, c *fakePeer) []*fakePeer {
			a.hides, b.down, c.down = true, true, true
			return []*fakePeer{a, b, c}
		}, feedring.Incomplete, []string{"news"}, 0, [3]int{1, 0, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				entry, publisher := w.peer(2), w.peer(3)
				peers := []*fakePeer{w.peer(4), w.peer(5), w.peer(6)}
				providers := c.prepare(peers[0], peers[1], peers[2])
				entry.final = w.answers(themes{"news": providers})
				for i := range c.entries {
					w.publish(publisher, "news", fmt.Sprint(i))
				}
				answer, err := w.client(entry).Query(within(t, 30*time.Second), feedring.Query{Theme: "news"})
				if err != nil {
					t.Fatal(err)
				}
				var asked [3]int
				for i, p := range peers {
					p.change(func(p *fakePeer) { asked[i] = p.served })
				}
				if answer.Final.Status != c.want || !slices.Equal(answer.Final.Missing, c.missing) || len(answer.Entries) != c.shown || asked != c.asked {
					t.Errorf("%v, missing %v, %d entries, asked %v", answer.Final.Status, answer.Final.Missing, len(answer.Entries), asked)
				}
				if c.shown > 0 && slices.ContainsFunc(answer.Final.Grants, func(g feedring.Grant) bool { return g.Provider.ID == peers[0].id }) {
					t.Error("whoever kept entries back counts as who served")
				}
			})
		})
	}
}

// A provider that kept back what should be everywhere is asked last for an hour; one
// that lacks what is a moment old is not.
func TestWhoKeptEntriesBackIsAskedLast(t *testing.T) {
	for _, c := range []struct {
		age  time.Duration
		last bool
	}{{2 * time.Minute, true}, {time.Second, false}} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			entry, liar, other := w.peer(2), w.peer(3), w.peer(4)
			liar.hides = true
			entry.final = w.answers(themes{"news": {liar, other}})
			w.publish(other, "news", "old", seen(time.Now().Add(-c.age)))
			reader := w.client(entry)
			ask := func() (served int) {
				answer, err := reader.Query(within(t, 30*time.Second), feedring.Query{Theme: "news"})
				if err != nil || len(answer.Entries) != 1 {
					t.Fatalf("%d entries, %v", len(answer.Entries), err)
				}
				liar.change(func(p *fakePeer) { served = p.served })
				return served
			}
			if got := ask(); got != 1 {
				t.Fatalf("the first was asked %d times", got)
			}
			if got := ask(); (got == 1) != c.last {
				t.Errorf("an entry of %v: asked %d times in two queries", c.age, got)
			}
			time.Sleep(2 * time.Hour)
			before := 0
			liar.change(func(p *fakePeer) { before = p.served })
			if got := ask(); got != before+1 {
				t.Error("it is not asked again after an hour")
			}
		})
	}
}

// A follower whose first provider says that there is nothing goes on at one that has
// something, and is shown what comes later.
func TestFollowerLeavesWhoKeepsEntriesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		entry, liar, other := w.peer(2), w.peer(3), w.peer(4)
		liar.hides = true
		entry.final = w.answers(themes{"news": {liar, other}})
		for i := range 3 {
			w.publish(other, "news", fmt.Sprint("old ", i), seen(time.Now().Add(-time.Hour)))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		go func() {
			time.Sleep(10 * time.Second)
			w.publish(other, "news", "new")
		}()
		var shown []string
		err := w.client(entry).Follow(ctx, feedring.Query{Theme: "news"}, client.FollowOptions{}, func(e feedring.Entry, _ feedring.Cursor) error {
			if shown = append(shown, e.Title); e.Title == "new" {
				return client.ErrEnough
			}
			return nil
		})
		slices.Sort(shown)
		if err != nil || !slices.Equal(shown, []string{"new", "old 0", "old 1", "old 2"}) {
			t.Errorf("shown %q, %v", shown, err)
		}
	})
}
