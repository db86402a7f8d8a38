package personal

import (
	"context"
	"log/slog"
	"math"
	"sync"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/duplicate"
	"github.com/feedring/feedring/internal/keyed"
	"github.com/feedring/feedring/internal/readerfeeds/personal/rows"
	"github.com/feedring/feedring/internal/store"
)

// Reflector keeps personal feeds. All methods are safe for concurrent use.
type Reflector struct {
	cfg   Config
	began time.Time

	// changing is held by whoever changes something, for as long as that takes;
	// mu only while what readers see is not whole. What changing guards may be
	// read under either.
	changing sync.Mutex
	matcher  *matcher
	feeds    []feed // refs also guards what was appended, and private
	byRef    map[feedring.FeedRef]uint32
	serial   uint64             // of the last journal row
	last     uint64             // number of the newest entry
	newest   uint32             // number of the newest interest
	emptied  uint64             // rows up to this one are not in the journal any more
	journal  int                // bytes of journal rows
	listed   int                // items of all lists
	bodies   int64              // maxBodies
	most     int                // MaxSubscriptions
	due      map[*interest]bool // to be filled
	left     []*interest        // of a fleet that this peer has left: closed
	delay    int64              // the least of entries that came, in seconds: see noteDelay

	mu        sync.RWMutex
	table     *table
	interests *keyed.Set[interestKey, interest]
	byID      *keyed.Set[string, subscription]
	adopted   int   // of these
	created   int64 // of the newest subscription, Unix milliseconds; guarded by changing
	bySecret  *keyed.Set[secretKey, subscription]
	watched   map[*interest][]string // secrets; see Watch
	reads     map[scope]int          // see Readers

	refs    sync.RWMutex // the innermost
	writing writing
	fills   chan *interest // asked for by Subscribe
	lacking chan struct{}  // holds one: due has more
	changed chan struct{}  // holds one: interests came or went
}

// feed is a feed that entries came from.
type feed struct {
	ref     feedring.FeedRef
	theme   feedring.Theme
	private bool
	at      feedring.Position // shown through here
	dirty   bool              // at is not on disk
}

// Open reads what is on disk. Nothing moves before Run.
func Open(cfg Config) (*Reflector, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	r := &Reflector{
		cfg: cfg, began: time.Now(), bodies: maxBodies, most: MaxSubscriptions, matcher: newMatcher(), byRef: make(map[feedring.FeedRef]uint32),
		table: newTable(), interests: keyed.New(func(in *interest) interestKey { return in.key }),
		byID:     keyed.New(func(s *subscription) string { return s.id }),
		bySecret: keyed.New(func(s *subscription) secretKey { return s.key }),
		reads:    make(map[scope]int), delay: math.MaxInt64, watched: make(map[*interest][]string), due: make(map[*interest]bool), fills: make(chan *interest, 64), lacking: make(chan struct{}, 1), changed: make(chan struct{}, 1),
	}
	r.writing.init()
	if err := r.load(); err != nil {
		return nil, err
	}
	return r, nil
}

// Run gives entries to lists, follows what is followed and writes what changed,
// until ctx ends; then it writes the rest, within a second.
func (r *Reflector) Run(ctx context.Context) {
	var running sync.WaitGroup
	running.Go(func() { r.follow(ctx) })
	running.Go(func() { r.fillAll(ctx) })
	running.Go(func() { r.write(ctx) })
	running.Wait()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	r.saveFeeds()
	if err := r.flush(last); err != nil {
		r.cfg.Log.Warn("personal feeds: the last changes are not on disk and are made again at the next start", "err", err)
	}
}

// feedOf returns the number of a feed. A new one is written before any row
// that names it.
func (r *Reflector) feedOf(ref feedring.FeedRef, theme feedring.Theme, private bool) uint32 {
	n, ok := r.byRef[ref]
	if !ok {
		n = uint32(len(r.feeds))
		r.refs.Lock()
		r.feeds = append(r.feeds, feed{ref: ref})
		r.refs.Unlock()
		r.byRef[ref] = n
	}
	f := &r.feeds[n]
	if !ok || f.theme != theme || f.private != private {
		r.refs.Lock()
		f.theme, f.private = theme, private
		r.refs.Unlock()
		r.writing.put(rows.Feed(n), encodeFeed(f))
	}
	return n
}

