package signature

import "filippo.io/edwards25519"

// table holds multiples of a point, so that a multiple of any size is a few
// additions and no doubling. It is never changed.
type table struct {
	width  int
	points []edwards25519.Point // 1 to half times 2^(width i) times the point, for each i
}

// scalarBits is enough for a scalar and the carry of its last digit.
const scalarBits = 254

// newTable makes the table of a point, for digits of width bits.
func newTable(of *edwards25519.Point, width int) *table {
	digits := (scalarBits + width - 1) / width
	t := &table{width: width, points: make([]edwards25519.Point, digits*half(width))}
	unit := new(edwards25519.Point).Set(of)
	for i := range digits {
		row := t.row(i)
		row[0].Set(unit)
		for j := 1; j < len(row); j++ {
			row[j].Add(&row[j-1], unit)
		}
		unit.Add(&row[len(row)-1], &row[len(row)-1])
	}
	return t
}

// half is the greatest digit: digits go from -half+1 to half.
func half(width int) int { return 1 << (width - 1) }

func (t *table) row(digit int) []edwards25519.Point {
	n := half(t.width)
	return t.points[digit*n : (digit+1)*n]
}

// addTimes adds s times the point to sum. How long it takes depends on s, which
// is no secret in a signature.
func (t *table) addTimes(sum *edwards25519.Point, s *edwards25519.Scalar) {
	b, carry := s.Bytes(), 0
	for i := range len(t.points) / half(t.width) {
		d := bits(b, i*t.width, t.width) + carry
		if carry = 0; d > half(t.width) {
			d, carry = d-1<<t.width, 1
		}
		switch {
		case d > 0:
			sum.Add(sum, &t.row(i)[d-1])
		case d < 0:
			sum.Subtract(sum, &t.row(i)[-d-1])
		}
	}
}

// bits reads n bits, at most 8, of a number whose lowest byte comes first.
func bits(b []byte, from, n int) int {
	v := int(b[from/8]) >> (from % 8)
	if next := from/8 + 1; next < len(b) {
		v |= int(b[next]) << (8 - from%8)
	}
	return v & (1<<n - 1)
}
