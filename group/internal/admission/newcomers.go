package admission

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
	"github.com/feedring/feedring/internal/clone"
	"github.com/feedring/feedring/internal/standing"
)

// Bounds of admission.
const (
	admittedInPeriod = 16       // newcomers with a prefix
	maxWaiting       = 256      // newcomers, of all prefixes
	maxWaitingOf     = 8        // and of one
	maxAdmitted      = 4096     // newcomers that have not answered
	maxBytes         = 64 << 20 // of the rows of all newcomers
	maxCalled        = 8        // newcomers that are called on the word of others, for each beat
	patience         = 3        // periods after which who does not answer is forgotten
	fullFor          = 10       // periods for which a prefix without room is sent away
)

// newcomer is a peer that asked for admission on its own connection.
type newcomer struct {
	Row    *catalogue.Row
	Prefix standing.Prefix
	Since  time.Time // when it asked first, or, once it is admitted, when that was
	size   int
}

// newcomers is what a manager knows of peers that are not in the catalogue yet. One
// waits until its turn has come, is then told that it is admitted, and enters the
// catalogue with its first answer.
type newcomers struct {
	refresh  time.Duration
	waiting  map[feedring.PeerID]*newcomer
	admitted map[feedring.PeerID]*newcomer
	began    time.Time // this period
	drawn    map[standing.Prefix]int
	count    int // of this period
	called   int // see Admitter.Call
}

func newNewcomers(refresh time.Duration) newcomers {
	return newcomers{
		refresh: refresh, waiting: map[feedring.PeerID]*newcomer{}, admitted: map[feedring.PeerID]*newcomer{}, drawn: map[standing.Prefix]int{},
	}
}

func (a *newcomers) clone() newcomers {
	c := *a
	c.waiting, c.admitted, c.drawn = clone.Map(a.waiting), clone.Map(a.admitted), maps.Clone(a.drawn)
	return c
}

// rebase lets time pass unseen: no newcomer gets nearer to being forgotten.
func (a *newcomers) rebase(now time.Time) {
	a.began, a.called = now, 0
	for _, all := range []map[feedring.PeerID]*newcomer{a.waiting, a.admitted} {
		for _, n := range all {
			n.Since = now
		}
	}
}

// ask takes a request. Where urgent, the newcomer is admitted whatever others ask.
// It returns whether the newcomer is admitted; if not, it waits for draw.
func (a *newcomers) ask(n newcomer, urgent bool) bool {
	p := n.Row.Peer
	n.size = n.Row.Size()
	if a.bytes(p)+n.size > maxBytes {
		return false
	}
	if was := a.admitted[p]; was != nil {
		was.Row, was.size = n.Row, n.size
		return true
	}
	if urgent && len(a.admitted) < maxAdmitted {
		delete(a.waiting, p)
		a.admitted[p] = &n
		return true
	}
	if was := a.waiting[p]; was != nil {
		was.Row, was.size, was.Prefix = n.Row, n.size, n.Prefix
		return false
	}
	if a.roomToWait(n.Prefix) {
		a.waiting[p] = &n
	}
	return false
}

// bytes is how much the rows of all but one newcomer take.
func (a *newcomers) bytes(but feedring.PeerID) (sum int) {
	for _, all := range []map[feedring.PeerID]*newcomer{a.waiting, a.admitted} {
		for p, n := range all {
			if p != but {
				sum += n.size
			}
		}
	}
	return sum
}

// roomToWait makes room for one more of a prefix that waits for nobody yet, if need be.
func (a *newcomers) roomToWait(prefix standing.Prefix) bool {
	of := map[standing.Prefix]int{}
	for _, n := range a.waiting {
		of[n.Prefix]++
	}
	switch {
	case of[prefix] >= maxWaitingOf:
		return false
	case len(a.waiting) < maxWaiting:
		return true
	case of[prefix] > 0:
		return false
	}
	last := slices.MaxFunc(slices.Collect(maps.Keys(a.waiting)), func(p, q feedring.PeerID) int {
		x, y := a.waiting[p], a.waiting[q]
		return cmp.Or(cmp.Compare(of[x.Prefix], of[y.Prefix]), x.Since.Compare(y.Since), cmp.Compare(p, q))
	})
	delete(a.waiting, last)
	return true
}

// draw admits those of the waiting whose turn has come, and returns them. Prefixes take
// turns, not keys: the one of which fewest were drawn in this period goes first, then
// the one that holds fewest places.
func (a *newcomers) draw(now time.Time, occupied *standing.Occupancy) (in []feedring.PeerID) {
	if now.Sub(a.began) >= a.refresh {
		a.began, a.count = now, 0
		clear(a.drawn)
	}
	for a.count < admittedInPeriod && len(a.waiting) > 0 {
		p := slices.MinFunc(slices.Collect(maps.Keys(a.waiting)), func(p, q feedring.PeerID) int {
			x, y := a.waiting[p], a.waiting[q]
			return cmp.Or(
				catalogue.FalseFirst(!occupied.Free(x.Prefix), !occupied.Free(y.Prefix)),
				cmp.Compare(a.drawn[x.Prefix], a.drawn[y.Prefix]), cmp.Compare(occupied.Of(x.Prefix), occupied.Of(y.Prefix)),
				x.Since.Compare(y.Since), cmp.Compare(p, q),
			)
		})
		n := a.waiting[p]
		if !occupied.Free(n.Prefix) {
			break
		}
		occupied.Add(n.Prefix)
		a.count++
		a.drawn[n.Prefix]++
		delete(a.waiting, p)
		n.Since = now
		a.admitted[p] = n
		in = append(in, p)
	}
	return in
}

// again is when a newcomer that was not admitted should ask next.
func (a *newcomers) again(prefix standing.Prefix, occupied *standing.Occupancy) time.Duration {
	if !occupied.Free(prefix) {
		return fullFor * a.refresh
	}
	return a.refresh
}

// unanswered lists the admitted that have not answered yet, in order, and forgets those
// that had long enough.
func (a *newcomers) unanswered(now time.Time) []feedring.PeerID {
	late := func(_ feedring.PeerID, n *newcomer) bool { return now.Sub(n.Since) >= patience*a.refresh }
	maps.DeleteFunc(a.waiting, late)
	maps.DeleteFunc(a.admitted, late)
	a.called = 0
	return slices.Sorted(maps.Keys(a.admitted))
}