// saveFeeds writes how far feeds were shown. It matters where nothing was given:
// the journal says the rest.
func (r *Reflector) saveFeeds() {
	r.changing.Lock()
	defer r.changing.Unlock()
	if r.byID.Len() == 0 {
		return // whoever subscribes next begins then
	}
	r.writeFeeds()
}

func (r *Reflector) writeFeeds() {
	for n := range r.feeds {
		if f := &r.feeds[n]; f.dirty {
			f.dirty = false
			r.writing.put(rows.Feed(uint32(n)), encodeFeed(f))
		}
	}
}

// release takes one use from an entry.
func (r *Reflector) release(s slot) {
	h := &r.table.all[s]
	if h.uses--; h.uses > 0 {
		return
	}
	r.drop(h)
	if !h.recent {
		r.table.forget(s)
	}
}

// drop removes an entry's rows.
func (r *Reflector) drop(h *held) {
	if !h.kept {
		return
	}
	r.writing.put(rows.Entry(h.number), nil)
	r.uncopy(h)
	h.kept = false
}

// uncopy removes an entry's copy.
func (r *Reflector) uncopy(h *held) {
	if h.size > 0 {
		r.writing.put(rows.Copy(h.number), nil)
		r.table.bodies -= int64(h.size)
		h.size, h.short = 0, false
	}
}

// keep writes an entry's rows: what is known of it, and where another peer
// published it a copy.
func (r *Reflector) keep(h *held, e *feedring.Entry) {
	if e.Publisher == r.cfg.Self {
		r.uncopy(h)
	} else {
		r.table.bodies -= int64(h.size)
		h.short = h.short || r.writing.size() > plentyPending
		row := rows.EncodeCopy(e, h.short)
		h.size = uint32(len(row))
		r.writing.put(rows.Copy(h.number), row)
		r.table.bodies += int64(h.size)
	}
	h.kept = true
	r.writing.put(rows.Entry(h.number), encodeHeld(h))
}

// slotOf returns where an entry stands, which may be new to the table. by is what is
// compared of it.
func (r *Reflector) slotOf(e *feedring.Entry, by copied) slot {
	feed := r.feedOf(e.Ref(), e.Theme, e.Theme == "")
	h := held{id: r.place(feed, e.Ref(), e.ID, by), at: e.Position, version: max(1, e.Version), feed: feed}
	if base := identityOf(e.Feed, e.ID); base != h.id {
		h.base = base
	}
	if s, ok := r.known(h.id, h.feed, e.OfSite); ok {
		return s
	}
	r.describe(&h, e)
	return r.learn(h)
}

// asked is an entry that an interest was filled with, and what is compared of it.
type asked struct{ *feedring.Entry }

func (a asked) copyOf(feed uint32, _ bool) feedring.Copy {
	c := duplicate.CopyOf(a.Entry)
	c.Publisher = uint64(feed)
	return c
}

// learn takes what is not known into the table.
func (r *Reflector) learn(h held) slot {
	r.last++
	h.number = r.last
	s := r.table.add(h)
	if gone, ok := r.table.remember(s); ok {
		r.table.forget(gone)
	}
	return s
}

// describe notes what an entry is compared by.
func (r *Reflector) describe(h *held, e *feedring.Entry) {
	site := r.siteOf(e.Theme, e.Ref(), e.VouchedBy)
	keys := duplicate.KeysOf(e, site)
	h.link, h.content, h.claim = keys.Link, keys.Content, keys.Claim
	h.published = dateOf(e)
	h.origin, h.sure, h.story = originOf(e.Theme, e.Provider), e.OfSite, duplicate.CopyOf(e).Story
}

// siteOf is who stands behind an entry's feed; told is what came with it.
func (r *Reflector) siteOf(theme feedring.Theme, ref feedring.FeedRef, told string) string {
	if told != "" {
		return told
	}
	return r.cfg.Peer.Site(theme, ref)
}

func originOf(theme feedring.Theme, provider feedring.Provider) uint64 {
	return duplicate.Hash(string(theme), string(provider))
}

// put gives a list an entry that it lacks, and takes off it what makes place
// for that. News goes on top, history to its place by date, where it fits.
func (r *Reflector) put(in *interest, s slot, now int64, byDate bool) {
	if r.table.shared(&r.table.all[s]) {
		r.take(in, func(h *held) bool { return h.yields(&r.table.all[s]) })
	}
	r.table.all[s].uses++
	r.listed++
	if off, full := in.push(s, r.table, now, byDate); full {
		r.listed--
		r.release(off)
	}
	in.modified, in.changed = max(now, in.modified), true
}

