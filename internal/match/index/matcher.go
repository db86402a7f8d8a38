package index

import (
	"iter"
	"slices"
)

// Matcher matches entries against an index, one after the other. It is used by
// one goroutine at a time; there may be any number of them. It keeps what the
// last match found, and the state of the index that it was found in, until the
// next one.
type Matcher struct {
	index *Index
	state *snapshot

	doc    scan
	words  []uint32 // numbers of the entry's tokens
	set    set      // the same
	search search
	found  []found
	hits   []uint32 // groups, entries of tails, rules
	asked  []uint32 // rules to be evaluated
	seen   []uint32 // by rule: the turn in which it was asked last
	turn   uint32
}

// found is a part of hits that came from one segment, a tail or the rules.
type found struct {
	segment *segment
	tail    *tail
	to      int // in hits; it begins where the one before ends
}

// NewMatcher returns a matcher of ix.
func (ix *Index) NewMatcher() *Matcher { return &Matcher{index: ix} }

// Match looks for the subscriptions that d matches, and finds exactly those
// that were inserted and not deleted before it began; of what changes while it
// works it may find either. It reports the number of groups found: interests,
// each with one owner or more, except that after deletions some may have none
// left, and that lately inserted ones are not grouped yet.
//
// It takes time by what d has of rarest words of interests, and allocates
// nothing once it has seen a large entry.
func (m *Matcher) Match(d *Doc) (groups int) {
	s, plain, gates := m.index.pin() // before words are looked up: it knows all of them
	m.state = s
	m.found, m.hits = m.found[:0], m.hits[:0]
	m.read(d, s.dict)
	m.level(&s.plain, plain)
	m.gates(d, gates)
	for _, t := range m.words {
		m.set[t] = 0
	}
	return len(m.hits)
}

// pin returns a snapshot and how many entries of its tails belong to it: what
// was there at one moment. It tries again if something was inserted meanwhile.
func (ix *Index) pin() (s *snapshot, plain, gates uint32) {
	for {
		s = ix.now.Load()
		plain = s.plain.tail.n.Load()
		gates = s.gates.tail.n.Load()
		if plain == s.plain.tail.n.Load() && ix.now.Load() == s {
			return s, plain, gates
		}
	}
}

// read fills words and set.
func (m *Matcher) read(d *Doc, dict *dict) {
	m.doc.read(d, dict.units.Load() > 0)
	m.words = dict.table.Load().findAll(m.doc.text, m.doc.tokens, m.words[:0])
	if need := int(dict.count.Load()); need > len(m.set) {
		m.set = make(set, max(need+need/4, lows))
	}
	n := 0
	for _, t := range m.words {
		m.words[n] = t
		n += int(1 - m.set[t])
		m.set[t] = 1
	}
	m.words = m.words[:n]
}

// level looks through one level, whose tail has n entries.
func (m *Matcher) level(l *level, n uint32) {
	for _, seg := range l.segments {
		m.hits = m.search.match(seg, m.words, m.set, m.hits)
		m.found = append(m.found, found{segment: seg, to: len(m.hits)})
	}
	if n > 0 {
		for _, t := range m.words {
			m.hits = l.tail.match(t, n, m.set, m.hits)
		}
		m.found = append(m.found, found{tail: l.tail, to: len(m.hits)})
	}
}

// gates evaluates the rules whose conjunctions are satisfied, each once.
func (m *Matcher) gates(d *Doc, n uint32) {
	if len(m.state.rules) == 0 {
		return
	}
	part, from := len(m.found), len(m.hits)
	m.level(&m.state.gates, n)
	m.ask(part, from)
	m.found, m.hits = m.found[:part], m.hits[:from]
	for _, number := range m.asked {
		if m.state.rules[number].matches(d) {
			m.hits = append(m.hits, number)
		}
	}
	m.found = append(m.found, found{to: len(m.hits)})
}

// ask sets asked to the owners of what was found from there on, each once.
func (m *Matcher) ask(part, from int) {
	m.asked = m.asked[:0]
	for ; part < len(m.found); part++ {
		f := &m.found[part]
		m.asked = f.owners(m.hits[from:f.to], m.asked)
		from = f.to
	}
	if m.turn++; m.turn == 0 {
		clear(m.seen)
		m.turn = 1
	}
	if need := len(m.state.rules); need > len(m.seen) {
		m.seen = append(m.seen, make([]uint32, need-len(m.seen)+need/4)...)
	}
	each := m.asked[:0]
	for _, number := range m.asked {
		if m.seen[number] != m.turn {
			m.seen[number] = m.turn
			each = append(each, number)
		}
	}
	m.asked = each
}

// owners appends the owners of hits in f.
func (f *found) owners(hits, to []uint32) []uint32 {
	for _, hit := range hits {
		if f.tail != nil {
			to = append(to, uint32(f.tail.entries[hit].owner))
		} else {
			to = append(to, f.segment.owned(hit)...)
		}
	}
	return to
}

// IDs yields the subscriptions that the last Match found, each once, in no
// order that means anything. It stops early without harm.
func (m *Matcher) IDs() iter.Seq[ID] {
	return func(yield func(ID) bool) {
		from := 0
		for i := range m.found {
			f := &m.found[i]
			if !m.part(f, m.hits[from:f.to], yield) {
				return
			}
			from = f.to
		}
	}
}

func (m *Matcher) part(f *found, hits []uint32, yield func(ID) bool) bool {
	if f.tail == nil && f.segment == nil {
		for _, rule := range hits {
			for _, id := range *m.state.rules[rule].owners.Load() {
				if !m.one(id, yield) {
					return false
				}
			}
		}
		return true
	}
	for _, hit := range hits {
		if f.tail != nil {
			if !m.one(ID(f.tail.entries[hit].owner), yield) {
				return false
			}
			continue
		}
		for _, id := range f.segment.owned(hit) {
			if !m.one(ID(id), yield) {
				return false
			}
		}
	}
	return true
}

// one yields id if it is there. While nothing was deleted, that needs no look.
func (m *Matcher) one(id ID, yield func(ID) bool) bool {
	if m.state.pruned.Load() && !m.state.live.has(id) {
		return true
	}
	return yield(id)
}

// Append appends the subscriptions that the last Match found, sorted.
func (m *Matcher) Append(ids []ID) []ID {
	from := len(ids)
	for id := range m.IDs() {
		ids = append(ids, id)
	}
	slices.Sort(ids[from:])
	return ids
}
