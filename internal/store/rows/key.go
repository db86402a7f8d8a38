package rows

import (
	"cmp"
	"encoding/binary"
	"time"

	"github.com/feedring/feedring"
)

// Key is the place of an index row. Rows are ordered by it, field by field:
// newest published first, those of one instant by ref, and of one ref the later
// position first. So all fields but Ref hold complements. The zero Key is
// before all rows. What a row says never changes under its key, but when its
// ref was forgotten and stored anew.
type Key struct {
	Second   uint64 `json:"Second"`
	Nano     uint32 `json:"Nano"`
	Ref      uint32 `json:"Ref"` // the number that stands for a feed as one peer publishes it; see Reader.Ref
	Epoch    uint64 `json:"Epoch"`
	Sequence uint64 `json:"Sequence"`
}

// Compare returns -1, 0 or 1 as k is before, the same as, or after other.
func (k Key) Compare(other Key) int {
	if k.Second != other.Second {
		return cmp.Compare(k.Second, other.Second)
	}
	return cmp.Or(cmp.Compare(k.Nano, other.Nano), cmp.Compare(k.Ref, other.Ref),
		cmp.Compare(k.Epoch, other.Epoch), cmp.Compare(k.Sequence, other.Sequence))
}

// Next returns the least key after k.
func (k Key) Next() Key {
	for _, field := range []*uint64{&k.Sequence, &k.Epoch} {
		if *field++; *field != 0 {
			return k
		}
	}
	if k.Ref++; k.Ref != 0 {
		return k
	}
	if k.Nano++; k.Nano == 0 {
		k.Second++
	}
	return k
}

// KeyLen is the length of a Key in the database, without the first byte.
const KeyLen = indexKeyLen - 1

// Append writes k as it stands in the database, but for the first byte.
func (k Key) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint64(b, k.Second)
	b = binary.BigEndian.AppendUint32(b, k.Nano)
	b = binary.BigEndian.AppendUint32(b, k.Ref)
	b = binary.BigEndian.AppendUint64(b, k.Epoch)
	return binary.BigEndian.AppendUint64(b, k.Sequence)
}

// ReadKey reads what Append wrote; b has at least KeyLen bytes.
func ReadKey(b []byte) Key {
	return Key{
		Second: binary.BigEndian.Uint64(b), Nano: binary.BigEndian.Uint32(b[8:]), Ref: binary.BigEndian.Uint32(b[12:]),
		Epoch: binary.BigEndian.Uint64(b[16:]), Sequence: binary.BigEndian.Uint64(b[24:]),
	}
}

// Index returns the key of k's index row.
func (k Key) Index() []byte { return k.Append(append(make([]byte, 0, indexKeyLen), KeyIndex)) }

// ReadIndexKey reads an index row's key.
func ReadIndexKey(key []byte) (Key, bool) {
	if len(key) != indexKeyLen || key[0] != KeyIndex {
		return Key{}, false
	}
	return ReadKey(key[1:]), true
}

// KeyOf is the place of the index row of what ref's position p holds.
func KeyOf(published time.Time, id RefID, p feedring.Position) Key {
	k := FirstAt(published)
	k.Ref, k.Epoch, k.Sequence = uint32(id), ^p.Epoch, ^p.Sequence
	return k
}

// FirstAt is before all rows published at t or earlier, and after the others.
func FirstAt(t time.Time) Key {
	return Key{Second: ^orderedSeconds(t), Nano: ^uint32(t.Nanosecond())}
}

// Split tells what k is the place of.
func (k Key) Split() (published time.Time, id RefID, p feedring.Position) {
	published = time.Unix(int64(^k.Second^(1<<63)), int64(^k.Nano)).UTC()
	return published, RefID(k.Ref), feedring.Position{Epoch: ^k.Epoch, Sequence: ^k.Sequence}
}