const (
	// MaxSubscriptions bounds what a caller with the token, or a fleet, may make this
	// peer keep: four million, of some 0.7 KB with empty lists to 1.5 KB each. A peer
	// with less memory than that is given fewer.
	MaxSubscriptions = 1 << 22
	maxBodies        = 256 << 20 // of copied entries on disk, before the oldest lose their content
	maxPending       = 16 << 20  // waiting for the disk, before entries are not taken any more
	plentyPending    = 8 << 20   // waiting for the disk, before copies are made without content
	maxShownBytes    = 4 << 20   // of the contents of one feed that is read; entries beyond come without
	remembered       = 1 << 14   // entries known a while after no list holds them any more
	maxJournal       = 4 << 20   // least size at which the journal is emptied
	fillsAtOnce      = 4
	fillFirst        = 2500 * time.Millisecond // less than fillWait: somebody may wait for what others than a silent provider have
	fillWithin       = 10 * time.Second        // each later time
	fillWait         = 3 * time.Second         // for who subscribes
	fillAgain        = 5 * time.Second         // after an answer that was not whole
	fillAttempts     = 6
	// fillMargin is how long an entry may be under way. One that its publisher
	// saw earlier, before an interest was filled, the query would have found.
	fillMargin = 10 * time.Minute
	// clockMargin is by how much this peer's clock may be ahead of publishers', so that
	// lists still take what comes.
	clockMargin = 90 * time.Minute
	saveCursors = 5 * time.Second        // how far feeds were read without giving anything
	followEvery = 500 * time.Millisecond // which themes are to be followed
	retryAfter  = time.Second            // a full disk may have room again
)

// Peer is the running peer that keeps personal feeds. Its methods are safe for
// concurrent use.
type Peer interface {
	// Query answers once, newest first, with the peer's private entries if asked
	// for them. whole says that nobody was missing.
	Query(ctx context.Context, q feedring.Query, private bool) (entries []feedring.Entry, whole bool, err error)
	// Follow tells what is new in a theme, new versions included, until ctx ends.
	// It goes on after from, or where that is nil begins now: then begun is called
	// once, with where it stands. through is how far the entry's feed was then
	// shown.
	Follow(ctx context.Context, theme feedring.Theme, from feedring.Cursor, begun func(feedring.Cursor),
		each func(e *feedring.Entry, through feedring.Position)) error
	// Themes lists the groups that are known.
	Themes() []feedring.Theme
	// Stored reports whether all that is new in a theme comes to the store.
	Stored(theme feedring.Theme) bool
	// Read returns what follows a position of a feed, of the store or on its way
	// there, and Open unseals an item of it.
	Read(ctx context.Context, ref feedring.FeedRef, after feedring.Position) ([]store.Item, error)
	Open(it *store.Item) (*feedring.Entry, error)
	// Site names the site that stands behind a feed: it vouches for the feed's
	// publisher, or this peer reads the feed from it; empty: none.
	Site(theme feedring.Theme, ref feedring.FeedRef) string
	// SiteCopies reports whether a publisher's copies of a feed are the site's: see
	// feedring.Supersedes.
	SiteCopies(theme feedring.Theme, ref feedring.FeedRef) bool
	// Attribute says of a kept entry whose words it is, as this peer knows now.
	Attribute(e *feedring.Entry)
	// Listed reports whether a private feed is one of this peer's feeds.
	Listed(url string) bool
	// Changed is called for each personal feed of Watch that shows something else,
	// or is revoked. It must not block and must not call the Reflector.
	Changed(secret string)
	// Given is called for each public entry that was put on lists as news: on how
	// many, and when it was here to be given; zero: before the peer began. It is
	// bound as Changed is.
	Given(lists int, since time.Time)
}

// Config is what a Reflector is given. All fields but Fleet and Log are needed.
type Config struct {
	Self  feedring.PeerID
	Fleet bool // this peer is in a fleet: else what was adopted before stays closed, and on disk
	Store *store.Store
	Peer  Peer
	Log   *slog.Logger // nil: nothing is logged
}
