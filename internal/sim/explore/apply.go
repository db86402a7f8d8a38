package explore

import "slices"

// apply returns what becomes of s by a.
func (x *explorer) apply(s *state, a action) *state {
	next := s.clone()
	p := int(a.a)
	switch a.deed {
	case arrive:
		f := s.flights[a.a]
		next.flights = slices.Delete(next.flights, p, p+1)
		x.react(next, int(f.to), happening{what: receives, from: f.from, with: uint32(f.msg)})
	case lose:
		next.flights = slices.Delete(next.flights, p, p+1)
	case timer:
		x.react(next, p, happening{what: fires})
	case pass:
		x.pass(next)
	case rival:
		x.react(next, p, happening{what: hears, with: uint32(s.peers[a.b])})
	case start:
		x.react(next, p, happening{what: restarts})
	case crash:
		next.peers[p] = x.interner.crash(s.peers[p])[a.b]
		next.stopped &^= 1 << p
		next.flights = slices.DeleteFunc(next.flights, func(f flight) bool { return int(f.to) == p })
	case stop:
		next.stopped |= 1 << p
	case goOn:
		next.stopped &^= 1 << p
	case cut:
		next.cut = a.b
		next.flights = slices.DeleteFunc(next.flights, func(f flight) bool { return next.isCut(int(f.from), int(f.to)) })
	case heal:
		next.cut = 0
	}
	if a.deed >= crash {
		next.left--
	}
	return next
}

// react changes one peer, and sends what it sends.
func (x *explorer) react(s *state, p int, h happening) {
	h.peer = s.peers[p]
	became := x.interner.react(h)
	s.peers[p] = became.peer
	for _, e := range x.interner.sent[became.sent] {
		x.send(s, flight{from: uint8(p), to: e.to, lane: x.interner.lanes[e.msg], msg: e.msg})
	}
}

func (x *explorer) send(s *state, f flight) {
	from, to := int(f.from), int(f.to)
	if from == to {
		s.flights = slices.DeleteFunc(s.flights, f.sameLane)
	} else if !x.interner.briefs[s.peers[to]].up || s.isCut(from, to) {
		return
	}
	if s.isStopped(to) {
		held := 0
		for _, o := range s.flights {
			if o.sameLane(f) {
				held++
			}
		}
		if held >= maxHeld {
			return
		}
	}
	s.insert(f)
}

// pass lets a unit of time pass. What has not arrived is late by it.
func (x *explorer) pass(s *state) {
	if price, _ := x.price(s); price <= int(s.left) {
		s.left -= uint8(price)
	}
	for i := range s.flights {
		if !s.isStopped(int(s.flights[i].to)) {
			s.flights[i].age++
		}
	}
	for p := range s.n {
		if id := s.peers[p]; x.interner.briefs[id].up {
			s.peers[p] = x.interner.react(happening{peer: id, what: elapses}).peer
		}
	}
}
