package stage

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/feedring/feedring"
)

// agenda is what will happen on a stage that is played in slices: see
// Config.Slices. What happens in a slice is sorted by peer only when its turn
// comes, and a peer's part of it is done while what the peer weighs is at hand:
// with thousands of peers that is most of what a message costs.
type agenda struct {
	width time.Duration
	next  int64 // the first slice that was not begun
	lanes [lanes]*lane
}

// Nobody's events come first, one after the other: what they do may concern all.
// Then the other lanes go on side by side, each with groups of its own. Their number
// is always the same, so that the order of events is.
const (
	nobodys = iota
	lanes   = 3
)

// lane is what is played by one goroutine.
type lane struct {
	agenda *agenda
	number uint64
	now    time.Duration
	turn   uint64     // of what was arranged by it in this slice
	boxes  [lanes]box // what it arranged, by the lane whose it is

	order []visit // of the slice that is played
	whose *Host   // whose part is played; nil: what is nobody's
	soon  []event // what came up for it meanwhile, in order
	busy  bool    // a slice is played

	// Of the slice that is played, for the stage.
	steps    uint64
	messages int

	interner *interner
}

// box holds events on their way from one lane to another.
type box struct {
	near  [3][]event        // of slices next, next+1, and that which is played, by number modulo 3
	late  []event           // more of that which is played
	later map[int64][]event // of those after, by number
}

// visit is one event of a slice, by what sorts it.
type visit struct {
	place uint64 // of the host, those of a group side by side; 0: nobody's
	at    time.Duration
	turn  uint64
	event *event
}

func newAgenda(width time.Duration) *agenda {
	a := &agenda{width: width}
	for i := range a.lanes {
		l := &lane{agenda: a, number: uint64(i), interner: newInterner()}
		for k := range l.boxes {
			l.boxes[k].later = map[int64][]event{}
		}
		a.lanes[i] = l
	}
	return a
}

// put arranges e. What is for another peer than the one that is played, and
// sooner than the next slice, waits for it.
func (l *lane) put(e event) {
	a := l.agenda
	l.turn++
	e.turn = (uint64(a.next)<<32|l.turn)*lanes + l.number
	n := int64(e.at / a.width)
	if l.busy && n < a.next && e.host == l.whose {
		i := len(l.soon)
		for i > 0 && l.soon[i-1].at > e.at {
			i--
		}
		l.soon = slices.Insert(l.soon, i, e)
		return
	}
	b := &l.boxes[nobodys]
	if e.host != nil {
		b = &l.boxes[e.host.lane.number]
	}
	if n = max(n, a.next); n <= a.next+1 {
		b.near[n%3] = append(b.near[n%3], e)
	} else {
		b.later[n] = append(b.later[n], e)
	}
}

// slice plays the next one.
func (s *Stage) slice() {
	a, begin := s.agenda, s.now
	n := a.next
	a.next++
	for _, l := range a.lanes {
		l.turn = 0
		for i := range l.boxes {
			b := &l.boxes[i]
			b.late = b.later[n]
			delete(b.later, n)
		}
	}
	s.play(a.lanes[nobodys], n, begin)
	s.setTime(begin)
	var playing sync.WaitGroup
	for _, l := range a.lanes[nobodys+1:] {
		playing.Go(func() { s.play(l, n, begin) })
	}
	playing.Wait()
	for _, l := range a.lanes {
		s.Steps, s.Messages = s.Steps+l.steps, s.Messages+l.messages
		l.steps, l.messages = 0, 0
	}
	s.setTime(begin + a.width)
}

func (s *Stage) setTime(now time.Duration) {
	s.now = now
	for _, l := range s.agenda.lanes {
		l.now = now
	}
}

// play plays what is a lane's of slice n.
func (s *Stage) play(l *lane, n int64, begin time.Duration) {
	l.order = l.order[:0]
	boxes := func(do func(events []event)) {
		for _, from := range l.agenda.lanes {
			b := &from.boxes[l.number]
			do(b.near[n%3])
			do(b.late)
		}
	}
	boxes(func(events []event) {
		for i := range events {
			v := visit{at: events[i].at, turn: events[i].turn, event: &events[i]}
			if h := events[i].host; h != nil {
				v.place = h.place
			}
			l.order = append(l.order, v)
		}
	})
	slices.SortFunc(l.order, func(v, w visit) int {
		switch {
		case v.place != w.place:
			return cmp.Compare(v.place, w.place)
		case v.at != w.at:
			return cmp.Compare(v.at, w.at)
		default:
			return cmp.Compare(v.turn, w.turn)
		}
	})
	l.busy = true
	for rest := l.order; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].place == rest[0].place {
			n++
		}
		s.part(l, rest[:n], begin)
		rest = rest[n:]
	}
	l.busy = false
	boxes(func(events []event) { clear(events) })
	for _, from := range l.agenda.lanes {
		b := &from.boxes[l.number]
		b.near[n%3], b.late = b.near[n%3][:0], nil
	}
}

// part plays what one peer does in a slice.
func (s *Stage) part(l *lane, of []visit, begin time.Duration) {
	l.whose = of[0].event.host
	for len(of)+len(l.soon) > 0 {
		var e event
		if len(of) == 0 || len(l.soon) > 0 && l.soon[0].at < of[0].at {
			e = l.soon[0]
			l.soon = slices.Delete(l.soon, 0, 1)
		} else {
			e, of = *of[0].event, of[1:]
		}
		if now := max(e.at, begin); l.number == nobodys {
			s.setTime(now) // others may be made to do something
		} else {
			l.now = now
		}
		s.apply(&e)
	}
}

// settle finds the place of a host that is added next, beside those of its group,
// and the lane that plays it; nil: not in slices.
func (s *Stage) settle(feeds map[feedring.Theme][]feedring.Feed) (place uint64, l *lane) {
	group := 0
	if themes := slices.Sorted(maps.Keys(feeds)); len(themes) > 0 {
		if group = s.numbers[themes[0]]; group == 0 {
			group = len(s.numbers) + 1
			s.numbers[themes[0]] = group
		}
	}
	if s.agenda != nil {
		l = s.agenda.lanes[nobodys+1+group%(lanes-nobodys-1)]
	}
	return uint64(group)<<32 | uint64(len(s.hosts)+1), l
}
