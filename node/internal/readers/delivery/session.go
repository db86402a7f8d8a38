package delivery

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store"
)

// BehindError refuses a cursor that for these feeds lies before what this peer
// still holds: entries between would be lost.
type BehindError []feedring.FeedRef

func (BehindError) Error() string { return "this peer does not hold everything after the cursor" }

// Sink takes what a session shows, in order. An error ends the session.
type Sink interface {
	Item(it *store.Item) error
	Mark(cursor feedring.Cursor) error // everything through cursor was shown
	Caught(entries int) error          // the first answer is whole
	Alive() error
}

// Reader is one who is served.
type Reader struct {
	Want   Interest
	Out    Sink
	Cursor feedring.Cursor // to go on from; nil: from a first answer. The session's from then on
	Follow bool            // everything new, too
	Beat   time.Duration   // of a follower: between signs of life while nothing is new
}

// session serves one reader from the store.
type session struct {
	*Broker
	Reader

	// early is what the first answer held although it stands after the cursor:
	// it was stored meanwhile, and is not shown again.
	early map[feedring.FeedRef][]feedring.Position
}

// Serve gives a reader the first answer, the newest entries that match, and,
// where it follows, everything new until ctx ends. A reader with a cursor goes on
// from there instead; BehindError where it cannot. It blocks, and reads no faster
// than the reader takes.
func (b *Broker) Serve(ctx context.Context, to Reader) error {
	s := session{Broker: b, Reader: to}
	sub := b.Subscribe() // before the store is read: nothing falls between
	defer sub.Close()
	err := s.first(ctx)
	if err == nil && s.Follow {
		err = s.live(ctx, sub)
	}
	if s.Follow && ctx.Err() != nil {
		return nil // in the middle of a read, too
	}
	return err
}

// live shows what is new, as soon as sub is notified, until ctx ends.
func (s *session) live(ctx context.Context, sub *Subscription) error {
	beat := time.NewTicker(s.Beat)
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-sub.Ready():
			for _, ref := range sub.Take() {
				if err := s.advance(ctx, ref); err != nil {
					return err
				}
			}
		case <-beat.C:
			if err := s.Out.Alive(); err != nil {
				return err
			}
		}
	}
}

func (s *session) first(ctx context.Context) error {
	if s.Cursor != nil {
		return s.resume(ctx)
	}
	s.Cursor = s.heads()
	shown, err := s.newest(ctx)
	if err != nil {
		return err
	}
	if s.Follow {
		if err := s.Out.Mark(maps.Clone(s.Cursor)); err != nil {
			return err
		}
	}
	return s.Out.Caught(shown)
}

// newest shows the newest entries that match.
func (s *session) newest(ctx context.Context) (int, error) {
	query := store.Search{
		Theme: s.Want.Theme, Provider: s.Want.Provider, Since: s.Want.Since, Until: s.Want.Until,
		Limit: s.Want.Limit,
	}
	s.Want.Narrow(&query)
	if s.Want.Private {
		query.Privacy = store.PrivateOnly
	}
	if s.Want.Own != "" || s.Want.Listed != nil {
		query.Refs = []feedring.FeedRef{}
		for _, h := range s.covered() {
			query.Refs = append(query.Refs, h.Ref)
		}
	}
	items, err := s.Broker.newest(ctx, query, s.search)
	if err != nil {
		return 0, err
	}
	s.early = make(map[feedring.FeedRef][]feedring.Position)
	for i := range items {
		it := &items[i]
		if err := s.Out.Item(it); err != nil {
			return i, err
		}
		if it.Position.Compare(s.Cursor[it.Ref]) > 0 {
			s.early[it.Ref] = append(s.early[it.Ref], it.Position)
		}
	}
	return len(items), nil
}

