package stage

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/feedring/feedring"
)

// agenda is what will happen on a stage that is played in slices: see
// Config.Slices. What happens in a slice is sorted by peer only when its turn
// comes, and a peer's part of it is done while what the peer weighs is at hand:
// with thousands of peers that is most of what a message costs.
type agenda struct {
	width time.Duration
	turn  uint64
	next  int64             // the first slice that was not begun
	near  [3][]event        // of slices next, next+1, and that which is played, by number modulo 3
	later map[int64][]event // of those after, by number

	order []visit // of the slice that is played
	whose *Host   // whose part is played; nil: what is nobody's
	soon  []event // what came up for it meanwhile, in order
	busy  bool    // a slice is played
}

// visit is one event of a slice, by what sorts it.
type visit struct {
	place uint64 // of the host, those of a group side by side; 0: nobody's
	at    time.Duration
	turn  uint64
	event int
}

func newAgenda(width time.Duration) *agenda {
	return &agenda{width: width, later: map[int64][]event{}}
}

// put arranges e. What is for another peer than the one that is played, and
// sooner than the next slice, waits for it.
func (a *agenda) put(e event) {
	a.turn++
	e.turn = a.turn
	n := int64(e.at / a.width)
	if a.busy && n < a.next && e.host == a.whose {
		i := len(a.soon)
		for i > 0 && a.soon[i-1].at > e.at {
			i--
		}
		a.soon = slices.Insert(a.soon, i, e)
		return
	}
	if n = max(n, a.next); n <= a.next+1 {
		a.near[n%3] = append(a.near[n%3], e)
	} else {
		a.later[n] = append(a.later[n], e)
	}
}

// slice plays the next one.
func (s *Stage) slice() {
	a, begin := s.agenda, s.now
	near := &a.near[a.next%3]
	events := append(*near, a.later[a.next]...)
	delete(a.later, a.next)
	a.next++
	a.order = a.order[:0]
	for i := range events {
		v := visit{at: events[i].at, turn: events[i].turn, event: i}
		if h := events[i].host; h != nil {
			v.place = h.place
		}
		a.order = append(a.order, v)
	}
	slices.SortFunc(a.order, func(v, w visit) int {
		switch {
		case v.place != w.place:
			return cmp.Compare(v.place, w.place)
		case v.at != w.at:
			return cmp.Compare(v.at, w.at)
		default:
			return cmp.Compare(v.turn, w.turn)
		}
	})
	a.busy = true
	for rest := a.order; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].place == rest[0].place {
			n++
		}
		s.part(events, rest[:n], begin)
		rest = rest[n:]
	}
	a.busy = false
	s.now = begin + a.width
	clear(events)
	*near = events[:0]
}

// part plays what one peer does in a slice.
func (s *Stage) part(events []event, of []visit, begin time.Duration) {
	a := s.agenda
	a.whose = events[of[0].event].host
	for len(of)+len(a.soon) > 0 {
		var e event
		if len(of) == 0 || len(a.soon) > 0 && a.soon[0].at < of[0].at {
			e = a.soon[0]
			a.soon = slices.Delete(a.soon, 0, 1)
		} else {
			e, of = events[of[0].event], of[1:]
		}
		s.now = max(e.at, begin)
		s.happen(&e)
	}
}

// place is for a host that is added next: beside those of its group.
func (s *Stage) place(feeds map[feedring.Theme][]feedring.Feed) uint64 {
	group := 0
	if themes := slices.Sorted(maps.Keys(feeds)); len(themes) > 0 {
		if group = s.numbers[themes[0]]; group == 0 {
			group = len(s.numbers) + 1
			s.numbers[themes[0]] = group
		}
	}
	return uint64(group)<<32 | uint64(len(s.hosts)+1)
}
