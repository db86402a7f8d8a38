package personal

import (
	"context"
	"fmt"
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
	lookAgain   = 500 * time.Millisecond // which themes are to be followed
	retryAfter  = time.Second            // a full disk may have room again
)

// Network is where entries come from beside the store. Its methods are safe for
// concurrent use.
type Network interface {
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
}

// Config is what a Room is told. All fields but Log are needed.
type Config struct {
	Self    feedring.PeerID
	Store   *store.Store
	Network Network
	Open    func(*store.Item) (*feedring.Entry, error) // unseals an item
	// Read returns what follows a position of a feed: of the store, or on its
	// way there.
	Read func(ctx context.Context, ref feedring.FeedRef, after feedring.Position) ([]store.Item, error)
	// Site names who stands behind a feed: the site that vouches for its publisher,
	// or that this peer reads it from itself; empty: nobody.
	Site func(theme feedring.Theme, ref feedring.FeedRef) string
	// Listed reports whether a private feed is one of this peer's feeds.
	Listed func(url string) bool
	// Changed is told of each personal feed of Watch that shows something else, or
	// is revoked. It must not block and must not call the Room. Nil: nobody is.
	Changed func(secret string)
	// Kept is told how many personal feeds there are whenever that changes, while
	// Open reads them, too. It must not block. Nil: nobody is.
	Kept func(feeds int)
	Log  *slog.Logger // nil: nothing is logged
}

func (c *Config) validate() error {
	if c.Self == "" || c.Store == nil || c.Network == nil || c.Open == nil || c.Read == nil || c.Site == nil || c.Listed == nil {
		return fmt.Errorf("personal: the configuration is not complete")
	}
	if c.Kept == nil {
		c.Kept = func(int) {}
	}
	if c.Changed == nil {
		c.Changed = func(string) {}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return nil
}
