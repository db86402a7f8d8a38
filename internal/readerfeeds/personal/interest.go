package personal

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/match"
	"github.com/feedring/feedring/internal/match/index"
)

// interest is what one subscription or more ask, and the list that they share.
type interest struct {
	number uint32        // on disk
	polled atomic.Uint32 // Unix seconds: when a reader last looked; 0: none did since the start
	question
	key     interestKey
	expr    *match.Expr // of its words; nil: the matcher's index has it
	indexID index.ID    // there
	owners  int32

	items    []slot // in the order given; the last is the newest
	modified int64  // Unix seconds: when items last changed
	filled   int64  // Unix seconds: when it was last filled by a query; 0: not wholly since its fleet was left
	through  uint64 // the last journal row that its row on disk holds
	changed  bool   // since its row on disk was written

	pending  bool          // never filled since it was adopted: not shown
	busy     bool          // being filled
	attempts int32         // at filling it
	done     chan struct{} // closed when it was filled for the first time; nil: it was
}

// question is what an interest asks, in less room than a feedring.Query takes.
type question struct {
	theme           feedring.Theme
	provider, words string // words are canonical
	since, until    int64  // Unix seconds; never: of no time
	limit           int32
	stem            bool // words are met by other forms of them
	public          bool // no entries of private feeds are shown
}

// never is the zero time in Unix seconds.
const never = -62_135_596_800

// query is what is asked, as others are told.
func (q *question) query() feedring.Query {
	return feedring.Query{
		Theme: q.theme, Provider: q.provider, Words: q.words, Limit: int(q.limit),
		Since: time.Unix(q.since, 0).UTC(), Until: time.Unix(q.until, 0).UTC(),
	}
}

// canonical makes queries that ask the same equal.
func canonical(q feedring.Query) (feedring.Query, *match.Expr, error) {
	expr, err := match.Parse(q.Words)
	if err != nil {
		return q, nil, err
	}
	q.Words = expr.String()
	bound(&q)
	return q, expr, nil
}

// bound makes the times and the limit of queries that ask the same equal.
func bound(q *feedring.Query) {
	q.Since, q.Until = q.Since.UTC().Truncate(time.Second), q.Until.UTC().Truncate(time.Second)
	if q.Limit <= 0 || q.Limit > feedring.MaxLimit {
		q.Limit = feedring.DefaultLimit
	}
}

// interestKey is the hash of what is asked, which may be long and is kept already.
type interestKey [16]byte

// newInterest is an interest without a number. q and expr are canonical. One that shows
// no private feeds is never the same as one that may.
func newInterest(q feedring.Query, expr *match.Expr, stem, public bool) *interest {
	// Words come last, for only they may hold anything.
	asked := fmt.Sprintf("%t %t %s %s %d %d %d %s", stem, public, q.Theme, q.Provider, q.Since.Unix(), q.Until.Unix(), q.Limit, q.Words)
	sum := sha256.Sum256([]byte(asked))
	return &interest{key: interestKey(sum[:16]), expr: expr, question: question{
		theme: q.Theme, provider: q.Provider, words: q.Words, limit: int32(q.Limit), since: q.Since.Unix(), until: q.Until.Unix(), stem: stem, public: public,
	}}
}

// admits reports whether a may be shown and is of the time that in asks for. What the
// publisher saw before the list was last filled belongs to the query that filled it: the two
// clocks may differ, and this one may have been set back since.
func (in *interest) admits(a *arrival) bool {
	switch at := a.published.Unix(); {
	case in.public && a.private:
		return false
	case at < in.since, in.until != never && at >= in.until:
		return false
	}
	return a.seen.Unix() >= min(in.filled, a.now)-a.margin
}

// asks reports whether in asks for a theme and a provider.
func (in *interest) asks(theme feedring.Theme, provider feedring.Provider) bool {
	return (in.theme == "" || in.theme == theme) && provider.Matches(in.provider)
}

// holds reports whether the list has an entry, or one that tells the same.
func (in *interest) holds(t *table, s slot, shared bool) bool {
	if slices.Contains(in.items, s) {
		return true
	}
	return shared && slices.ContainsFunc(in.items, func(other slot) bool { return t.all[other].tells(&t.all[s]) })
}

const (
	// unread is for how long news may wait for a reader who polls once in a while:
	// so long history takes no place from it, whatever its date.
	unread = 3 * 24 * time.Hour
	// undatedAt stands for the date of history that has none: before all others.
	undatedAt = 1
)

// dateOf is the place of an entry by date.
func dateOf(e *feedring.Entry) int64 {
	if e.History == feedring.UndatedHistory {
		return undatedAt
	}
	return max(undatedAt+1, e.Published.Unix())
}

// isNews reports whether an entry is news to a list: what is dated after the list
// was filled is, whatever its publisher calls it.
func (in *interest) isNews(e *feedring.Entry) bool {
	return e.History == feedring.NoHistory || in.filled > 0 && e.NewSince(time.Unix(in.filled, 0))
}

// fits reports whether a list has a place for an entry by its date: one that is
// free, or that of an older one.
func (r *Reflector) fits(in *interest, s slot, now int64) bool {
	if len(in.items) < int(in.limit) || in.older(s, r.table, now) >= 0 {
		return true
	}
	h := &r.table.all[s]
	return r.table.shared(h) && slices.ContainsFunc(in.items, func(o slot) bool { return r.table.all[o].yields(h) })
}

// older returns the place of the lowest entry that is older than s and was not
// given as news lately; negative: there is none. In a list of a fleet that was left, what
// came meanwhile takes places of news, too.
func (in *interest) older(s slot, t *table, now int64) int {
	return slices.IndexFunc(in.items, func(o slot) bool {
		return t.all[o].isBefore(&t.all[s]) && (in.filled == 0 || now-t.all[o].news >= int64(unread/time.Second))
	})
}

// isBefore reports whether h is older than o. Of one whose date is not known
// nobody can tell.
func (h *held) isBefore(o *held) bool { return h.published != 0 && h.published < o.published }

// push gives an entry a place: on top, or by date above those that are no newer. One
// falls off a full list: the last, or an older one.
func (in *interest) push(s slot, t *table, now int64, byDate bool) (off slot, full bool) {
	if full = len(in.items) >= int(in.limit); full {
		lowest := 0
		if byDate {
			lowest = max(0, in.older(s, t, now))
		}
		off = in.items[lowest]
		in.items = slices.Delete(in.items, lowest, lowest+1)
	}
	at := len(in.items)
	if byDate {
		at = slices.IndexFunc(in.items, func(o slot) bool { return t.all[o].published == 0 || t.all[s].isBefore(&t.all[o]) })
		if at < 0 {
			at = len(in.items)
		}
	}
	in.items = slices.Insert(in.items, at, s)
	return off, full
}