// search asks the history. One that looks at each entry may take longer than a
// reader waits for a sign of life.
func (s *session) search(ctx context.Context, query store.Search) (items []store.Item, next store.Cursor, err error) {
	if query.Accept == nil {
		return s.history.Search(ctx, query)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		var err error
		items, next, err = s.history.Search(ctx, query)
		done <- err
	}()
	beat := time.NewTicker(searchBeat)
	defer beat.Stop()
	for {
		select {
		case err := <-done:
			return items, next, err
		case <-beat.C:
			if err := s.Out.Alive(); err != nil {
				cancel()
				<-done
				return nil, "", err
			}
		}
	}
}

// shown reports whether the first answer held it, and forgets that.
func (s *session) shown(it *store.Item) bool {
	early := s.early[it.Ref]
	i := slices.Index(early, it.Position)
	if i < 0 {
		return false
	}
	s.early[it.Ref] = slices.Delete(early, i, i+1)
	return true
}

// resume goes on from the reader's cursor.
func (s *session) resume(ctx context.Context) error {
	if lacking := s.lacking(); len(lacking) > 0 {
		return lacking
	}
	for _, h := range s.covered() {
		if err := s.advance(ctx, h.Ref); err != nil {
			return err
		}
	}
	return s.Out.Caught(0)
}

// lacking returns the feeds of the cursor that cannot be gone on with here.
func (s *session) lacking() BehindError {
	var lacking BehindError
	for ref, at := range s.Cursor {
		if h, ok := s.store.Head(ref); ok && !holds(h, at) && !s.whole(ref) {
			lacking = append(lacking, ref)
		}
	}
	slices.SortFunc(lacking, feedring.FeedRef.Compare)
	return lacking
}

// whole reports whether this peer holds all that there is of ref: it publishes
// the feed. What its store may have lost is nowhere.
func (s *session) whole(ref feedring.FeedRef) bool { return ref.Publisher == s.self }

// holds reports whether a log that stands at h holds everything after at. A
// reader that was shown nothing yet is owed the log from its first entry.
func holds(h store.Head, at feedring.Position) bool {
	switch {
	case at.Compare(h.Last) >= 0:
		return true
	case h.Count == 0:
		return false
	case at.IsZero():
		return h.First.Sequence == 1
	}
	return h.First.Compare(feedring.Position{Epoch: at.Epoch, Sequence: at.Sequence + 1}) <= 0
}

// advance shows what there is of ref after the cursor.
func (s *session) advance(ctx context.Context, ref feedring.FeedRef) error {
	if h, ok := s.store.Head(ref); !ok || !s.Want.covers(&h) {
		return nil
	}
	for {
		items, err := s.After(ctx, ref, s.Cursor[ref])
		if err != nil || len(items) == 0 {
			return err
		}
		for i := range items {
			if err := s.show(&items[i]); err != nil {
				return err
			}
		}
		if err := s.Out.Mark(feedring.Cursor{ref: s.Cursor[ref]}); err != nil {
			return err
		}
	}
}

// show passes one item of the log. A hole before it is what this peer never
// had, or dropped while a slow reader was on its way there: another has it.
func (s *session) show(it *store.Item) error {
	at, next := s.Cursor[it.Ref], uint64(1)
	if at.Epoch == it.Position.Epoch {
		next = at.Sequence + 1
	}
	if !at.IsZero() && it.Position.Sequence != next && !s.whole(it.Ref) {
		return BehindError{it.Ref}
	}
	if s.Want.wants(it) && !s.shown(it) && (s.blocks == nil || !s.blocks.Item(it)) {
		if err := s.Out.Item(it); err != nil {
			return err
		}
	}
	s.Cursor[it.Ref] = it.Position
	return nil
}

// heads is the cursor of a reader that is shown everything held now.
func (s *session) heads() feedring.Cursor {
	cursor := make(feedring.Cursor)
	for _, h := range s.covered() {
		cursor[h.Ref] = h.Last
	}
	return cursor
}

// covered lists the feeds of the interest that the store holds.
func (s *session) covered() []store.Head {
	heads := s.store.HeadsWhere(s.Want.concerns)
	return slices.DeleteFunc(heads, func(h store.Head) bool { return !s.Want.lists(h.Ref.URL) })
}
