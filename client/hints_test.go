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

func titled(titles ...string) func(*feedring.Entry) bool {
	return func(e *feedring.Entry) bool { return slices.Contains(titles, e.Title) }
}

// An answer that lacks what a hint of its grant names is completed by whoever has it; the
// manager, which told the hint, is asked first. Hints that nobody makes good change nothing.
func TestAnswersLackNoHint(t *testing.T) {
	for _, c := range []struct {
		name    string
		query   feedring.Query
		prepare func(w *world, first, second, manager *fakePeer)
		want    feedring.Status
		shown   int
		asked   [3]int // for entries
		summed  [3]int // for a summary
	}{
		{"nothing is kept back", feedring.Query{}, func(*world, *fakePeer, *fakePeer, *fakePeer) {}, feedring.Answered, 6, [3]int{1, 0, 0}, [3]int{}},
		{"one entry is kept back", feedring.Query{}, func(_ *world, a, _, _ *fakePeer) { a.omits = titled("2") }, feedring.Answered, 6, [3]int{1, 0, 1}, [3]int{}},
		{"every second entry is kept back", feedring.Query{}, func(_ *world, a, _, _ *fakePeer) { a.omits = titled("0", "2", "4") }, feedring.Answered, 6, [3]int{1, 0, 1}, [3]int{}},
		{"two providers agree", feedring.Query{}, func(_ *world, a, b, _ *fakePeer) { a.omits, b.omits = titled("2"), titled("2") }, feedring.Answered, 6, [3]int{1, 0, 1}, [3]int{}},
		{"the manager cannot be reached", feedring.Query{}, func(_ *world, a, _, m *fakePeer) { a.omits, m.down = titled("2"), true }, feedring.Answered, 6, [3]int{1, 1, 0}, [3]int{}},
		{"nobody else can be reached", feedring.Query{}, func(_ *world, a, b, m *fakePeer) { a.omits, b.down, m.down = titled("2"), true, true }, feedring.Incomplete, 5, [3]int{1, 0, 0}, [3]int{}},
		{"the hint is made up", feedring.Query{}, func(w *world, _, _, _ *fakePeer) {
			w.hints = func(theme feedring.Theme) *feedring.Hints {
				h := w.holds(theme)
				h.Copies = append([]feedring.Hint{{Copy: 1, Published: time.Now()}}, h.Copies...)
				return h
			}
		}, feedring.Answered, 6, [3]int{1, 0, 1}, [3]int{}},
		{"as many as were asked for, and the rest is older", feedring.Query{Limit: 3}, func(*world, *fakePeer, *fakePeer, *fakePeer) {}, feedring.Answered, 3, [3]int{1, 0, 0}, [3]int{}},
		{"as many as were asked for, and one is kept back", feedring.Query{Limit: 3}, func(_ *world, a, _, _ *fakePeer) { a.omits = titled("4") }, feedring.Answered, 3, [3]int{1, 0, 1}, [3]int{}},
		{"with words, nothing is kept back", feedring.Query{Words: "0 OR 2"}, func(*world, *fakePeer, *fakePeer, *fakePeer) {}, feedring.Answered, 2, [3]int{1, 0, 0}, [3]int{0, 0, 1}},
		{"with words, one is kept back", feedring.Query{Words: "0 OR 2"}, func(_ *world, a, _, _ *fakePeer) { a.omits = titled("2") }, feedring.Answered, 2, [3]int{1, 0, 1}, [3]int{0, 0, 1}},
		{"with words, both are kept back", feedring.Query{Words: "0 OR 2"}, func(_ *world, a, _, _ *fakePeer) { a.hides = true }, feedring.Answered, 2, [3]int{1, 0, 1}, [3]int{0, 0, 1}},
		{"with words that nothing has", feedring.Query{Words: "9"}, func(*world, *fakePeer, *fakePeer, *fakePeer) {}, feedring.Answered, 0, [3]int{1, 0, 0}, [3]int{0, 0, 1}},
		{"with words, of a manager of a version before", feedring.Query{Words: "0 OR 2"}, func(_ *world, a, _, m *fakePeer) { a.omits, m.before = titled("2"), true }, feedring.Answered, 2, [3]int{1, 0, 1}, [3]int{}},
		{"with words, nobody sums up", feedring.Query{Words: "0 OR 2"}, func(_ *world, _, b, m *fakePeer) { b.mute, m.mute = true, true }, feedring.Answered, 2, [3]int{1, 0, 0}, [3]int{0, 1, 1}},
		{"the manager tells no hints", feedring.Query{}, func(w *world, a, _, _ *fakePeer) {
			a.omits = titled("2")
			w.hints = func(feedring.Theme) *feedring.Hints { return nil }
		}, feedring.Answered, 5, [3]int{1, 0, 0}, [3]int{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.hints = w.holds
				entry, publisher := w.peer(2), w.peer(3)
				peers := []*fakePeer{w.peer(4), w.peer(5), w.peer(6)}
				c.prepare(w, peers[0], peers[1], peers[2])
				entry.final = w.answers(themes{"news": peers})
				for i := range 6 {
					w.publish(publisher, "news", fmt.Sprint(i), seen(time.Now().Add(time.Duration(i-60)*time.Minute)))
				}
				c.query.Theme = "news"
				began := time.Now()
				answer, err := w.client(entry).Query(within(t, 30*time.Second), c.query)
				if err != nil {
					t.Fatal(err)
				}
				var asked, summed [3]int
				for i, p := range peers {
					p.change(func(p *fakePeer) { asked[i], summed[i] = p.served, p.summed })
				}
				if answer.Final.Status != c.want || len(answer.Entries) != c.shown || asked != c.asked || summed != c.summed {
					t.Errorf("%v, %d entries, asked %v, summed %v", answer.Final.Status, len(answer.Entries), asked, summed)
				}
				if took := time.Since(began); c.want == feedring.Answered && took > 2*time.Second {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}

// Who kept an entry back that should be everywhere is asked last from then on; who lacks
// what is a moment old is not, and neither is whom a false hint accuses.
func TestWhoKeptOneEntryBackIsAskedLast(t *testing.T) {
	for _, c := range []struct {
		name  string
		age   time.Duration
		false bool
		last  bool
	}{{"two minutes old", 2 * time.Minute, false, true}, {"a moment old", time.Second, false, false}, {"made up", time.Hour, true, false}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				entry, first, manager := w.peer(2), w.peer(3), w.peer(4)
				entry.final = w.answers(themes{"news": {first, manager}})
				w.hints = w.holds
				if c.false {
					w.hints = func(feedring.Theme) *feedring.Hints {
						return &feedring.Hints{Copies: []feedring.Hint{{Copy: 1, Published: time.Now()}}}
					}
				} else {
					first.omits = titled("one")
				}
				w.publish(manager, "news", "one", seen(time.Now().Add(-c.age)))
				w.publish(manager, "news", "other", seen(time.Now().Add(-time.Hour)))
				reader := w.client(entry)
				for range 2 {
					answer, err := reader.Query(within(t, 30*time.Second), feedring.Query{Theme: "news"})
					if err != nil || len(answer.Entries) != 2 {
						t.Fatalf("%d entries, %v", len(answer.Entries), err)
					}
				}
				served := 0
				first.change(func(p *fakePeer) { served = p.served })
				if (served == 1) != c.last {
					t.Errorf("asked %d times in two queries", served)
				}
			})
		})
	}
}

