package personal

import (
	"context"
	"log/slog"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store"
)

const (
	// MaxSubscriptions bounds what a caller with the token may make this peer
	// keep: a million, of some 1.5 KB each.
	MaxSubscriptions = 1 << 20
	maxBodies        = 256 << 20 // of copied entries on disk, before the oldest lose their content
	maxPending       = 16 << 20  // waiting for the disk, before entries are not taken any more
	plentyPending    = 8 << 20   // waiting for the disk, before copies are made without content
	maxSummary       = 1 << 10   // of an entry without content: Cobra's first kilobyte
	maxShownBytes    = 4 << 20   // of the contents of one feed that is read; entries beyond come without
	remembered       = 1 << 14   // entries known a while after no list holds them any more
	maxJournal       = 4 << 20   // least size at which the journal is emptied
	fillsAtOnce      = 4
	fillWithin       = 10 * time.Second
	fillWait         = 3 * time.Second // for who subscribes
	fillAgain        = 5 * time.Second // after an answer that was not whole
	fillAttempts     = 6
	// fillMargin is how long an entry may be under way. One that its publisher
	// saw earlier, before an interest was filled, the query would have found.
	fillMargin  = 10 * time.Minute
	saveCursors = 5 * time.Second        // how far feeds were read without giving anything
	followEvery = 500 * time.Millisecond // which themes are to be followed
	retryAfter  = time.Second            // a full disk may have room again
)

// Peer is the running peer that keeps personal feeds. Its methods are safe for
// concurrent use.
type Peer interface {
	// Query answers once, newest first, with the peer's private entries where
	// no theme is named. whole says that nobody was missing.
	Query(ctx context.Context, q feedring.Query) (entries []feedring.Entry, whole bool, err error)
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
	// Listed reports whether a private feed is one of this peer's feeds.
	Listed(url string) bool
	// Changed is called for each personal feed of Watch that shows something else,
	// or is revoked, and Kept with the number of personal feeds whenever it changes.
	// They must not block and must not call the Reflector.
	Changed(secret string)
	Kept(feeds int)
}

// Config is what a Reflector is given. All fields but Log are needed.
type Config struct {
	Self  feedring.PeerID
	Store *store.Store
	Peer  Peer
	Log   *slog.Logger // nil: nothing is logged
}
