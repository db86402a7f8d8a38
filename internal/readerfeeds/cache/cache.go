package cache

import (
	"errors"
	"hash/maphash"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/readerfeeds/audience"
)

// Config is what a Cache needs.
type Config struct {
	Dir string           // of its own; made if it is not there
	Log *slog.Logger     // nil: nobody is told
	Now func() time.Time // nil: time.Now
	// Always is what the front sets in every answer before Answer is called: Plain
	// answers with it, where Answer does not set the same.
	Always http.Header
}

// Errors of a Cache.
var (
	ErrUnknown = errors.New("no feed is served there")
	ErrNotYet  = errors.New("this feed's origin has not given it yet")
)

// Cache keeps the documents of the peer's own published feeds. All methods are
// safe for concurrent use.
type Cache struct {
	cfg  Config
	made *lru
	loop string       // by which this process knows its own requests
	seed maphash.Seed // of the hashes by which pollers are counted

	mu    sync.RWMutex
	feeds map[string]*held // by feed
	paths map[string]*held // by address
	moved map[string]*held // by the address that a feed's present one would have
	kept  map[string]head  // of the disk, not yet offered

	counts [answerKinds]atomic.Uint64
	unkept outage
}

// held is one feed that is served.
type held struct {
	feed, path string
	provider   feedring.Provider
	present    atomic.Pointer[string] // the feed's own address, where it moved; nil: feed
	also       string                 // the path by its present address; empty: the same
	doc        atomic.Pointer[doc]    // nil: none yet
	next       atomic.Int64           // Unix seconds of the next look; 0: not known
	readers    audience.Audience
	whole      atomic.Bool // a delta did not fit: the next document must be whole

	making sync.Mutex // one version is made ready at a time
	taking sync.Mutex // one document comes at a time
}

// Open reads what was kept. What nobody offers is removed by Tidy.
func Open(cfg Config) (*Cache, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	r := &Cache{
		cfg: cfg, made: newLRU(maxReady), loop: loopToken(), seed: maphash.MakeSeed(),
		feeds: make(map[string]*held), paths: make(map[string]*held), moved: make(map[string]*held), kept: make(map[string]head),
	}
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, err
	}
	files, err := os.ReadDir(cfg.Dir)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		name := filepath.Join(cfg.Dir, f.Name())
		if h, err := readHead(name); err == nil && r.file(h.Feed) == name {
			r.kept[h.Feed] = *h
		} else {
			_ = os.Remove(name) // half written, or from another time
		}
	}
	return r, nil
}

// Offer serves a feed and returns its address, a path with perhaps a query. A
// feed keeps the address that it had once, as long as its document is kept.
func (r *Cache) Offer(feed string, provider feedring.Provider) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h, ok := r.feeds[feed]; ok {
		return h.path
	}
	h := &held{feed: feed, path: r.freePath(feed, provider), provider: provider}
	if kept, ok := r.kept[feed]; ok {
		d := kept.doc
		h.doc.Store(&d)
		delete(r.kept, feed)
	}
	r.feeds[feed], r.paths[h.path] = h, h
	return h.path
}

// Present says at which address the world finds a feed now. Its document names
// that as its own, and is also served at the path that the address would have, where
// no other feed is: by that a web server passes readers on.
func (r *Cache) Present(feed, address string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.feeds[feed]
	if h == nil || h.self() == address {
		return
	}
	r.leave(h)
	h.present.Store(&address)
	if also := plainPath(h.provider, address); also != h.path {
		h.also = also
		r.moved[also] = h
	}
}

// leave ends what Present began. r.mu is held.
func (r *Cache) leave(h *held) {
	if r.moved[h.also] == h {
		delete(r.moved, h.also)
	}
	h.also = ""
}

// self is the feed's own address.
func (h *held) self() string {
	if present := h.present.Load(); present != nil {
		return *present
	}
	return h.feed
}

// Feed returns the feed that is served at an address, a path with perhaps a
// query.
func (r *Cache) Feed(path string) (feed string, ok bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if h := r.on(path); h != nil {
		return h.feed, true
	}
	return "", false
}

// on returns the feed of a path: one whose path it is goes before one that moved
// there. r.mu is held.
func (r *Cache) on(path string) *held {
	if h := r.paths[path]; h != nil {
		return h
	}
	return r.moved[path]
}

// freePath is the plain address, unless another feed has it or had it first.
func (r *Cache) freePath(feed string, provider feedring.Provider) string {
	plain, own := plainPath(provider, feed), ownPath(provider, feed)
	if kept, ok := r.kept[feed]; ok && (kept.Path == plain || kept.Path == own) && r.paths[kept.Path] == nil {
		return kept.Path
	}
	if r.paths[plain] != nil {
		return own
	}
	for other, kept := range r.kept {
		if other != feed && kept.Path == plain {
			return own
		}
	}
	return plain
}

// Tidy removes what is kept of feeds that were not offered since Open.
func (r *Cache) Tidy() {
	r.mu.Lock()
	old := slices.Collect(maps.Keys(r.kept))
	clear(r.kept)
	r.mu.Unlock()
	for _, feed := range old {
		_ = os.Remove(r.file(feed))
	}
}

