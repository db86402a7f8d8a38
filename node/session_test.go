package node

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/match"
	"github.com/feedring/feedring/internal/store"
)

// shownItems is a sink that remembers, and may be slow.
type shownItems struct {
	mu     sync.Mutex
	items  []store.Item
	cursor feedring.Cursor
	whole  bool // caught was called
	pause  func()
}

func (s *shownItems) item(it *store.Item) error {
	if s.pause != nil {
		s.pause()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.items = append(s.items, *it)
	return nil
}

func (s *shownItems) mark(c feedring.Cursor) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cursor == nil {
		s.cursor = feedring.Cursor{}
	}
	for ref, at := range c {
		s.cursor[ref] = at
	}
	return nil
}

func (s *shownItems) caught(int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.whole = true
	return nil
}

func (s *shownItems) alive() error { return nil }

// titles counts what was shown, by title and version.
func (s *shownItems) titles() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	count := make(map[string]int)
	for _, it := range s.items {
		count[fmt.Sprintf("%s v%d", it.ID, it.Version)]++
	}
	return count
}

func wanting(t testing.TB, words string) interest {
	expr, err := match.Parse(words)
	check(t, err)
	return interest{theme: testTheme, expr: expr, limit: 50}
}

// follow runs a session until the test ends it.
func follow(t *testing.T, s *session) (stop func() error) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.run(ctx, true) }()
	return func() error { cancel(); return <-ended }
}

// TestSessionHasNoSeam follows while several publishers append: everything that
// matches is shown exactly once, in the order of each feed behind the first
// answer.
func TestSessionHasNoSeam(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			s, ears := openStore(t), newFollowers()
			const feeds, each = 3, 40
			before := random.IntN(each)
			var specs []feedring.FeedSpec
			var writers []*publisher
			for f := range feeds {
				spec := testSpec
				spec.URL = fmt.Sprintf("https://example.org/%d", f)
				specs, writers = append(specs, spec), append(writers, writer(s, newSealer(t)))
				if f > 0 && before > 0 { // one feed is new to the store
					writers[f].append(t, spec, feedEntries(f, 1, before)...)
				}
			}
			out := &shownItems{}
			one := &session{store: s, history: s, followers: ears, want: wanting(t, "entry NOT odd"), out: out, beat: time.Hour}
			one.want.limit = 1000
			var writing sync.WaitGroup
			start := make(chan struct{})
			for f, w := range writers {
				from := before + 1
				if f == 0 {
					from = 1
				}
				cut := random.IntN(5) + 1
				writing.Go(func() {
					<-start
					for n := from; n <= each; n += cut {
						w.append(t, specs[f], feedEntries(f, n, min(each, n+cut-1))...)
						ears.wake(feedring.FeedRef{URL: specs[f].URL, Publisher: w.self})
					}
				})
			}
			close(start)
			stop := follow(t, one)
			writing.Wait()
			eventually(t, "everything shown", func() bool { return len(out.titles()) == feeds*each/2 })
			check(t, stop())
			for title, count := range out.titles() {
				if count != 1 {
					t.Errorf("%s was shown %d times", title, count)
				}
			}
			for _, h := range s.Heads() {
				if out.cursor[h.Ref] != h.Last {
					t.Errorf("the cursor stands at %v of %v", out.cursor[h.Ref], h.Last)
				}
			}
		})
	}
}

// TestSessionEndsInTheMiddle ends a follower while it is shown something: that
// is an end like any other.
func TestSessionEndsInTheMiddle(t *testing.T) {
	s, sealer, ears := openStore(t), newSealer(t), newFollowers()
	p := writer(s, sealer)
	p.append(t, testSpec, entries(1, 2)...)
	ctx, cancel := context.WithCancel(t.Context())
	out := &shownItems{pause: cancel}
	one := &session{
		store: s, history: s, followers: ears, want: wanting(t, ""), out: out, beat: time.Hour,
		cursor: feedring.Cursor{}, // nothing was shown, so that it is shown by advance
	}
	ear := make(chan error, 1)
	go func() { ear <- one.run(ctx, true) }()
	for {
		ears.wake(feedring.FeedRef{URL: testURL, Publisher: sealer.ID()})
		select {
		case err := <-ear:
			check(t, err)
			return
		default:
			runtime.Gosched()
		}
	}
}

// feedEntries makes entries of which every other one is odd.
func feedEntries(f, from, to int) []feedring.Entry {
	list := entries(from, to)
	for i := range list {
		list[i].ID = feedring.NewEntryID(fmt.Sprint(f), list[i].Title, "", "")
		if (from+i)%2 == 1 {
			list[i].Title += " odd"
		}
	}
	return list
}

func TestSessionResumes(t *testing.T) {
	s, sealer, ears := openStore(t), newSealer(t), newFollowers()
	p, ref := writer(s, sealer), feedring.FeedRef{URL: testURL, Publisher: sealer.ID()}
	p.append(t, testSpec, entries(1, 5)...)
	epoch := s.Heads()[0].Last.Epoch
	out := &shownItems{}
	one := &session{
		store: s, history: s, followers: ears, want: wanting(t, ""), out: out, beat: time.Hour,
		cursor: feedring.Cursor{ref: {Epoch: epoch, Sequence: 3}},
	}
	stop := follow(t, one)
	eventually(t, "what came meanwhile", func() bool { return len(out.titles()) == 2 })
	next := anEntry(1)
	next.Version, next.Title = 2, "changed"
	p.append(t, testSpec, next)
	_, err := p.write(t.Context(), &batch{spec: testSpec, entries: entries(6, 7)}, feedring.Position{Epoch: epoch + 1, Sequence: 1})
	check(t, err)
	ears.wake(ref)
	eventually(t, "a new epoch, no new version", func() bool { return len(out.titles()) == 4 })
	check(t, stop())

	out = &shownItems{}
	one = &session{
		store: s, history: s, followers: ears, want: wanting(t, ""), out: out, beat: time.Hour,
		cursor: feedring.Cursor{ref: {Epoch: epoch, Sequence: 5}},
	}
	one.want.updates = true
	check(t, one.run(t.Context(), false))
	if len(out.titles()) != 3 {
		t.Errorf("with updates: %v", out.titles())
	}
}

