// Package hash is the one hash by which the peers of a group find the same
// thing each for itself: its mesh, who checks a site, digests of rows and
// heads. It is part of the protocol, and no defence against anybody.
package hash

const (
	offset = 14695981039346656037
	prime  = 1099511628211
)

// Sum is FNV-1a over parts, each ended by a zero byte. It begins with Begin.
type Sum uint64

// Begin is the sum of no parts.
const Begin Sum = offset

// Text adds s.
func (h Sum) Text(s string) Sum {
	for i := range len(s) {
		h = (h ^ Sum(s[i])) * prime
	}
	return h * prime // the zero byte
}

// Number adds n: the same as the text of its eight bytes, the highest first.
func (h Sum) Number(n uint64) Sum {
	for shift := 56; shift >= 0; shift -= 8 {
		h = (h ^ Sum(byte(n>>shift))) * prime
	}
	return h * prime
}

// End is the hash of all that was added, with a last mix, so that similar ids
// are spread.
func (h Sum) End() uint64 { return Mix(uint64(h)) }

// Of is the hash of parts.
func Of(parts ...string) uint64 {
	h := Begin
	for _, p := range parts {
		h = h.Text(p)
	}
	return h.End()
}

// Mix spreads the bits of x over all places.
func Mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
