package personal

import (
	"fmt"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/match"
	"github.com/feedring/feedring/internal/match/index"
)

// interest is what one subscription or more ask, and the list that they share.
type interest struct {
	number  uint32         // on disk
	query   feedring.Query // with canonical words
	stem    bool           // its words meet other forms of them
	key     string
	expr    *match.Expr // of its words; nil: the matcher's index has it
	indexID index.ID    // there
	owners  int

	items    []slot // in the order given; the last is the newest
	modified int64  // Unix seconds: when items last changed
	filled   int64  // Unix seconds: when it was last filled by a query
	through  uint64 // the last journal row that its row on disk holds
	changed  bool   // since its row on disk was written

	busy     bool          // being filled
	attempts int           // at filling it
	done     chan struct{} // closed when it was filled for the first time; nil: it was
}

// canonical makes queries that ask the same equal.
func canonical(q feedring.Query) (feedring.Query, *match.Expr, error) {
	expr, err := match.Parse(q.Words)
	if err != nil {
		return q, nil, err
	}
	q.Words = expr.String()
	q.Since, q.Until = wholeSecond(q.Since), wholeSecond(q.Until)
	if q.Limit <= 0 || q.Limit > feedring.MaxLimit {
		q.Limit = feedring.DefaultLimit
	}
	return q, expr, nil
}

func wholeSecond(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Second)
}

// keyOf names an interest. Words come last, for only they may hold anything.
func keyOf(q *feedring.Query) string {
	return fmt.Sprintf("%s %s %d %d %d %s", q.Theme, q.Provider, q.Since.Unix(), q.Until.Unix(), q.Limit, q.Words)
}

// newInterest is an interest without a number. q and expr are canonical.
func newInterest(q feedring.Query, expr *match.Expr, stem bool) *interest {
	in := &interest{query: q, stem: stem, key: keyOf(&q), expr: expr}
	if stem {
		in.key = "~" + in.key // which no theme begins with
	}
	return in
}

// admits reports whether a is of the time that in asks for. What the publisher
// saw before the list was last filled belongs to the query that filled it.
func (in *interest) admits(a *arrival) bool {
	q := &in.query
	switch {
	case !q.Since.IsZero() && a.published.Before(q.Since), !q.Until.IsZero() && !a.published.Before(q.Until):
		return false
	}
	return a.seen.Unix() >= in.filled-int64(fillMargin/time.Second)
}

// asks reports whether in asks for a theme and a provider.
func (in *interest) asks(theme feedring.Theme, provider feedring.Provider) bool {
	return (in.query.Theme == "" || in.query.Theme == theme) && provider.Matches(in.query.Provider)
}

// holds reports whether the list has an entry, or one that tells the same.
func (in *interest) holds(t *table, s slot, shared bool) bool {
	if slices.Contains(in.items, s) {
		return true
	}
	return shared && slices.ContainsFunc(in.items, func(other slot) bool { return t.all[other].tells(&t.all[s]) })
}
