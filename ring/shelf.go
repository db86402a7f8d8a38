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
	sheets map[uint64]weak.Pointer[sheet] // by hash
	sweep  int                            // at how many those are dropped that nobody has
}

// NewShelf returns an empty one.
func NewShelf() *Shelf { return &Shelf{sheets: map[uint64]weak.Pointer[sheet]{}, sweep: 64} }

// share returns the sheet that is equal to s and that others have, or else s,
// which is one of those from now on.
func (f *Shelf) share(s *sheet) *sheet {
	sum := s.hash()
	if same := f.sheets[sum].Value(); same != nil && same.equal(s) {
		return same
	}
	if len(f.sheets) >= f.sweep {
		for sum, w := range f.sheets {
			if w.Value() == nil {
				delete(f.sheets, sum)
			}
		}
		f.sweep = 2*len(f.sheets) + 64
	}
	s.shared = true
	s.groups, s.records = slices.Clip(s.groups), slices.Clip(s.records)
	f.sheets[sum] = weak.Make(s)
	return s
}

func (s *sheet) equal(o *sheet) bool {
	return slices.Equal(s.groups, o.groups) && slices.EqualFunc(s.records, o.records, func(a, b record) bool {
		return a.slots[0].equal(b.slots[0]) && a.slots[1].equal(b.slots[1])
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
