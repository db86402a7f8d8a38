package history

import (
	"encoding/binary"

	"github.com/feedring/feedring/internal/store"
)

// encode writes the header: what is kept in memory of the segment.
func (s *segment) encode() []byte {
	var b []byte
	for _, n := range []int{s.docs, s.private, s.weight, len(s.starts)} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	for _, k := range s.starts {
		b = appendKey(b, k)
	}
	b = appendKey(b, s.last)
	b = binary.AppendUvarint(b, uint64(len(s.logs)))
	for _, log := range s.logs {
		b = binary.AppendUvarint(b, uint64(log.ref))
		b = binary.LittleEndian.AppendUint64(b, log.epoch)
	}
	b = binary.AppendUvarint(b, uint64(len(s.tokens)))
	for _, token := range s.tokens {
		b = binary.AppendUvarint(b, uint64(len(token)))
		b = append(b, token...)
	}
	return b
}

// load reads the header of a segment.
func load(r *store.Reader, id uint64) (*segment, error) {
	s := &segment{id: id}
	err := read(r, blockKey(id, kindHeader, 0), func(body []byte) error {
		if !s.decode(body) {
			return errDamaged
		}
		return nil
	})
	return s, err
}

func (s *segment) decode(body []byte) (ok bool) {
	d := decoder{rest: body}
	docs, private, weight := d.uvarint(), d.uvarint(), d.uvarint()
	for range d.count(rowLen) {
		s.starts = append(s.starts, d.key())
	}
	s.last = d.key()
	for range d.count(9) {
		ref := uint32(d.uvarint())
		s.logs = append(s.logs, epoch{ref, binary.LittleEndian.Uint64(d.take(8))})
	}
	text := string(d.rest) // one piece of memory for all tokens
	tokens := decoder{rest: d.rest}
	for range tokens.count(1) {
		n := tokens.count(1)
		at := len(text) - len(tokens.rest)
		tokens.take(n)
		s.tokens = append(s.tokens, text[at:at+n])
	}
	if docs == 0 || docs > maxDocs || private > docs || len(s.starts) != (int(docs)+rowsInBlock-1)/rowsInBlock {
		return false
	}
	s.docs, s.private, s.weight = int(docs), int(private), int(weight)
	return !d.bad && !tokens.bad && len(tokens.rest) == 0
}
