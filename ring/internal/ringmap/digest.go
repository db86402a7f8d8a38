package ringmap

import "math/bits"

// digest is FNV-1a, 64 bits, over what is added to it.
type digest uint64

const (
	emptyDigest digest = 14695981039346656037
	prime       digest = 1099511628211
)

func (d digest) byte(b byte) digest { return (d ^ digest(b)) * prime }

func (d digest) bytes(all []byte) digest {
	for _, b := range all {
		d = d.byte(b)
	}
	return d
}

// number adds n, the highest byte first. Most numbers are small: the zeros
// before the first other byte are one step.
func (d digest) number(n uint64) digest {
	zeros := min(bits.LeadingZeros64(n)/8, 7)
	d *= powers[zeros]
	for shift := 56 - 8*zeros; shift >= 0; shift -= 8 {
		d = d.byte(byte(n >> shift))
	}
	return d
}

// powers are those of the prime.
var powers = func() (p [8]digest) {
	p[0] = 1
	for i := range p[1:] {
		p[i+1] = p[i] * prime
	}
	return p
}()

// mix has each bit of the digest change half of the bits of what it returns
// (the finalizer of SplitMix64), for digests that are added up.
func (d digest) mix() uint64 {
	x := uint64(d)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// text adds the length first, so that no two sequences of texts meet.
func (d digest) text(s string) digest {
	d = d.number(uint64(len(s)))
	for i := range len(s) {
		d = d.byte(s[i])
	}
	return d
}
