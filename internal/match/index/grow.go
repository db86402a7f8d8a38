package index

import "slices"

const (
	minTail = 256
	maxTail = 16 << 10

	fanout  = 8       // segments of a level that become one of the next
	minPack = 4 << 10 // subscriptions that came or went before packing is worth while
)

// takeID gives out a number and notes that it is there. Nobody finds it before
// it is filed.
func (ix *Index) takeID() ID {
	var id ID
	if n := len(ix.free); n > 0 {
		id, ix.free = ix.free[n-1], ix.free[:n-1]
	} else {
		id = ix.next
		ix.next++
	}
	s := ix.now.Load()
	if int(id/64) >= len(s.live) {
		s = s.clone()
		s.live = append(s.live, newLive(len(s.live)*64)...)
		ix.now.Store(s)
	}
	s.live.set(id)
	ix.count++
	return id
}

// clone copies a snapshot, to be changed and stored in its place.
func (s *snapshot) clone() *snapshot {
	c := &snapshot{dict: s.dict, live: s.live, plain: s.plain, gates: s.gates, rules: s.rules}
	c.pruned.Store(s.pruned.Load())
	return c
}

func (ix *Index) addPlain(row []uint32, o owner) {
	s := ix.now.Load()
	if s.plain.tail.full(len(row)) {
		s = s.clone()
		s.plain.flush(func(o owner) bool { return s.live.has(ID(o)) }, ix.count)
		ix.now.Store(s)
	}
	s.plain.tail.add(row, o)
}

// addRule gives a rule a number. Readers of an older snapshot do not see that
// its list grows.
func (ix *Index) addRule(r *rule) uint32 {
	s := ix.now.Load().clone()
	number := uint32(len(s.rules))
	s.rules = append(s.rules, r)
	ix.rules[r.key] = number
	ix.now.Store(s)
	return number
}

// fileRule puts a rule under each of its branches.
func (ix *Index) fileRule(number uint32) {
	s := ix.now.Load()
	for i := range s.rules[number].places {
		row := ix.plan.rowOf(&s.rules[number].places[i])
		if s.gates.tail.full(len(row)) {
			s = s.clone()
			s.gates.flush(func(owner) bool { return true }, len(s.rules))
			ix.now.Store(s)
		}
		s.gates.tail.add(row, owner(number))
	}
}

// flush makes a segment of the tail, and larger ones of small ones.
func (l *level) flush(keep func(owner) bool, count int) {
	r := roomFor(nil, int(l.tail.n.Load()))
	l.tail.gather(&r, keep)
	l.segments = slices.Clone(l.segments)
	l.push(build(&r, 0))
	for l.crowded() {
		cut := len(l.segments) - fanout
		r := roomFor(l.segments[cut:], 0)
		for _, seg := range l.segments[cut:] {
			seg.gather(&r, keep)
		}
		height := l.segments[cut].level + 1
		l.segments = l.segments[:cut]
		l.push(build(&r, height))
	}
	l.tail = newTail(tailSize(count))
}

func (l *level) push(s *segment) {
	if s != nil {
		l.segments = append(l.segments, s)
	}
}

// crowded reports whether the last fanout segments are of one level.
func (l *level) crowded() bool {
	n := len(l.segments)
	return n >= fanout && l.segments[n-fanout].level == l.segments[n-1].level
}

// tailSize is a sixteenth of what there is, as a power of two.
func tailSize(count int) int {
	size := minTail
	for size < maxTail && size*16 < count {
		size *= 2
	}
	return size
}

// settle packs the index if it has changed enough.
func (ix *Index) settle() {
	grown := ix.count >= 8*ix.packed+minPack
	lost := ix.gone >= ix.count+minPack
	if grown || lost {
		ix.pack()
	}
}