// Withdraw serves a feed no longer, and forgets its document.
func (r *Cache) Withdraw(feed string) {
	r.mu.Lock()
	h, ok := r.feeds[feed]
	if ok {
		delete(r.feeds, feed)
		delete(r.paths, h.path)
		r.leave(h)
	}
	r.mu.Unlock()
	if ok {
		h.taking.Lock()
		defer h.taking.Unlock()
		_ = os.Remove(r.file(feed))
	}
}

func (r *Cache) held(feed string) *held {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.feeds[feed]
}

// Take shows a document and keeps it.
func (r *Cache) Take(feed string, f Fetched) {
	r.Show(feed, f)
	r.Keep(feed)
}

// Show takes a document as its origin gave it, and serves it from then on. It is in
// memory alone until Keep. A feed that is not offered is ignored. It blocks for
// reading the document.
func (r *Cache) Show(feed string, f Fetched) {
	h := r.held(feed)
	if h == nil {
		return
	}
	h.taking.Lock()
	defer h.taking.Unlock()
	if r.held(feed) != h { // withdrawn meanwhile
		return
	}
	h.whole.Store(false)
	h.show(f)
}

// ShowPart is Show of a document of new entries alone, which its origin gave instead
// of the whole: they go into what is there. Where they do not fit the whole is asked
// for the next time, and what is there stays until then.
func (r *Cache) ShowPart(feed string, part Fetched) {
	h := r.held(feed)
	if h == nil {
		return
	}
	h.taking.Lock()
	defer h.taking.Unlock()
	d := h.doc.Load()
	if d == nil || r.held(feed) != h { // withdrawn meanwhile
		return
	}
	body, err := r.bodyOf(h, d)
	if err == nil {
		var fits bool
		if body, fits = merge(&Fetched{Body: body, ContentType: d.ContentType}, &part); fits {
			h.show(Fetched{Body: body, ContentType: d.ContentType, At: part.At})
			return
		}
	}
	r.cfg.Log.Debug("what an origin gave in part does not fit: the whole is asked for", "feed", feed, "err", err)
	h.whole.Store(true)
}

// show makes a document the one that is served. h.taking is held.
func (h *held) show(f Fetched) {
	t, before := tagOf(f.Body), h.doc.Load()
	if before == nil || before.Tag != t || before.ContentType != f.ContentType {
		h.doc.Store(newDoc(&f, t, before))
	}
}

// Keep writes the document of a feed to its file, unless it is there already, and
// gives its memory back. What the disk does not take is tried again by the next Keep.
func (r *Cache) Keep(feed string) {
	h := r.held(feed)
	if h == nil {
		return
	}
	h.taking.Lock()
	defer h.taking.Unlock()
	d := h.doc.Load()
	if d == nil || d.body == nil || r.held(feed) != h { // withdrawn meanwhile
		return
	}
	err := r.save(h, d)
	if r.unkept.tell(err, r.cfg.Now()) {
		r.cfg.Log.Warn("a feed's document is not kept: after a restart its origin is asked again", "feed", h.feed, "err", err)
	}
	if err == nil {
		onDisk := *d
		onDisk.body = nil
		h.doc.Store(&onDisk)
	}
}

// Plan tells when a feed's origin is looked at next: until then nothing new can
// come.
func (r *Cache) Plan(feed string, next time.Time) {
	if h := r.held(feed); h != nil {
		h.next.Store(next.Unix())
	}
}

// at returns the feed of an address; a query that no feed has is ignored.
func (r *Cache) at(path, query string) *held {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if query != "" {
		if h := r.on(path + "?" + query); h != nil {
			return h
		}
	}
	return r.on(path)
}

// ready returns the document of a feed as it is now, with links to the feed's own
// address and to hub. What the poller asked for makes no difference: whoever
// stands in front may pass on any Host, and a stranger may send any.
func (r *Cache) ready(h *held, hub string) (*ready, error) {
	d := h.doc.Load()
	if d == nil {
		return nil, ErrNotYet
	}
	key := readyKey{h.feed, hub, h.self()}
	if made := r.made.get(key, d); made != nil {
		return made, nil
	}
	h.making.Lock()
	defer h.making.Unlock()
	for {
		if d = h.doc.Load(); d == nil {
			return nil, ErrNotYet
		}
		if made := r.made.get(key, d); made != nil {
			return made, nil
		}
		body, err := r.bodyOf(h, d)
		if h.doc.Load() != d {
			continue // the next version came, over the file
		}
		if err != nil {
			r.cfg.Log.Warn("a feed's kept document cannot be read: its origin is asked for it anew", "feed", h.feed, "err", err)
			h.doc.CompareAndSwap(d, nil)
			return nil, ErrNotYet
		}
		made := newReady(d, body, hub, key.self)
		r.made.put(key, made)
		return made, nil
	}
}

// Address is the path of a feed; empty: it is not served.
func (r *Cache) Address(feed string) string {
	if h := r.held(feed); h != nil {
		return h.path
	}
	return ""
}

// Has reports whether there is a document of a feed.
func (r *Cache) Has(feed string) bool {
	h := r.held(feed)
	return h != nil && h.doc.Load() != nil
}

// Named finds the feed that has an address of its own now, or whose document calls
// it so: that is the topic which subscribers of a hub give.
func (r *Cache) Named(self string) (feed string, ok bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for feed, h := range r.feeds {
		if self == "" {
			break
		}
		if d, at := h.doc.Load(), h.present.Load(); at != nil && *at == self || d != nil && d.Self == self {
			return feed, true
		}
	}
	return "", false
}
