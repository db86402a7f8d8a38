package match

import (
	"encoding/binary"
	"math/bits"
)

const (
	ones  = 0x0101010101010101 // one in each of eight bytes
	highs = 0x80 * ones
)

// foldSWAR folds s into out, eight bytes at a time, as long as they are
// letters and digits of ASCII and single blanks, and returns how many it folded:
// no fold is longer or shorter than its letter. out has room for len(s). open
// says that a word is open, so that a blank may be the first.
func foldSWAR(out []byte, s string, open bool) int {
	before := uint64(0x80) // the last byte was a blank
	if open {
		before = 0
	}
	i := 0
	for ; i+8 <= len(s); i += 8 {
		v := load8(s[i:])
		ascii := v &^ highs
		upper := between(ascii, 'A', 'Z')
		blanks := between(ascii, ' ', ' ')
		good := upper | between(ascii, 'a', 'z') | between(ascii, '0', '9') | blanks
		binary.LittleEndian.PutUint64(out[i:], v|upper>>2)
		if bad := highs&^good | v&highs | blanks&(blanks<<8|before); bad != 0 {
			return i + bits.TrailingZeros64(bad)/8
		}
		before = blanks >> 56
	}
	return i
}

func load8(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// between sets the highest bit of each byte of v that is from one to the other.
// All must be below 0x80.
func between(v uint64, from, to byte) uint64 {
	return (v + ones*uint64(0x80-from)) &^ (v + ones*uint64(0x7F-to)) & highs
}
