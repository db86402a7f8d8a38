package explore

import "encoding/binary"

// queue is a first-in, first-out list of encoded states, in blocks that are
// given back when they were read.
type queue struct {
	blocks [][]byte
	read   int // in the first block
}

const blockSize = 1 << 18

func (q *queue) push(b []byte) {
	last := len(q.blocks) - 1
	if last < 0 || len(q.blocks[last])+len(b)+2 > blockSize {
		q.blocks = append(q.blocks, make([]byte, 0, blockSize))
		last++
	}
	q.blocks[last] = append(binary.LittleEndian.AppendUint16(q.blocks[last], uint16(len(b))), b...)
}

// pop returns the oldest state, which is valid until the next pop.
func (q *queue) pop() ([]byte, bool) {
	if len(q.blocks) > 1 && q.read == len(q.blocks[0]) {
		q.blocks[0] = nil
		q.blocks, q.read = q.blocks[1:], 0
	}
	if len(q.blocks) == 0 || q.read == len(q.blocks[0]) {
		return nil, false
	}
	rest := q.blocks[0][q.read:]
	n := 2 + int(binary.LittleEndian.Uint16(rest))
	q.read += n
	return rest[2:n], true
}
