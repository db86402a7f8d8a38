package segment

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
)

// ErrDamaged is why a record cannot be read: it is not there, or not as it was
// written.
var ErrDamaged = errors.New("record is damaged")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// headLen is the length of what comes before a value: the value's length and a
// checksum.
const headLen = 8

// Place is where a record lies.
type Place struct {
	Segment, Offset uint32
	Length          uint32 // of the whole record
}

const placeLen = 12

// End is the offset after the record.
func (p Place) End() uint32 { return p.Offset + p.Length }

// Append writes p as it stands in a database.
func (p Place) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, p.Segment)
	b = binary.BigEndian.AppendUint32(b, p.Offset)
	return binary.BigEndian.AppendUint32(b, p.Length)
}

// ReadPlace reads what Append wrote.
func ReadPlace(b []byte) (Place, bool) {
	if len(b) != placeLen {
		return Place{}, false
	}
	return Place{binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:])}, true
}

// Size is the length of the record of a value.
func Size(value int) int { return headLen + value }

// AppendRecord adds the record of a value to b. The checksum is over the key as
// well: a record that stands in another's place does not read well either.
func AppendRecord(b, key, value []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(value)))
	b = binary.LittleEndian.AppendUint32(b, sum(key, value))
	return append(b, value...)
}

// ReadRecord returns the value of a record, which points into it.
func ReadRecord(record, key []byte) ([]byte, error) {
	if len(record) < headLen {
		return nil, ErrDamaged
	}
	value := record[headLen:]
	if binary.LittleEndian.Uint32(record) != uint32(len(value)) || binary.LittleEndian.Uint32(record[4:]) != sum(key, value) {
		return nil, ErrDamaged
	}
	return value, nil
}

func sum(key, value []byte) uint32 {
	return crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, value)
}
