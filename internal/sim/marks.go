package sim

import (
	"slices"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/sim/disk"
)

// marks are how far a reader is, by the index of the log; zero: it has nothing of
// that log.
type marks []feedring.Position

func (m marks) of(l *disk.Log) feedring.Position { return m.at(l.Index) }

func (m marks) at(log int) feedring.Position {
	if log >= len(m) {
		return feedring.Position{}
	}
	return m[log]
}

func (m *marks) put(log int, at feedring.Position) {
	if missing := log + 1 - len(*m); missing > 0 {
		*m = append(*m, make(marks, missing)...)
	}
	(*m)[log] = at
}

// idSet is a set of ids of entries, which are small numbers.
type idSet []uint64

func (s idSet) has(id int) bool { return id/64 < len(s) && s[id/64]&(1<<(id%64)) != 0 }

func (s *idSet) add(id int) {
	if missing := id/64 + 1 - len(*s); missing > 0 {
		*s = append(*s, slices.Repeat(idSet{0}, missing)...)
	}
	(*s)[id/64] |= 1 << (id % 64)
}
