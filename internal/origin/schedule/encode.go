package schedule

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// What is learned is kept as numbers one after the other, of which those that
// are zero are left out: a bit for each says which. All are little-endian.

// Append encodes r behind b, in 16 to 144 bytes: a feed that publishes little
// has few hours.
func (r *Rhythm) Append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(r.at))
	return appendSparse(b, r.numbers())
}

// Decode takes what Append made from the front of b, and returns the rest. It
// reports false, and changes nothing, where b is nothing of the kind.
func (r *Rhythm) Decode(b []byte) ([]byte, bool) {
	if len(b) < 8 {
		return nil, false
	}
	next := Rhythm{at: int64(binary.LittleEndian.Uint64(b))}
	rest, ok := decodeSparse(b[8:], next.numbers())
	if !ok || next.at < 0 {
		return nil, false
	}
	*r = next
	return rest, true
}

func (r *Rhythm) numbers() []*float32 {
	all := make([]*float32, 0, 2+len(r.hours)+len(r.week))
	all = append(all, &r.entries, &r.days)
	return append(pointers(all, r.hours[:]), pointers(nil, r.week[:])...)
}

// Append encodes l behind b, in at most 750 bytes.
func (l *Residence) Append(b []byte) []byte { return appendSparse(b, l.numbers()) }

// Decode is Rhythm.Decode of lives.
func (l *Residence) Decode(b []byte) ([]byte, bool) {
	var next Residence
	rest, ok := decodeSparse(b, next.numbers())
	if ok {
		*l = next
	}
	return rest, ok
}

func (l *Residence) numbers() []*float32 {
	all := pointers([]*float32{&l.sum}, l.all[:])
	for p := range l.parts {
		all = pointers(all, l.parts[p][:])
	}
	return all
}

func pointers(to []*float32, values []float32) []*float32 {
	for i := range values {
		to = append(to, &values[i])
	}
	return to
}

func appendSparse(b []byte, numbers []*float32) []byte {
	mask := len(b)
	b = append(b, make([]byte, (len(numbers)+7)/8)...)
	for i, n := range numbers {
		if *n != 0 {
			b[mask+i/8] |= 1 << (i % 8)
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(*n))
		}
	}
	return b
}

// decodeSparse refuses what no learning makes: numbers below zero or without
// end.
func decodeSparse(b []byte, numbers []*float32) ([]byte, bool) {
	size := (len(numbers) + 7) / 8
	if len(b) < size {
		return nil, false
	}
	mask, b := b[:size], b[size:]
	set := 0
	for _, m := range mask {
		set += bits.OnesCount8(m)
	}
	if len(b) < 4*set {
		return nil, false
	}
	for i, n := range numbers {
		if mask[i/8]&(1<<(i%8)) == 0 {
			continue
		}
		*n = math.Float32frombits(binary.LittleEndian.Uint32(b))
		if b = b[4:]; !(*n >= 0 && *n <= 1e9) {
			return nil, false
		}
	}
	return b, true
}
