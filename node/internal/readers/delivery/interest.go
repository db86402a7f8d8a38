package delivery

import (
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/match"
	"github.com/feedring/feedring/internal/match/stem"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/wire"
)

// Lister tells which private feeds there are.
type Lister interface{ Private(url string) bool }

// Voucher names the sites that name publishers.
type Voucher interface {
	Vouched(theme feedring.Theme, ref feedring.FeedRef) (site string)
}

// Interest is what one reader is served: entries of one theme (or the private
// ones), by the words that it brought.
type Interest struct {
	Theme    feedring.Theme // with Private: the private feeds
	Private  bool
	Provider string
	Words    *match.Expr
	Stem     bool // words are met by other forms of them, too
	Since    time.Time
	Until    time.Time
	Limit    int             // entries of the first answer
	Own      feedring.PeerID // not empty: only this publisher's feeds
	Updates  bool            // new versions of entries too
	Vouched  Voucher         // only of publishers whom it knows a site to name; nil: of all

	Listed Lister // nil: every feed

	stems *stem.Matcher // with Stem, once it was needed
}

// covers reports whether a feed belongs to the interest at all.
func (w *Interest) covers(h *store.Head) bool { return w.concerns(h) && w.lists(h.Ref.URL) }

// concerns is covers but for what is listed.
func (w *Interest) concerns(h *store.Head) bool {
	return h.Theme == w.Theme && h.Private == w.Private && (w.Own == "" || h.Ref.Publisher == w.Own)
}

func (w *Interest) lists(url string) bool { return w.Listed == nil || w.Listed.Private(url) }

// wants reports whether a follower is shown it.
func (w *Interest) wants(it *store.Item) bool {
	switch {
	case it.Tombstone, it.Private != w.Private, it.Theme != w.Theme:
		return false
	case it.Version > 1 && !w.Updates:
		return false
	case !it.Provider.Matches(w.Provider), !w.vouched(it):
		return false
	case !w.Since.IsZero() && it.Published.Before(w.Since), !w.Until.IsZero() && !it.Published.Before(w.Until):
		return false
	}
	// Whether a reader was shown what is taken back only the reader knows: which
	// words it had nobody tells any more.
	return it.Retraction || w.meets(it)
}

// meets reports whether an item has the words.
func (w *Interest) meets(it *store.Item) bool {
	if !w.Stem {
		return w.Words.Match(it.Text)
	}
	if w.stems == nil {
		w.stems = stem.NewMatcher(w.Words)
	}
	return w.stems.Match(wire.LanguageOf(it.Payload), it.Text)
}

// vouched reports whether a site names the publisher of an entry, if that is asked for.
func (w *Interest) vouched(it *store.Item) bool {
	if w.Vouched == nil {
		return true
	}
	return w.Vouched.Vouched(it.Theme, it.Ref) != ""
}

// Narrow makes a search find what has the words. An index holds words as they
// were written, not their other forms: with Stem each entry that the search finds
// otherwise is tested. So is who published it, with Vouched.
func (w *Interest) Narrow(q *store.Search) {
	switch {
	case w.Stem && w.Vouched != nil:
		q.Accept = func(it *store.Item) bool { return w.vouched(it) && w.meets(it) }
	case w.Stem:
		q.Accept = w.meets
	default:
		if q.Words = w.Words; w.Vouched != nil {
			q.Accept = w.vouched
		}
	}
}
