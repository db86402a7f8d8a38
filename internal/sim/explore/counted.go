package explore

// Counted counts different groups over several explorations of as many peers,
// which meet the same ones: a group is one wherever it is met, and whatever is
// left of the budget of faults. The zero value has seen none. It takes some 15
// bytes a group.
type Counted struct{ seen *set }

// add reports whether nobody met a group before. Numbers of peers, messages and
// lanes are those of one exploration, so their hashes count; and what waits in
// different lanes waits in no order.
func (c *Counted) add(s *state, b *interner) bool {
	if c.seen == nil {
		c.seen = newSet()
	}
	h := mix(uint64(s.n)<<40 ^ uint64(s.stopped)<<32 ^ uint64(s.cut))
	for _, p := range s.peers[:s.n] {
		h = mix(h ^ b.hashes[p])
	}
	var flights, before uint64
	for i, f := range s.flights {
		if s.head(i) {
			before = 0
		}
		before = mix(before ^ mix(b.prints[f.msg]^uint64(f.from)<<16^uint64(f.to)<<8^uint64(f.age)))
		flights += mix(before)
	}
	return c.seen.add(max(1, mix(h^flights)))
}
