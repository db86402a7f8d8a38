package check

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/ring"
)

// firstHop is the first message of an arc, as its coordinator sent it.
type firstHop struct {
	search ring.Search
	at     time.Duration
}

// firstHops checks that the two arcs of a search part the ring: they end at the
// same group, which the successors' has, and C is the same for an odd ring, and
// one less on the way back for an even one (S7).
func (w *Witness) firstHops(p int32, s ring.Search) {
	if s.Hop != 1 || s.Direction == ring.Direct || s.Coordinator != w.cfg.Name(p) {
		return
	}
	was, some := w.rules.first[p]
	w.rules.first[p] = firstHop{s, w.cfg.Now()}
	other := was.search
	if !some || was.at != w.cfg.Now() || other.ID != s.ID || other.Attempt != s.Attempt || other.Direction == s.Direction {
		return
	}
	if s.Direction == ring.Successor {
		s, other = other, s
	}
	if s.End != other.End || other.C-s.C != 0 && other.C-s.C != 1 {
		w.Fail("S7", "%s searches with arcs that do not part the ring: C = %d and %d", w.cfg.Name(p), other.C, s.C)
	}
}

// hopping names one arc as a peer passes it on.
type hopping struct {
	id        feedring.QueryID
	attempt   uint32
	direction ring.Direction
}

// waiting is a hop that was not acknowledged yet.
type waiting struct {
	of    hopping
	since time.Duration
}

const hopPatience = 500 * time.Millisecond

// hops notes a search that a peer passes on. Coordinators ask for what is
// missing themselves, and a peer of several groups may pass on to itself.
func (w *Witness) hops(p int32, s ring.Search) {
	o, of := w.of(p), hopping{s.ID, s.Attempt, s.Direction}
	o.hopped(of)
	if s.Coordinator != w.cfg.Name(p) && s.Direction != ring.Direct && s.Within > 2*hopPatience && o.groups() == 1 {
		o.hops = append(o.hops, waiting{of, w.cfg.Now()})
	}
}

// hopped ends the wait for a hop.
func (o *observed) hopped(of hopping) {
	o.hops = slices.DeleteFunc(o.hops, func(h waiting) bool { return h.of == of })
}

// groups is how many groups a peer is a member of.
func (o *observed) groups() (n int) {
	for _, s := range o.seats {
		if s.role != feedring.RoleNone {
			n++
		}
	}
	return n
}

// reroutes checks that a peer goes on with what was not acknowledged in time
// (S7).
func (w *Witness) reroutes(p int32, o *observed) {
	for len(o.hops) > 0 && w.cfg.Now()-o.hops[0].since >= 2*hopPatience {
		since := o.hops[0].since
		o.hops = slices.Delete(o.hops, 0, 1)
		if w.cfg.Steady(p, since-time.Second) {
			w.Fail("S7", "%s does not go on with a search that was not acknowledged", w.cfg.Name(p))
		}
	}
}
