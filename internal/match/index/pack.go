package index

import (
	"cmp"
	"slices"
)

// pack builds everything anew: tokens that are in use, numbered by how many ask
// them, one segment without what was deleted, and rules that have an owner.
func (ix *Index) pack() { ix.packWith(ix.now.Load().plain.room()) }

// packWith packs conjunctions that are filed nowhere, whose tokens are in no order,
// with everything else.
func (ix *Index) packWith(plain rows) {
	old := ix.now.Load()
	s := &snapshot{live: slices.Clone(old.live)}
	ix.freeIDs(s.live)
	gates := old.gates.room()
	old.plain.gather(&plain, func(o owner) bool { return s.live.has(ID(o)) })
	ix.packRules(s, old, &gates)

	order := newOrder(int(old.dict.count.Load()))
	order.count(&plain)
	order.count(&gates)
	s.dict = order.renumber(old.dict.table.Load())
	ix.plan.dict = s.dict
	s.plain.fill(order, &plain)
	s.gates.fill(order, &gates)
	ix.packed, ix.gone = ix.count, 0
	ix.now.Store(s)
}

// fill makes one segment of rows, in new numbers, and an empty tail.
func (l *level) fill(o *order, r *rows) {
	o.rewrite(r)
	l.push(build(r, top))
	l.tail = newTail(tailSize(len(r.refs)))
}

// top is the level of what is never merged, only packed.
const top = 1 << 20

// freeIDs takes back the numbers of what was deleted.
func (ix *Index) freeIDs(l live) {
	ix.free = ix.free[:0]
	for id := range ix.next {
		if !l.has(id) {
			ix.free = append(ix.free, id)
		}
	}
	ix.free = slices.Clip(ix.free)
}

// packRules keeps the rules that have an owner left, in new numbers.
func (ix *Index) packRules(s, old *snapshot, gates *rows) {
	clear(ix.rules)
	for _, r := range old.rules {
		owners := slices.DeleteFunc(slices.Clone(*r.owners.Load()), func(id ID) bool { return !s.live.has(id) })
		if len(owners) == 0 {
			continue
		}
		kept := &rule{key: r.key, since: r.since, words: r.words, places: r.places}
		kept.owners.Store(&owners)
		number := uint32(len(s.rules))
		s.rules = append(s.rules, kept)
		ix.rules[r.key] = number
		for i := range kept.places {
			gates.add(ix.plan.rowOf(&kept.places[i]), owner(number))
		}
	}
}

// room returns rows with room for all of l.
func (l *level) room() rows { return roomFor(l.segments, int(l.tail.n.Load())) }

func (l *level) gather(r *rows, keep func(owner) bool) {
	for _, seg := range l.segments {
		seg.gather(r, keep)
	}
	l.tail.gather(r, keep)
}

// order gives tokens new numbers.
type order struct {
	asked []uint32 // by old number: owners that ask it
	now   []uint32 // by old number: the new one
}

func newOrder(tokens int) *order {
	return &order{asked: make([]uint32, tokens), now: make([]uint32, tokens)}
}

func (o *order) count(r *rows) {
	for _, ref := range r.refs {
		for _, t := range r.of(ref) {
			o.asked[t]++
		}
	}
}

// renumber makes a dictionary of the tokens that are asked, the most asked
// first. The old numbers decide between equals, so that nothing depends on
// chance.
func (o *order) renumber(old *table) *dict {
	places := old.places(len(o.asked))
	var used []uint32
	rest := 0
	for t, n := range o.asked {
		if n > 0 {
			used = append(used, uint32(t))
			rest += eights(uint32(old.slots[places[t]].header >> 32))
		}
	}
	slices.SortStableFunc(used, func(a, b uint32) int { return cmp.Compare(o.asked[b], o.asked[a]) })
	d := newDict(len(used)+len(used)/16, rest+rest/16)
	var text []byte
	for _, t := range used {
		var tok token
		text, tok = old.token(int(places[t]), text)
		o.now[t] = d.intern(text, &tok)
	}
	return d
}

// rewrite puts the new numbers into rows.
func (o *order) rewrite(r *rows) {
	done := ^uint32(0)
	for i := range r.refs {
		ref := &r.refs[i]
		tokens := r.of(*ref)
		if ref.at != done { // the owners of one conjunction stand beside each other
			for j, t := range tokens {
				tokens[j] = o.now[t]
			}
			tokens = descending(tokens)
			done = ref.at
		}
		ref.key = rowKey(tokens)
	}
}
