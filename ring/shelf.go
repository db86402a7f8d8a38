package ring

import (
	"bytes"
	"slices"
	"weak"

	"github.com/feedring/feedring"
)

// Shelf lets machines of one process that know the same hold it once: a
// thousand peers of one simulated network have a thousand equal maps. It
// changes nothing that a machine does, and keeps no map alive. One goroutine
// steps all machines of a shelf.
type Shelf struct {
	sheets  pool[sheet]
	leaders pool[leaders]
	records map[record]*record
	found   []feedring.PeerID   // room to find leaders in
	last    weak.Pointer[sheet] // on it: most maps that differ have the same groups all the same
}

// NewShelf returns an empty one.
func NewShelf() *Shelf {
	return &Shelf{sheets: newPool[sheet](), leaders: newPool[leaders](), records: map[record]*record{}}
}

// share returns the sheet that is equal to s and that others have, or else s,
// which is one of those from now on.
func (f *Shelf) share(s *sheet) *sheet {
	sum := s.hash()
	if same := f.sheets.find(sum); same != nil && same.equal(s) {
		return same
	}
	s.shared = true
	s.groups, s.records = slices.Clip(s.groups), fitted(s.records)
	if last := f.last.Value(); last != nil && (sameList(last.groups, s.groups) || slices.Equal(last.groups, s.groups)) {
		if sameList(s.derived.live, s.groups) {
			s.derived.live = last.groups
		}
		s.groups, s.borrowed = last.groups, true
	}
	f.last = f.sheets.put(sum, s)
	return s
}

// fitted returns records in no more room than they need.
func fitted(records []*record) []*record {
	if cap(records) > len(records)+len(records)/8 {
		return slices.Clone(records)
	}
	return slices.Clip(records)
}

// maxRecords is after how many records the shelf forgets which it has seen.
const maxRecords = 4 * maxGroups

// record returns the one that holds what r does.
func (f *Shelf) record(r record) *record {
	if same := f.records[r]; same != nil {
		return same
	}
	if len(f.records) >= maxRecords {
		clear(f.records)
	}
	kept := r
	kept.sum = r.digest()
	f.records[r] = &kept
	return &kept
}

// lead finds the leaders of s, which others may have: maps that differ in counts
// name the same ones. They are compared as the map names them, since to sort
// them costs more than all else about them.
func (f *Shelf) lead(s *sheet) *leaders {
	present, absent := s.leading(f.found[:0], nil)
	named := append(present, absent...)
	f.found = named
	sum := emptyDigest.number(uint64(len(present)))
	for _, p := range named {
		sum = sum.text(string(p))
	}
	if same := f.leaders.find(uint64(sum)); same != nil && same.there == len(present) && slices.Equal(same.named, named) {
		return same
	}
	l := s.derived.sortLeaders(slices.Clone(present), absent)
	l.named, l.there = slices.Clone(named), len(present)
	f.leaders.put(uint64(sum), l)
	return l
}

// pool finds what somebody still has, by hash.
type pool[T any] struct {
	held  map[uint64]weak.Pointer[T]
	sweep int // at how many those are dropped that nobody has
}

func newPool[T any]() pool[T] { return pool[T]{held: map[uint64]weak.Pointer[T]{}, sweep: 64} }

func (p *pool[T]) find(sum uint64) *T { return p.held[sum].Value() }

func (p *pool[T]) put(sum uint64, x *T) weak.Pointer[T] {
	if len(p.held) >= p.sweep {
		for sum, w := range p.held {
			if w.Value() == nil {
				delete(p.held, sum)
			}
		}
		p.sweep = 2*len(p.held) + 64
	}
	w := weak.Make(x)
	p.held[sum] = w
	return w
}

func (s *sheet) equal(o *sheet) bool {
	return (sameList(s.groups, o.groups) || slices.Equal(s.groups, o.groups)) && slices.EqualFunc(s.records, o.records, func(a, b *record) bool {
		return a == b || a.slots[0].equal(b.slots[0]) && a.slots[1].equal(b.slots[1])
	})
}

func (s slot) equal(o slot) bool { return s.row.equal(o.row) && s.lost.equal(o.lost) }

func (row *Row) equal(o *Row) bool {
	if row == o || row == nil || o == nil {
		return row == o
	}
	return SameContent(row, o) && row.Group == o.Group && row.Theme == o.Theme && row.Version == o.Version &&
		row.Manager.ID == o.Manager.ID && row.Deputy.ID == o.Deputy.ID && equalSeals(row.Seal, o.Seal)
}

func (l *Lost) equal(o *Lost) bool {
	if l == o || l == nil || o == nil {
		return l == o
	}
	return l.Group == o.Group && l.Term == o.Term && l.Version == o.Version && l.By == o.By && equalSeals(l.Seal, o.Seal)
}

func equalSeals(a, b *feedring.Seal) bool {
	if a == b || a == nil || b == nil {
		return a == b
	}
	return a.Signer == b.Signer && bytes.Equal(a.Payload, b.Payload) && bytes.Equal(a.Signature, b.Signature)
}
