// Package truth decides whether an answer lacks what somebody says that there is. It asks
// nobody and knows no clock: nobody signs what is not there, so whoever is told that an
// entry is lacking asks for it.
package truth

import (
	"time"

	"github.com/feedring/feedring"
)

// Answer is which entries one provider gave as its first answer. It is used by one
// goroutine at a time.
type Answer struct {
	since, until time.Time
	limit, count int
	copies       map[uint64]bool
	oldest       time.Time
}

// NewAnswer returns an answer without entries to a query whose limit is set.
func NewAnswer(q *feedring.Query) *Answer {
	return &Answer{since: q.Since, until: q.Until, limit: q.Limit, copies: make(map[uint64]bool)}
}

// Add notes an entry that came, whether or not it is shown.
func (a *Answer) Add(e feedring.Hint) {
	a.copies[e.Copy] = true
	if a.count++; a.oldest.IsZero() || e.Published.Before(a.oldest) {
		a.oldest = e.Published
	}
}

// Has reports whether an entry came.
func (a *Answer) Has(e feedring.Hint) bool { return a.copies[e.Copy] }

// Lacks returns those of the entries that somebody else holds, and that all belong to what
// was asked for but perhaps for their dates, which should have come and did not: nothing
// older than the last of an answer with as many entries as were asked for.
func (a *Answer) Lacks(held []feedring.Hint) (lacking []feedring.Hint) {
	for _, e := range held {
		switch {
		case a.copies[e.Copy]:
		case !a.since.IsZero() && e.Published.Before(a.since), !a.until.IsZero() && !e.Published.Before(a.until):
		case a.count >= a.limit && !e.Published.After(a.oldest):
		default:
			lacking = append(lacking, e)
		}
	}
	return lacking
}

// Recent is which entries came of late. It is used by one goroutine at a time. The zero
// Recent is empty.
type Recent struct{ now, before map[uint64]bool }

// mostRecent is how many entries each half of a Recent has.
const mostRecent = 4096

// Add notes an entry.
func (r *Recent) Add(e feedring.Hint) {
	if r.now == nil || len(r.now) >= mostRecent {
		r.now, r.before = make(map[uint64]bool), r.now
	}
	r.now[e.Copy] = true
}

// Lacks returns those of held that are dated between two times and did not come.
func (r *Recent) Lacks(held []feedring.Hint, from, to time.Time) (lacking []feedring.Hint) {
	for _, e := range held {
		if !e.Published.Before(from) && e.Published.Before(to) && !r.now[e.Copy] && !r.before[e.Copy] {
			lacking = append(lacking, e)
		}
	}
	return lacking
}
