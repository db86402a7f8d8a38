package history

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store"
)

// History searches a store by an index. All methods may be called at the same
// time.
type History struct {
	store  *store.Store
	log    *slog.Logger
	limits limits

	state   atomic.Pointer[state]
	trimmed uint64  // journal rows before are gone; the worker's
	tidied  *state  // was looked through for what is dead; the worker's
	erasing erasing // the worker's
	cache   cache
	scratch sync.Pool     // of *scratch
	looking chan struct{} // places of searches that look at each entry

	wake chan struct{} // the state was replaced by one with work to do
	stop context.CancelFunc
	done sync.WaitGroup
}

// Open reads the index that stands in a store, and goes on with it in a
// goroutine until Close: it follows what is stored, and builds the index anew
// where there is none, or a damaged one. Searches need not wait for it. There
// must be one History for a store. log is told when it is built anew.
func Open(s *store.Store, log *slog.Logger) (*History, error) {
	h, err := open(s, log, defaultLimits)
	if err != nil {
		return nil, err
	}
	h.start()
	return h, nil
}

func open(s *store.Store, log *slog.Logger, l limits) (*History, error) {
	h := &History{store: s, log: log, limits: l, wake: make(chan struct{}, 1), stop: func() {},
		looking: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)), erasing: erasing{none: unknown}}
	h.scratch.New = func() any { return &scratch{cache: &h.cache} }
	st, err := h.restore()
	if err != nil {
		return nil, err
	}
	h.state.Store(st)
	return h, nil
}

func (h *History) start() {
	ctx, stop := context.WithCancel(context.Background())
	h.stop = stop
	h.done.Go(func() { h.work(ctx) })
}

// Close stops following the store. What is not on disk then is read from the
// store when it is opened again. Searches go on to work.
func (h *History) Close() {
	h.stop()
	h.done.Wait()
}

// Rebuild throws the index away and has it built anew. It does not wait for that:
// see Indexed.
func (h *History) Rebuild() {
	for !h.reset(h.state.Load(), errors.New("asked for")) {
	}
}

// Indexed reports how many rows the index holds, and whether these are all. What
// was stored a moment ago may come into it a moment later, and what was stored while
// it was built may be in it twice, and count twice, for a time.
func (h *History) Indexed() (rows int, whole bool) {
	st := h.state.Load()
	_, rows, _ = st.tail.stands()
	for _, s := range st.segments {
		rows += s.docs
	}
	return rows, st.rest == nil
}

// reset replaces a state that cannot be trusted, unless another took its place
// meanwhile: false.
func (h *History) reset(bad *state, why error) bool {
	gone := append([]span(nil), bad.gone...)
	for _, s := range bad.segments {
		gone = append(gone, span{s.id, s.id + 1})
	}
	if !h.state.CompareAndSwap(bad, anew(h.store.Journaled(), bad.nextID, gone)) {
		return false
	}
	h.log.Warn("the index of the history is built anew", "why", why)
	select {
	case h.wake <- struct{}{}:
	default:
	}
	return true
}

// Search is the store's Search, with its answers, its cursors and its errors.
//
// Cost: a record for each word and segment, and a row for each candidate, until
// a page is full; segments that are older than the page are not looked at. What
// names no word, feed, theme or provider, or only a single character of a script
// without spaces, looks at the rows one by one.
//
// So does what has Accept. Such searches take short turns, few at once: anybody
// may ask for as many as they like, and the store is not held for long.
func (h *History) Search(ctx context.Context, q store.Search) (items []store.Item, next store.Cursor, err error) {
	if q.Accept == nil {
		return h.search(ctx, q)
	}
	limit := cmp.Or(q.Limit, feedring.DefaultLimit)
	if limit < 0 || limit > feedring.MaxLimit {
		limit = feedring.MaxLimit
	}
	pause := store.Pause{After: h.limits.look}
	q.Pause = &pause
	for {
		q.Limit = limit - len(items)
		page, next, err := h.turn(ctx, q)
		items = append(items, page...)
		if err != nil || !pause.Made {
			return items, next, err
		}
		q.Cursor = next
	}
}

func (h *History) turn(ctx context.Context, q store.Search) ([]store.Item, store.Cursor, error) {
	select {
	case h.looking <- struct{}{}:
	case <-ctx.Done():
		return nil, "", ctx.Err()
	}
	defer func() { <-h.looking }()
	return h.search(ctx, q)
}

func (h *History) search(ctx context.Context, q store.Search) (items []store.Item, next store.Cursor, err error) {
	for {
		s := h.scratch.Get().(*scratch)
		st := h.state.Load() // before the store: what goes away is still there, or st is replaced
		journaled := h.store.Journaled()
		err = h.store.Read(func(r *store.Reader) (err error) {
			items, next, err = answer(ctx, r, s, st, journaled, q)
			return err
		})
		s.reuse()
		h.scratch.Put(s)
		if !errors.Is(err, errDamaged) {
			return items, next, err
		}
		h.reset(st, err) // and again, in the state after
	}
}

func answer(ctx context.Context, r *store.Reader, s *scratch, st *state, journaled uint64, q store.Search) ([]store.Item, store.Cursor, error) {
	first, end, err := q.Bounds()
	if err != nil {
		return nil, "", err
	}
	n := needOf(r, &q)
	fresh, err := st.fresh(r, journaled, n, s, first)
	if err != nil {
		return nil, "", err
	}
	heads := []head{{source: fresh}}
	for _, seg := range st.segments {
		if seg.last.Compare(first) >= 0 && seg.starts[0].Compare(end) < 0 {
			heads = append(heads, head{key: seg.starts[0], source: &candidates{
				view: view{seg, r, s.cache}, need: n, scratch: s, first: first, end: end,
			}})
		}
	}
	if st.rest != nil {
		from := *st.rest
		if from.Compare(first) < 0 {
			from = first
		}
		next, stop := iter.Pull2(r.Matching(ctx, q, from))
		defer stop()
		heads = append(heads, head{key: from, source: pulled(next)})
	}
	return r.Among(ctx, q, merged(heads))
}

// fresh is the source of what is in no segment yet: the candidates of the tail,
// and all that the journal names after it.
func (st *state) fresh(r *store.Reader, journaled uint64, n *need, s *scratch, first store.RowKey) (source, error) {
	keys, read, err := st.tail.find(n, s)
	for number := read + 1; err == nil && number <= journaled; number++ {
		var more []store.RowKey
		if more, err = r.Journal(number); errors.Is(err, store.ErrNotFound) {
			return nil, errDamaged // or st is of the past
		}
		keys = append(keys, more...)
	}
	keys = sortedKeys(keys)
	for len(keys) > 0 && keys[0].Compare(first) < 0 {
		keys = keys[1:]
	}
	source := some(keys)
	return &source, err
}

// again is how long the worker waits after it failed.
const again = time.Minute
