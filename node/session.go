package node

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/match"
	"github.com/feedring/feedring/internal/store"
)

const (
	scanItems = 256       // entries read from the store at once for a follower
	scanBytes = 512 << 10 // and their bytes
)

// behindError refuses a cursor that for these feeds lies before what this peer
// still holds: entries between would be lost.
type behindError []feedring.FeedRef

func (behindError) Error() string { return "this peer does not hold everything after the cursor" }

// interest is what one reader is served: entries of one theme (or the private
// ones), by the words that it brought.
type interest struct {
	theme    feedring.Theme // with private: the private feeds
	private  bool
	provider string
	expr     *match.Expr
	since    time.Time
	until    time.Time
	limit    int
	own      feedring.PeerID // not empty: only this publisher's feeds
	updates  bool            // new versions of entries too

	listed func(url string) bool // nil: every feed
}

// covers reports whether a feed belongs to the interest at all.
func (w *interest) covers(h *store.Head) bool { return w.concerns(h) && w.lists(h.Ref.URL) }

// concerns is covers but for what is listed.
func (w *interest) concerns(h *store.Head) bool {
	return h.Theme == w.theme && h.Private == w.private && (w.own == "" || h.Ref.Publisher == w.own)
}

func (w *interest) lists(url string) bool { return w.listed == nil || w.listed(url) }

// wants reports whether a follower is shown it.
func (w *interest) wants(it *store.Item) bool {
	switch {
	case it.Stone, it.Private != w.private, it.Theme != w.theme:
		return false
	case it.Version > 1 && !w.updates:
		return false
	case !it.Provider.Matches(w.provider):
		return false
	case !w.since.IsZero() && it.Published.Before(w.since), !w.until.IsZero() && !it.Published.Before(w.until):
		return false
	}
	// Whether a reader was shown what is taken back only the reader knows: which
	// words it had nobody tells any more.
	return it.Retraction || w.expr.Match(it.Text)
}

// sink takes what a session shows, in order.
type sink interface {
	item(it *store.Item) error
	mark(cursor feedring.Cursor) error // everything through cursor was shown
	caught(entries int) error          // the first answer is whole
	alive() error
}

// searcher finds what the store holds.
type searcher interface {
	Search(context.Context, store.Search) ([]store.Item, store.Cursor, error)
}

// session serves one reader from the store.
type session struct {
	self      feedring.PeerID // who serves
	store     *store.Store
	history   searcher // of the store
	followers *followers
	want      interest
	out       sink
	cursor    feedring.Cursor
	beat      time.Duration // between signs of life while nothing is new

	// early is what the first answer held although it stands after the cursor:
	// it was stored meanwhile, and is not shown again.
	early map[feedring.FeedRef][]feedring.Position
}

// run gives the first answer and, where follow is set, everything new until
// ctx ends. A session with a cursor goes on from there instead. It reads no
// faster than the reader takes.
func (s *session) run(ctx context.Context, follow bool) error {
	ear := s.followers.add() // before the store is read: nothing falls between
	defer s.followers.remove(ear)
	err := s.first(ctx, follow)
	if err == nil && follow {
		err = s.live(ctx, ear)
	}
	if follow && ctx.Err() != nil {
		return nil // in the middle of a read, too
	}
	return err
}

// live shows what is new, as soon as ear tells of it, until ctx ends.
func (s *session) live(ctx context.Context, ear *follower) error {
	beat := time.NewTicker(s.beat)
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ear.ready:
			for _, ref := range ear.take() {
				if err := s.advance(ctx, ref); err != nil {
					return err
				}
			}
		case <-beat.C:
			if err := s.out.alive(); err != nil {
				return err
			}
		}
	}
}

func (s *session) first(ctx context.Context, follow bool) error {
	if s.cursor != nil {
		return s.resume(ctx)
	}
	s.cursor = s.heads()
	shown, err := s.newest(ctx)
	if err != nil {
		return err
	}
	if follow {
		if err := s.out.mark(maps.Clone(s.cursor)); err != nil {
			return err
		}
	}
	return s.out.caught(shown)
}

// newest shows the newest entries that match.
func (s *session) newest(ctx context.Context) (int, error) {
	query := store.Search{
		Theme: s.want.theme, Provider: s.want.provider, Since: s.want.since, Until: s.want.until,
		Words: s.want.expr, Limit: s.want.limit,
	}
	if s.want.private {
		query.Privacy = store.PrivateOnly
	}
	if s.want.own != "" || s.want.listed != nil {
		query.Refs = []feedring.FeedRef{}
		for _, h := range s.covered() {
			query.Refs = append(query.Refs, h.Ref)
		}
	}
	items, _, err := s.history.Search(ctx, query)
	if err != nil {
		return 0, err
	}
	s.early = make(map[feedring.FeedRef][]feedring.Position)
	for i := range items {
		it := &items[i]
		if err := s.out.item(it); err != nil {
			return i, err
		}
		if it.Position.Compare(s.cursor[it.Ref]) > 0 {
			s.early[it.Ref] = append(s.early[it.Ref], it.Position)
		}
	}
	return len(items), nil
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
	return s.out.caught(0)
}

// lacking returns the feeds of the cursor that cannot be gone on with here.
func (s *session) lacking() behindError {
	var lacking behindError
	for ref, at := range s.cursor {
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
	if h, ok := s.store.Head(ref); !ok || !s.want.covers(&h) {
		return nil
	}
	for {
		items, err := s.store.Scan(ctx, ref, s.cursor[ref], scanItems, scanBytes)
		if err != nil {
			return err
		}
		if len(items) == 0 {
			items = s.followers.after(ref, s.cursor[ref])
		}
		if len(items) == 0 {
			return nil
		}
		for i := range items {
			if err := s.show(&items[i]); err != nil {
				return err
			}
		}
		if err := s.out.mark(feedring.Cursor{ref: s.cursor[ref]}); err != nil {
			return err
		}
	}
}

// show passes one item of the log. A hole before it is what this peer never
// had, or dropped while a slow reader was on its way there: another has it.
func (s *session) show(it *store.Item) error {
	at, next := s.cursor[it.Ref], uint64(1)
	if at.Epoch == it.Position.Epoch {
		next = at.Sequence + 1
	}
	if !at.IsZero() && it.Position.Sequence != next && !s.whole(it.Ref) {
		return behindError{it.Ref}
	}
	if s.want.wants(it) && !s.shown(it) {
		if err := s.out.item(it); err != nil {
			return err
		}
	}
	s.cursor[it.Ref] = it.Position
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
	heads := s.store.HeadsWhere(s.want.concerns)
	return slices.DeleteFunc(heads, func(h store.Head) bool { return !s.want.lists(h.Ref.URL) })
}
