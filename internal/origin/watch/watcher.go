package watch

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/keyed"
	"github.com/feedring/feedring/internal/origin/fetch"
)

// Handler keeps what a Watcher knows of its feeds, and takes what it finds. For
// one feed it is called by one goroutine at a time, for several feeds by several
// at once.
type Handler interface {
	// State returns what was kept of a feed when a fetch of it begins that is not
	// the first: what FetchEnded told last, or Changed. Its entries may be left out (fetch.State.LoadKnown); then
	// Known is asked for them where a document came.
	State(url string) (fetch.State, error)

	// Known returns the entries of a feed's state as fetch.State.MarshalKnown wrote them,
	// or none.
	Known(url string) ([]byte, error)

	// Changed stores entries, oldest first, and next with them. Only after it
	// returns nil does the Watcher go on from next; after an error the same
	// entries are found again. ctx ends with the Watcher's run.
	Changed(ctx context.Context, url string, entries []feedring.Entry, next fetch.State) error

	// Fetched is told of each document that came, before its entries go to Changed.
	Fetched(url string, page fetch.Page)

	// FetchEnded tells of each fetch that ended, after Changed if it was called. To
	// lose its state costs no more than one needless request.
	FetchEnded(url string, state fetch.State)
}

// Config is what a Watcher needs.
type Config struct {
	Client     fetch.Client   // a *safehttp.Client
	Policy     Policy         // when to fetch again
	HostPolicy HostPolicy     // what holds whatever Policy says
	Handler    Handler        // takes what is found
	Workers    int            // fetches at once, and as many slow ones beside them; 0: 16
	Preparer   fetch.Preparer // changes what origins are told; nil: nobody does
	Logger     *slog.Logger   // told of feeds that fail and recover; nil: nobody is
}

// Validate reports what is missing.
func (c Config) Validate() error {
	if c.Client == nil || c.Policy == nil || c.Handler == nil {
		return errors.New("feed: a watcher needs a client, a policy and a handler")
	}
	if c.Workers < 0 {
		return errors.New("feed: a watcher cannot have fewer than no workers")
	}
	return nil
}

// ErrUnknown is returned for a feed that is not watched.
var ErrUnknown = errors.New("this feed is not watched here")

// Watcher fetches many feeds, each when its policy says so. All methods are
// safe for concurrent use and do not block, except Run.
type Watcher struct {
	cfg     Config
	fetcher *fetch.Fetcher
	wake    chan struct{} // one token: something changed for Run

	mu      sync.Mutex
	feeds   *keyed.Set[string, watched]
	later   queue                // what is not due yet
	ready   queue                // what is due, by turn
	hosts   map[string]*host     // where something is fetched, or waits
	heard   map[string]time.Time // since when hosts are left alone because another peer said so: see ApplyPeerHints
	running int
	slow    int // of running
}

// New returns a Watcher without feeds. It does nothing until Run.
func New(cfg Config) (*Watcher, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if cfg.Workers == 0 {
		cfg.Workers = 16
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Watcher{
		cfg:     cfg,
		fetcher: fetch.NewFetcher(cfg.Client, cfg.Preparer),
		wake:    make(chan struct{}, 1),
		feeds:   keyed.New(func(f *watched) string { return f.url }),
		later:   queue{},
		ready:   queue{byTurn: true},
		hosts:   make(map[string]*host),
		heard:   make(map[string]time.Time),
	}, nil
}

// Add watches a feed that Handler keeps state of, which may leave out its
// entries; the zero State is that of a new feed, which is fetched now; one that
// is gone waits until it is asked for. A feed that is watched already stays as
// it is.
func (w *Watcher) Add(feedURL string, state fetch.State) {
	state.URL = feedURL
	ours, host := w.cfg.HostPolicy.ours(feedURL), w.hostAsked(&state)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.feeds.Get(feedURL) != nil {
		return
	}
	f := newWatched(feedURL, host, ours)
	f.know(&state)
	w.feeds.Put(f)
	w.holdAs(&state)
	if state.Ended() {
		return
	}
	f.due = nanos(w.firstFetch(&state))
	w.later.add(f)
	w.signal()
}

// Len is how many feeds are watched.
func (w *Watcher) Len() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.feeds.Len()
}

// nanos is a time as a queue has it; the zero time is due at once.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func (w *Watcher) firstFetch(state *fetch.State) time.Time {
	now := time.Now()
	if state.LastFetch.IsZero() {
		return now
	}
	return w.cfg.HostPolicy.resume(w.cfg.Policy, state, now)
}

// Remove stops watching a feed. A fetch under way is cancelled; if it was just
// storing what it found, Changed and FetchEnded may still be called.
func (w *Watcher) Remove(feedURL string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.feeds.Get(feedURL)
	if f == nil {
		return
	}
	w.feeds.Delete(feedURL)
	w.cfg.Policy.Forget(feedURL)
	x := f.change()
	x.removed = true
	f.leave()
	if x.fetching != nil {
		x.fetching.cancel()
		tellAll(&x.fetching.asked)
	}
	tellAll(&x.asked)
	w.release(f.host()) // it may have had the place there
}

// Fetch makes a feed due now and the first to get a place, whatever its policy
// and its document said; a host that asked to be left alone is left alone all the
// same. A fetch under way is followed by another. The channel is closed when a fetch that began after the
// call has ended and FetchEnded was told of it, or when the feed is removed; it may
// stay open when Run ends. It fails with ErrUnknown.
func (w *Watcher) Fetch(feedURL string) (<-chan struct{}, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.feeds.Get(feedURL)
	if f == nil {
		return nil, ErrUnknown
	}
	f.leave()
	x := f.change()
	if x.asked == nil {
		x.asked = make(chan struct{})
	}
	x.again = x.fetching != nil
	f.due = time.Now().UnixNano()
	if x.fetching == nil {
		w.later.add(f)
	}
	w.signal()
	return x.asked, nil
}

// tellAll lets go who waits for a fetch.
func tellAll(waiting *chan struct{}) {
	if *waiting != nil {
		close(*waiting)
		*waiting = nil
	}
}

func (w *Watcher) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}
