package delivery

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// TestNoSeam follows while several publishers append: everything that matches is
// shown exactly once, in the order of each feed behind the first answer.
func TestNoSeam(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			s := openStore(t)
			broker := New("", s, s)
			const feeds, each = 3, 40
			before := random.IntN(each)
			var logs []*feedLog
			for f := range feeds {
				logs = append(logs, newLog(s, feedring.FeedRef{URL: fmt.Sprintf("https://example.org/%d", f), Publisher: "publisher"}))
				if f > 0 && before > 0 { // one feed is new to the store
					logs[f].append(t, 1, before)
				}
			}
			out := &shownItems{}
			want := wanting(t, "entry NOT odd")
			want.Limit = 1000
			var writing sync.WaitGroup
			start := make(chan struct{})
			for f, l := range logs {
				from := before + 1
				if f == 0 {
					from = 1
				}
				cut := random.IntN(5) + 1
				writing.Go(func() {
					<-start
					for n := from; n <= each; n += cut {
						l.append(t, n, min(each, n+cut-1))
						broker.Notify(l.ref)
					}
				})
			}
			close(start)
			stop := follow(t, broker, Reader{Want: want, Out: out})
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

// TestEndsInTheMiddle ends a follower while it is shown something: that is an end
// like any other.
func TestEndsInTheMiddle(t *testing.T) {
	s := openStore(t)
	broker := New("", s, s)
	newLog(s, testRef).append(t, 1, 2)
	ctx, cancel := context.WithCancel(t.Context())
	one := Reader{
		Want: wanting(t, ""), Out: &shownItems{pause: cancel}, Follow: true, Beat: time.Hour,
		Cursor: feedring.Cursor{}, // nothing was shown, so that it is shown by advance
	}
	ended := make(chan error, 1)
	go func() { ended <- broker.Serve(ctx, one) }()
	for {
		broker.Notify(testRef)
		select {
		case err := <-ended:
			check(t, err)
			return
		default:
			runtime.Gosched()
		}
	}
}

func TestResumes(t *testing.T) {
	s := openStore(t)
	broker, log := New("", s, s), newLog(s, testRef)
	log.append(t, 1, 5)
	out := &shownItems{}
	stop := follow(t, broker, Reader{Want: wanting(t, ""), Out: out, Cursor: feedring.Cursor{testRef: log.at(3)}})
	eventually(t, "what came meanwhile", func() bool { return len(out.titles()) == 2 })
	changed := log.items(1, 1)
	changed[0].Version = 2
	check(t, s.Append(t.Context(), changed))
	fifth := log.at(5)
	log.epoch, log.last = log.epoch+1, 0
	log.append(t, 6, 7)
	broker.Notify(testRef)
	eventually(t, "a new epoch, no new version", func() bool { return len(out.titles()) == 4 })
	check(t, stop())

	out = &shownItems{}
	want := wanting(t, "")
	want.Updates = true
	check(t, broker.Serve(t.Context(), Reader{Want: want, Out: out, Cursor: feedring.Cursor{testRef: fifth}}))
	if len(out.titles()) != 3 {
		t.Errorf("with updates: %v", out.titles())
	}
}

func TestRefusesWhatIsNotHeld(t *testing.T) {
	s := openStore(t)
	log := newLog(s, testRef)
	log.seen = time.Now().Add(-time.Hour)
	log.append(t, 1, 5)
	log.seen = time.Now()
	log.append(t, 6, 8)
	_, err := s.Prune(t.Context(), time.Now().Add(-time.Minute), func(feedring.FeedRef) bool { return false })
	check(t, err)
	for _, test := range []struct {
		at     feedring.Position
		self   feedring.PeerID
		behind bool
	}{
		{log.at(4), "", true},
		{log.at(5), "", false},
		{log.at(9), "", false},
		{feedring.Position{}, "", true},
		{feedring.Position{Epoch: log.epoch - 1, Sequence: 3}, "", true},
		{feedring.Position{Epoch: log.epoch - 1, Sequence: 3}, testRef.Publisher, false}, // nobody has more than the publisher
	} {
		one := Reader{Want: wanting(t, ""), Out: &shownItems{}, Cursor: feedring.Cursor{testRef: test.at}}
		err := New(test.self, s, s).Serve(t.Context(), one)
		if feeds := behindOf(err); slices.Equal(feeds, BehindError{testRef}) != test.behind {
			t.Errorf("%v at %q: behind are %v", test.at, test.self, feeds)
		}
	}
}

// TestMeetsAHole reads so slowly that what it has still to read is pruned.
func TestMeetsAHole(t *testing.T) {
	s := openStore(t)
	broker, log := New("", s, s), newLog(s, testRef)
	log.append(t, 1, 1)
	out := &shownItems{}
	ended := make(chan error, 1)
	go func() {
		ended <- broker.Serve(t.Context(), Reader{Want: wanting(t, ""), Out: out, Follow: true, Beat: time.Hour})
	}()
	eventually(t, "the first answer", out.answered)
	log.append(t, 2, 9)
	_, err := s.Prune(t.Context(), time.Now().Add(time.Minute), func(feedring.FeedRef) bool { return false })
	check(t, err)
	log.append(t, 10, 11)
	broker.Notify(testRef)
	if err := <-ended; !slices.Equal(behindOf(err), BehindError{testRef}) {
		t.Errorf("ended with %v", err)
	}
}

// TestGoesAheadOfTheStore: what was checked is shown before it is on disk, once,
// and not past a hole.
func TestGoesAheadOfTheStore(t *testing.T) {
	s := openStore(t)
	all := newLog(s, testRef).items(1, 8)
	check(t, s.Append(t.Context(), all[:2]))
	broker, out := New("me", s, s), &shownItems{}
	stop := follow(t, broker, Reader{Want: wanting(t, ""), Out: out})
	count := func() int { out.mu.Lock(); defer out.mu.Unlock(); return len(out.items) }
	eventually(t, "the first answer", func() bool { return count() == 2 })

	stored := broker.PublishPending(testRef, all[1:4]) // one of them is stored already
	eventually(t, "what is on its way", func() bool { return count() == 4 })
	check(t, s.Append(t.Context(), all[2:4]))
	stored()
	broker.Notify(testRef)
	stored = broker.PublishPending(testRef, all[5:7])
	if items, err := broker.After(t.Context(), testRef, all[3].Position); err != nil || items != nil {
		t.Errorf("%d items past a hole, %v", len(items), err)
	}
	check(t, s.Append(t.Context(), all[4:7]))
	stored()
	broker.Notify(testRef)
	eventually(t, "what is stored", func() bool { return count() == 7 })
	check(t, stop())
	for i, it := range out.items[2:] {
		if it.Position != all[i+2].Position {
			t.Errorf("%v where %v comes", it.Position, all[i+2].Position)
		}
	}
	if at := out.cursor[testRef]; at != all[6].Position || len(broker.pending) != 0 {
		t.Errorf("the reader stands at %v, %d are on their way", at, len(broker.pending))
	}
}

// TestTakenBack: a reader who asks for updates is told what was taken back; no
// other is, and nobody is shown it any more.
func TestTakenBack(t *testing.T) {
	for _, updates := range []bool{false, true} {
		s := openStore(t)
		broker, log := New("", s, s), newLog(s, testRef)
		log.append(t, 1, 3)
		want := wanting(t, "entry")
		want.Updates = updates
		out := &shownItems{}
		stop := follow(t, broker, Reader{Want: want, Out: out})
		eventually(t, "the first answer", out.answered)
		log.retract(t, 2, 2)
		log.append(t, 4, 4)
		broker.Notify(testRef)
		eventually(t, "what comes after", func() bool { return out.titles()[string(id(testRef, 4))+" v1"] == 1 })
		check(t, stop())
		if told := out.titles()[string(id(testRef, 2))+" v2"]; told != map[bool]int{false: 0, true: 1}[updates] {
			t.Errorf("updates %v: told %d times", updates, told)
		}

		again := &shownItems{} // who was away
		check(t, broker.Serve(t.Context(), Reader{Want: want, Out: again, Cursor: feedring.Cursor{testRef: log.at(1)}}))
		for _, it := range again.items {
			if it.ID == id(testRef, 2) && !(updates && it.Retraction) {
				t.Errorf("updates %v: shown %+v", updates, it)
			}
		}
	}
}