// A follower is shown what its provider leaves out of the stream, within two minutes and a
// half of its publication, each entry once; and goes on at another.
func TestFollowerMissesNothingForLong(t *testing.T) {
	for _, c := range []struct {
		name string
		old  int // entries that were there before
	}{{"one entry was there before", 1}, {"the manager confirmed an empty first answer", 0}} {
		t.Run(c.name, func(t *testing.T) { missesNothing(t, c.old) })
	}
}

func missesNothing(t *testing.T, old int) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.hints = w.holds
		entry, liar, manager, publisher := w.peer(2), w.peer(3), w.peer(4), w.peer(5)
		liar.omits = func(e *feedring.Entry) bool { return len(e.Title) > 3 && (e.Title[len(e.Title)-1]-'0')%2 == 0 }
		entry.final = w.answers(themes{"news": {liar, manager}})
		if old > 0 {
			w.publish(publisher, "news", "old", seen(time.Now().Add(-time.Hour)))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
		defer cancel()
		const all = 60
		published, late := make(map[string]time.Time), time.Duration(0)
		go func() {
			for i := range all {
				time.Sleep(10 * time.Second)
				w.mu.Lock()
				published[fmt.Sprint("new ", i)] = time.Now()
				w.mu.Unlock()
				w.publish(publisher, "news", fmt.Sprint("new ", i))
			}
		}()
		shown := make(map[string]int)
		err := w.client(entry).Follow(ctx, feedring.Query{Theme: "news"}, client.FollowOptions{}, func(e feedring.Entry, _ feedring.Cursor) error {
			if shown[e.Title]++; shown[e.Title] > 1 {
				t.Errorf("%q is shown again", e.Title)
			}
			w.mu.Lock()
			at, ok := published[e.Title]
			w.mu.Unlock()
			if ok {
				late = max(late, time.Since(at))
			}
			if len(shown) == all+old {
				return client.ErrEnough
			}
			return nil
		})
		t.Logf("the last of %d came %v after its publication", len(shown), late)
		if err != nil || late > 150*time.Second {
			t.Errorf("%d were shown, %v late: %v", len(shown), late, err)
		}
	})
}

// Hints that nobody makes good cost a follower nothing but another provider now and then:
// it is shown everything once, and at once.
func TestFalseSummariesDoLittle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.hints = w.holds
		entry, honest, manager, publisher := w.peer(2), w.peer(3), w.peer(4), w.peer(5)
		manager.invents = true
		entry.final = w.answers(themes{"news": {honest, manager}})
		w.publish(publisher, "news", "old", seen(time.Now().Add(-time.Hour)))
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		go func() {
			for i := range 60 {
				time.Sleep(10 * time.Second)
				w.publish(publisher, "news", fmt.Sprint("new ", i))
			}
		}()
		shown := make(map[string]int)
		err := w.client(entry).Follow(ctx, feedring.Query{Theme: "news"}, client.FollowOptions{}, func(e feedring.Entry, _ feedring.Cursor) error {
			if shown[e.Title]++; shown[e.Title] > 1 || time.Since(e.Seen) > 2*time.Second && e.Title != "old" {
				t.Errorf("%q is shown %d times, after %v", e.Title, shown[e.Title], time.Since(e.Seen))
			}
			if len(shown) == 61 {
				return client.ErrEnough
			}
			return nil
		})
		if err != nil {
			t.Errorf("%d were shown: %v", len(shown), err)
		}
		manager.change(func(p *fakePeer) {
			if p.summed == 0 {
				t.Error("no summary was asked for")
			}
		})
	})
}
