package ring

// digest is FNV-1a, 64 bits, over what is added to it.
type digest uint64

const emptyDigest digest = 14695981039346656037

func (d digest) byte(b byte) digest { return (d ^ digest(b)) * 1099511628211 }

func (d digest) bytes(all []byte) digest {
	for _, b := range all {
		d = d.byte(b)
	}
	return d
}

// number adds n, the highest byte first.
func (d digest) number(n uint64) digest {
	for shift := 56; shift >= 0; shift -= 8 {
		d = d.byte(byte(n >> shift))
	}
	return d
}

// text adds the length first, so that no two sequences of texts meet.
func (d digest) text(s string) digest {
	d = d.number(uint64(len(s)))
	for i := range len(s) {
		d = d.byte(s[i])
	}
	return d
}
