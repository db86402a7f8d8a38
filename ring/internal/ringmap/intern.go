package ringmap

import (
	"bytes"
	"slices"

	"github.com/feedring/feedring"
)

// Interner finds equal maps of several machines of one process, so that each map is
// held once. A machine decides the same without one.
type Interner interface {
	// Intern returns a map that is equal to s and that another machine has, or s.
	Intern(s *Snapshot) *Snapshot
}

// Equal reports whether two maps have the same rows.
func (s *Snapshot) Equal(o *Snapshot) bool {
	return slices.Equal(s.groups, o.groups) && slices.EqualFunc(s.records, o.records, func(a, b *Record) bool {
		return a == b || a.Slots[0].equal(b.Slots[0]) && a.Slots[1].equal(b.Slots[1])
	})
}

func (s Slot) equal(o Slot) bool { return s.Row.equal(o.Row) && s.Lost.equal(o.Lost) }

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
