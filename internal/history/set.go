package history

import (
	"encoding/binary"
	"math/bits"
)

// set is a set of the documents of a segment or of the tail, one bit each.
type set []uint64

// words64 is how long a set of so many documents is.
func words64(docs int) int { return (docs + 63) / 64 }

func (s set) add(id int) { s[id>>6] |= 1 << (id & 63) }

// addGaps adds what a list holds. It reports false for what is no list of
// documents below docs.
func (s set) addGaps(gaps []byte, docs int) bool {
	id := -1
	for i := 0; i < len(gaps); {
		gap := uint64(gaps[i])
		if i++; gap >= 0x80 {
			n := 0
			if gap, n = binary.Uvarint(gaps[i-1:]); n <= 0 || gap >= uint64(docs) {
				return false
			}
			i += n - 1
		}
		if id += int(gap) + 1; id >= docs {
			return false
		}
		s.add(id)
	}
	return true
}

// addBits adds what a row of bits holds.
func (s set) addBits(row []byte, docs int) bool {
	if len(row) != (docs+7)/8 || docs%8 != 0 && row[len(row)-1]>>(docs%8) != 0 {
		return false
	}
	for ; len(row) >= 8; row, s = row[8:], s[1:] {
		s[0] |= binary.LittleEndian.Uint64(row)
	}
	for i, b := range row {
		s[0] |= uint64(b) << (8 * i)
	}
	return true
}

func (s set) and(o set) {
	for i := range s {
		s[i] &= o[i]
	}
}

func (s set) or(o set) {
	for i := range s {
		s[i] |= o[i]
	}
}

// invert makes of s those of docs documents that it does not hold.
func (s set) invert(docs int) {
	for i := range s {
		s[i] = ^s[i]
	}
	if docs%64 != 0 {
		s[len(s)-1] &= 1<<(docs%64) - 1
	}
}

func (s set) empty() bool {
	for _, w := range s {
		if w != 0 {
			return false
		}
	}
	return true
}

// next returns the least document from id on, or -1.
func (s set) next(id int) int {
	for i := id >> 6; i < len(s); i++ {
		w := s[i]
		if i == id>>6 {
			w &= ^uint64(0) << (id & 63)
		}
		if w != 0 {
			return i<<6 + bits.TrailingZeros64(w)
		}
	}
	return -1
}
