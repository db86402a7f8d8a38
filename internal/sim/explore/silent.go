package explore

// silent returns s in the fixed order of onward, after each thing that may
// silence its manager, before the last unit of time that passes until what is
// awaited is seen; nothing where it never is.
func (x *explorer) silent(s *state, comes func(sight) bool) (roots []*state) {
	for _, silenced := range x.silenced(s) {
		if eve, _ := x.eve(silenced, comes); eve != nil {
			roots = append(roots, eve)
		}
	}
	return x.different(roots)
}

// silenced returns what silences the manager of s: it crashes; it and the first
// to suspect it crash; it stops; nobody hears it, who hears all; only the first
// to suspect it does not hear it.
func (x *explorer) silenced(s *state) []*state {
	manager := x.settled(s)
	after := func(faults ...action) *state {
		r := s.clone()
		r.left = uint8(len(faults))
		for _, a := range faults {
			r = x.apply(r, a)
		}
		return r
	}
	gone := action{deed: crash, a: manager}
	all := []*state{after(gone), after(action{deed: stop, a: manager})}
	var unheard uint32
	for p := range s.n {
		if p != int(manager) {
			unheard |= s.direction(int(manager), p)
		}
	}
	all = append(all, after(action{deed: cut, b: unheard}))
	if _, first := x.eve(all[0], sight.suspected); first != manager {
		all = append(all, after(gone, action{deed: crash, a: first}),
			after(action{deed: cut, b: s.direction(int(manager), int(first))}))
	}
	return all
}

// eve runs s on without faults until what is awaited is seen: it returns the
// state before the last unit of time that passes until then, nil where it does
// not come within 3r, and whose timer brings it.
func (x *explorer) eve(s *state, comes func(sight) bool) (eve *state, by uint8) {
	eve = s
	for units := 0; units < 3*unitsPerRefresh; {
		next, passed := x.onward(s, forwards, func(_ *state, a action) { by = a.a })
		if comes(x.see(next)) {
			return eve, by
		}
		if passed {
			units++
			eve = s
		}
		s = next
	}
	return nil, x.settled(s)
}
