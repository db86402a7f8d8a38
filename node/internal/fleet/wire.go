package fleet

import (
	"encoding/binary"
	"errors"

	"github.com/feedring/feedring/internal/fleet"
)

// What peers say to one another, in bodies of HTTP. Numbers are big-endian.
const (
	sumLen    = 2 + 1 + len(fleet.Sum{})
	digestLen = keyLen + len(fleet.Digest{})
	keyLen    = 1 + 8

	maxBody   = 1 << 20  // of a request, and of rows in an answer, but for the last
	maxAnswer = 16 << 20 // of an answer: the digests of a slot are not divided
)

var errMalformed = errors.New("the body is malformed: does the other peer run another version?")

// slotSum is the sum of a slot. In a question about counts: the answer tells of the slot
// even if it has no rows (tell), or if the sums are equal (always). In an answer holds
// says that its peer is a holder.
type slotSum struct {
	at    fleet.Slot
	flags byte
	sum   fleet.Sum
}

const (
	flagTell byte = 1 << iota
	flagAlways
	flagHolds
)

func (s *slotSum) append(b []byte) []byte {
	return append(append(binary.BigEndian.AppendUint16(b, uint16(s.at)), s.flags), s.sum[:]...)
}

func readSums(b []byte) (sums []slotSum, err error) {
	if len(b)%sumLen != 0 {
		return nil, errMalformed
	}
	for ; len(b) > 0; b = b[sumLen:] {
		s := slotSum{at: fleet.Slot(binary.BigEndian.Uint16(b)), flags: b[2], sum: fleet.Sum(b[3:sumLen])}
		if s.at >= fleet.Slots {
			return nil, errMalformed
		}
		sums = append(sums, s)
	}
	return sums, nil
}

func readSlots(b []byte) (slots []fleet.Slot, err error) {
	if len(b)%2 != 0 {
		return nil, errMalformed
	}
	for ; len(b) > 0; b = b[2:] {
		at := fleet.Slot(binary.BigEndian.Uint16(b))
		if at >= fleet.Slots {
			return nil, errMalformed
		}
		slots = append(slots, at)
	}
	return slots, nil
}

func appendKey(b []byte, key fleet.Key) []byte {
	return binary.BigEndian.AppendUint64(append(b, byte(key.Kind)), uint64(key.ID))
}

func readKey(b []byte) fleet.Key {
	return fleet.Key{Kind: fleet.Kind(b[0]), ID: fleet.ID(binary.BigEndian.Uint64(b[1:]))}
}

func readKeys(b []byte) (keys []fleet.Key, err error) {
	if len(b)%keyLen != 0 {
		return nil, errMalformed
	}
	for ; len(b) > 0; b = b[keyLen:] {
		keys = append(keys, readKey(b))
	}
	return keys, nil
}

// appendDigests writes the rows of a slot: the slot, how many, and of each key and
// digest.
func appendDigests(b []byte, at fleet.Slot, rows []fleet.Row) []byte {
	b = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint16(b, uint16(at)), uint32(len(rows)))
	for i := range rows {
		digest := rows[i].Digest()
		b = append(appendKey(b, rows[i].Key), digest[:]...)
	}
	return b
}

// readDigests reads what appendDigests wrote of several slots.
func readDigests(b []byte) (bySlot map[fleet.Slot]map[fleet.Key]fleet.Digest, err error) {
	bySlot = make(map[fleet.Slot]map[fleet.Key]fleet.Digest)
	for len(b) > 0 {
		if len(b) < 6 {
			return nil, errMalformed
		}
		at, n := fleet.Slot(binary.BigEndian.Uint16(b)), int(binary.BigEndian.Uint32(b[2:]))
		b = b[6:]
		if at >= fleet.Slots || n > len(b)/digestLen {
			return nil, errMalformed
		}
		digests := make(map[fleet.Key]fleet.Digest, n)
		for ; n > 0; n, b = n-1, b[digestLen:] {
			key := readKey(b)
			if key.ID.Slot() != at {
				return nil, errMalformed
			}
			digests[key] = fleet.Digest(b[keyLen:digestLen])
		}
		bySlot[at] = digests
	}
	return bySlot, nil
}

// appendRow writes a row with its length.
func appendRow(b []byte, r *fleet.Row) []byte {
	row := r.Encode()
	return append(binary.BigEndian.AppendUint16(b, uint16(len(row))), row...)
}

// readRows reads rows. It fails on the first that is none.
func readRows(b []byte) (rows []fleet.Row, err error) {
	for len(b) > 0 {
		if len(b) < 2 {
			return nil, errMalformed
		}
		n := int(binary.BigEndian.Uint16(b))
		if b = b[2:]; n > len(b) {
			return nil, errMalformed
		}
		r, err := fleet.Decode(b[:n])
		if err != nil {
			return nil, err
		}
		rows, b = append(rows, r), b[n:]
	}
	return rows, nil
}
