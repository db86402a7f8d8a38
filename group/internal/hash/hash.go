// Package hash is the one hash by which the peers of a group find the same
// thing each for itself: its mesh, who looks at a site, digests of rows and
// heads. It is part of the protocol, and no defence against anybody.
package hash

import "encoding/binary"

const (
	offset = 14695981039346656037
	prime  = 1099511628211
)

// Of is FNV-1a over parts, each ended by a zero byte, with a last mix, so that
// similar ids are spread.
func Of(parts ...string) uint64 {
	h := uint64(offset)
	for _, p := range parts {
		for i := range len(p) {
			h = (h ^ uint64(p[i])) * prime
		}
		h *= prime // the zero byte
	}
	return Mix(h)
}

// Number is n as a part of Of.
func Number(n uint64) string {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], n)
	return string(b[:])
}

// Mix spreads the bits of x over all places.
func Mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