func TestSessionRefusesWhatItDoesNotHold(t *testing.T) {
	s, sealer, ears := openStore(t), newSealer(t), newFollowers()
	p, ref := writer(s, sealer), feedring.FeedRef{URL: testURL, Publisher: sealer.ID()}
	p.now = func() time.Time { return time.Now().Add(-time.Hour) }
	p.append(t, testSpec, entries(1, 5)...)
	p.now = time.Now
	p.append(t, testSpec, entries(6, 8)...)
	epoch := s.Heads()[0].Last.Epoch
	_, err := s.Prune(t.Context(), time.Now().Add(-time.Minute), func(feedring.FeedRef) bool { return false })
	check(t, err)
	for _, test := range []struct {
		at     feedring.Position
		self   feedring.PeerID
		behind bool
	}{
		{feedring.Position{Epoch: epoch, Sequence: 4}, "", true},
		{feedring.Position{Epoch: epoch, Sequence: 5}, "", false},
		{feedring.Position{Epoch: epoch, Sequence: 9}, "", false},
		{feedring.Position{}, "", true},
		{feedring.Position{Epoch: epoch - 1, Sequence: 3}, "", true},
		{feedring.Position{Epoch: epoch - 1, Sequence: 3}, sealer.ID(), false}, // nobody has more than the publisher
	} {
		one := &session{
			self: test.self, store: s, history: s, followers: ears, want: wanting(t, ""), out: &shownItems{}, beat: time.Hour,
			cursor: feedring.Cursor{ref: test.at},
		}
		if feeds := behindOf(one.run(t.Context(), false)); slices.Equal(feeds, behindError{ref}) != test.behind {
			t.Errorf("%v at %q: behind are %v", test.at, test.self, feeds)
		}
	}
}

// TestSessionMeetsAHole reads so slowly that what it has still to read is
// pruned.
func TestSessionMeetsAHole(t *testing.T) {
	s, sealer, ears := openStore(t), newSealer(t), newFollowers()
	p, ref := writer(s, sealer), feedring.FeedRef{URL: testURL, Publisher: sealer.ID()}
	p.append(t, testSpec, entries(1, 1)...)
	out := &shownItems{}
	one := &session{store: s, history: s, followers: ears, want: wanting(t, ""), out: out, beat: time.Hour}
	ended := make(chan error, 1)
	go func() { ended <- one.run(t.Context(), true) }()
	eventually(t, "the first answer", func() bool { out.mu.Lock(); defer out.mu.Unlock(); return out.whole })
	p.append(t, testSpec, entries(2, 9)...)
	_, err := s.Prune(t.Context(), time.Now().Add(time.Minute), func(feedring.FeedRef) bool { return false })
	check(t, err)
	p.append(t, testSpec, entries(10, 11)...)
	ears.wake(ref)
	if err := <-ended; !slices.Equal(behindOf(err), behindError{ref}) {
		t.Errorf("ended with %v", err)
	}
}

// behindOf returns the feeds that a refusal names.
func behindOf(err error) behindError {
	var behind behindError
	errors.As(err, &behind)
	return behind
}

// TestSessionGoesAheadOfTheStore: what was checked is shown before it is on
// disk, once, and not past a hole.
func TestSessionGoesAheadOfTheStore(t *testing.T) {
	sealer := newSealer(t)
	from := openStore(t)
	writer(from, sealer).append(t, testSpec, entries(1, 8)...)
	ref := feedring.FeedRef{URL: testURL, Publisher: sealer.ID()}
	all := log(t, from, ref)
	s := openStore(t)
	check(t, s.Append(t.Context(), all[:2]))
	f, out := newFollowers(), &shownItems{}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	session := &session{self: "me", store: s, history: s, followers: f, want: wanting(t, ""), out: out, beat: time.Hour}
	ended := make(chan error, 1)
	go func() { ended <- session.run(ctx, true) }()
	count := func() int { out.mu.Lock(); defer out.mu.Unlock(); return len(out.items) }
	eventually(t, "the first answer", func() bool { return count() == 2 })

	stored := f.comes(ref, all[1:4]) // one of them is stored already
	eventually(t, "what is on its way", func() bool { return count() == 4 })
	check(t, s.Append(t.Context(), all[2:4]))
	stored()
	f.wake(ref)
	stored = f.comes(ref, all[5:7])
	if items := f.after(ref, all[3].Position); items != nil {
		t.Errorf("%d items past a hole", len(items))
	}
	check(t, s.Append(t.Context(), all[4:7]))
	stored()
	f.wake(ref)
	eventually(t, "what is stored", func() bool { return count() == 7 })
	cancel()
	check(t, <-ended)
	for i, it := range out.items[2:] {
		if it.Position != all[i+2].Position {
			t.Errorf("%v where %v comes", it.Position, all[i+2].Position)
		}
	}
	if at := out.cursor[ref]; at != all[6].Position || len(f.ahead) != 0 {
		t.Errorf("the reader stands at %v", at)
	}
}
