package history

import (
	"encoding/binary"
	"errors"
	"hash/crc32"

	"github.com/feedring/feedring/internal/store"
)

// errDamaged is why a part of the index cannot be read: it is not there, or not
// as it was written.
var errDamaged = errors.New("index of the history is damaged")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

const sumLen = 4

// sealed ends a record's value with its checksum, that of the key included: a
// record that stands in another's place does not read well either.
func sealed(key string, body []byte) []byte {
	return binary.LittleEndian.AppendUint32(body, sum(key, body))
}

func sum(key string, body []byte) uint32 {
	return crc32.Update(crc32.Checksum([]byte(key), castagnoli), castagnoli, body)
}

// read lets use see what sealed was given.
func read(r *store.Reader, key string, use func(body []byte) error) error {
	err := r.Record(store.BucketHistory, key, func(value []byte) error {
		end := len(value) - sumLen
		if end < 0 || binary.LittleEndian.Uint32(value[end:]) != sum(key, value[:end]) {
			return errDamaged
		}
		return use(value[:end:end])
	})
	if errors.Is(err, store.ErrNotFound) {
		return errDamaged
	}
	return err
}

const manifestKey = "m"

// The kinds of a segment's records.
const (
	kindHeader = 'f'
	kindRows   = 'd'
	kindTokens = 't'
)

// segmentKey begins the keys of a segment's records; those of the next one are
// all greater.
func segmentKey(id uint64) string {
	return string(binary.BigEndian.AppendUint64([]byte{'s'}, id))
}

func blockKey(id uint64, kind byte, n int) string {
	b := binary.BigEndian.AppendUint64(append(make([]byte, 0, 14), 's'), id)
	return string(binary.BigEndian.AppendUint32(append(b, kind), uint32(n)))
}

// decoder reads a body from the front; what is not there reads as zero, and bad
// tells.
type decoder struct {
	rest []byte
	bad  bool
}

func (d *decoder) uvarint() uint64 {
	if len(d.rest) > 0 && d.rest[0] < 0x80 { // most are
		v := d.rest[0]
		d.rest = d.rest[1:]
		return uint64(v)
	}
	v, n := binary.Uvarint(d.rest)
	if n <= 0 {
		d.bad, d.rest = true, nil
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

// count reads a number of things, each of at least size bytes.
func (d *decoder) count(size int) int {
	n := d.uvarint()
	if n > uint64(len(d.rest)/size) {
		d.bad, d.rest = true, nil
		return 0
	}
	return int(n)
}

func (d *decoder) take(n int) []byte {
	if n > len(d.rest) {
		d.bad, d.rest = true, nil
		return make([]byte, n)
	}
	b := d.rest[:n:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) key() store.RowKey {
	b := d.take(rowLen)
	return store.RowKey{
		Second: binary.LittleEndian.Uint64(b), Nano: binary.LittleEndian.Uint32(b[8:]), Ref: binary.LittleEndian.Uint32(b[12:]),
		Epoch: binary.LittleEndian.Uint64(b[16:]), Sequence: binary.LittleEndian.Uint64(b[24:]),
	}
}

const rowLen = 32

func appendKey(b []byte, k store.RowKey) []byte {
	b = binary.LittleEndian.AppendUint64(b, k.Second)
	b = binary.LittleEndian.AppendUint32(b, k.Nano)
	b = binary.LittleEndian.AppendUint32(b, k.Ref)
	b = binary.LittleEndian.AppendUint64(b, k.Epoch)
	return binary.LittleEndian.AppendUint64(b, k.Sequence)
}
