package replicate

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/polls"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

const (
	mendFirst   = 10 * time.Second // until one is asked again who did not give what was damaged
	mendLongest = time.Hour
	mendMembers = 3 // that are asked beside the publisher, each time
)

// mendLost polls again what was found damaged in the store: at once, then at doubling
// pauses, and whenever somebody is polled for what is new of the feed.
func (r *Replicator) mendLost() {
	again := time.NewTimer(0)
	again.Stop()
	wait := mendFirst
	for {
		select {
		case <-r.ctx.Done():
			return
		case <-r.Store.Lost():
			wait = mendFirst
		case <-again.C:
			wait = min(2*wait, mendLongest)
		}
		for _, before := range r.Store.BeforeHoles() {
			r.mendFrom(before.Feed, r.holders(before.Feed))
		}
		if again.Stop(); len(r.Store.BeforeHoles()) > 0 {
			again.Reset(wait)
		} else {
			r.asked.clear()
		}
	}
}

// holders are those who may have what is missing of a feed: its publisher, and some of
// the other members of its group. They also have what this peer published itself.
func (r *Replicator) holders(ref feedring.FeedRef) []feedring.PeerID {
	head, _ := r.Store.Head(ref)
	hole, _ := r.Store.NextHole(ref, feedring.Position{})
	members := r.Machine.Members(head.Theme)
	rand.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	asked := []feedring.PeerID{ref.Publisher}
	for _, m := range members {
		if len(asked) <= mendMembers && m != ref.Publisher && m != r.Self && r.asked.due(holder{ref, m}, hole, r.Machine.Now()) {
			asked = append(asked, m)
		}
	}
	return asked
}

// mendFrom asks one after the other until nothing is missing.
func (r *Replicator) mendFrom(ref feedring.FeedRef, holders []feedring.PeerID) {
	for _, from := range holders {
		if _, holed := r.Store.NextHole(ref, feedring.Position{}); !holed || r.ctx.Err() != nil {
			return
		}
		r.mend(ref, from)
	}
}

// holder is one who may have what is missing of a feed.
type holder struct {
	feed feedring.FeedRef
	peer feedring.PeerID
}

// asked knows who was asked for a hole, so that one who gives nothing or wrong things
// is not asked again at every poll.
type asked struct {
	mu sync.Mutex
	of map[holder]asking
}

type asking struct {
	hole  feedring.Position
	wait  time.Duration // doubled each time
	until time.Time
}

// due reports whether one may be asked now.
func (a *asked) due(h holder, hole feedring.Position, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.of[h].due(hole, now)
}

func (last asking) due(hole feedring.Position, now time.Time) bool {
	return last.hole != hole || !now.Before(last.until)
}

// ask reports whether one may be asked now, and counts it as asked.
func (a *asked) ask(h holder, hole feedring.Position, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	last, wait := a.of[h], mendFirst
	if !last.due(hole, now) {
		return false
	}
	if last.hole == hole {
		wait = min(max(2*last.wait, mendFirst), mendLongest)
	}
	if a.of == nil {
		a.of = make(map[holder]asking)
	}
	a.of[h] = asking{hole, wait, now.Add(wait)}
	return true
}

// forgive forgets that one was asked.
func (a *asked) forgive(h holder) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.of, h)
}

func (a *asked) clear() {
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.of)
}

// mend polls what the log of a feed lacks in the middle, if anything, unless the one
// who would be asked just failed to give it. Whoever is asked may lack it as well: that
// is no reason to suspect it.
func (r *Replicator) mend(ref feedring.FeedRef, from feedring.PeerID) {
	hole, holed := r.Store.NextHole(ref, feedring.Position{})
	if !holed || from == r.Self || !r.asked.ask(holder{ref, from}, hole, r.Machine.Now()) {
		return
	}
	for _, before := range r.Store.BeforeHoles() {
		if before.Feed != ref {
			continue
		}
		ctx, cancel := context.WithTimeout(r.ctx, pollWhole)
		err := r.pollHole(ctx, before, from)
		cancel()
		if err != nil && r.ctx.Err() == nil {
			r.Log.Debug("polling a damaged entry again failed", "feed", ref.URL, "from", from.Short(), "err", err)
		}
	}
}

// pollHole asks for what follows an entry, and stores what is missing up to the end
// of the log. It was published before, so nobody is shown it.
func (r *Replicator) pollHole(ctx context.Context, last feedring.Head, from feedring.PeerID) error {
	top, ok := r.Store.Head(last.Feed)
	if !ok || top.Private {
		return nil
	}
	s, err := r.Host.Open(ctx, from, wire.VerbPoll, false)
	if err != nil {
		return err
	}
	frames := wire.NewStream(s)
	defer func() { _ = frames.Reset() }() // the other side may go on far beyond
	words := dictionaryAt(r.Store, last.Feed, last.Position)
	ask := polls.Request{Feed: last.Feed, After: last.Position, Dictionary: words.Name()}
	if err := frames.Send(polls.RequestTo(ask), pollFirst); err != nil {
		return err
	}
	o := group.Fetch{Group: top.Theme.Group(), Feed: last.Feed, From: from, After: last.Position}
	for range pollParts {
		var part feedringv1.PollPart
		if err := frames.Receive(&part, pollWithin); err != nil {
			return err
		}
		if err := r.packer.Unpack(&part, words); err != nil {
			return err
		}
		if last, err = r.fillHoles(ctx, o, last, top.Last, &part); err != nil {
			return err
		}
		if _, holed := r.Store.NextHole(o.Feed, last.Position); !holed || !part.GetMore() {
			return nil
		}
	}
	return nil
}

// fillHoles checks that a part follows last, and stores of it what is missing up to
// a position, but nothing that was pruned.
func (r *Replicator) fillHoles(ctx context.Context, o group.Fetch, last feedring.Head, top feedring.Position, part *feedringv1.PollPart) (feedring.Head, error) {
	standIns, err := polls.StandInsFrom(part)
	if err != nil {
		return last, err
	}
	first := last.Position.IsZero() // what was before is not held: the first one follows nothing
	for i, proto := range part.GetItems() {
		it, err := r.check(o, last, proto, standIns[i], first)
		if err != nil || it.Position.Compare(top) > 0 {
			return last, err
		}
		if hole, holed := r.Store.NextHole(o.Feed, last.Position); holed && hole == it.Position {
			if err := r.Store.Append(ctx, []store.Item{it}); err != nil {
				return last, err
			}
		}
		first, last = false, feedring.Head{Feed: o.Feed, Position: it.Position, Hash: it.Hash}
	}
	return last, ctx.Err()
}
