package fleet

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"time"
)

const (
	// MaxRow is the most bytes of a row with all that belongs to it.
	MaxRow = 8 << 10
	// Stays is how long it is kept that a row was deleted. A peer that was away for
	// longer brings the row back.
	Stays = 30 * 24 * time.Hour

	rowFormat  = 1
	rowHead    = 10 // format, kind and id
	maxVersion = 1 << 62
	maxSeconds = 1 << 40 // some 34,000 years
)

// Kind is what a row is. A peer keeps kinds that it does not know for those that do.
type Kind byte

// The kinds.
const (
	User       Kind = 'u'
	Feed       Kind = 'f'
	Invitation Kind = 'i'
	Hook       Kind = 'h' // who is told of a feed
)

// Key names a row.
type Key struct {
	Kind Kind
	ID   ID
}

// RecordPrefix is what the keys of the records begin with under which a peer stores rows:
// then come slot, kind and id.
const RecordPrefix = "r"

// Records is what the keys of the records of a slot's rows begin with.
func (s Slot) Records() string {
	return string(binary.BigEndian.AppendUint16([]byte(RecordPrefix), uint16(s)))
}

// Record is the key of the record of a row.
func (k Key) Record() string {
	return string(binary.BigEndian.AppendUint64(append([]byte(k.ID.Slot().Records()), byte(k.Kind)), uint64(k.ID)))
}

// Row is one version of something that a fleet keeps.
type Row struct {
	Key
	Version uint64    // counts changes, from 1
	Deleted time.Time // whole seconds; zero: it is there
	Value   []byte    // nil where it was deleted
}

// Live reports whether the row was not deleted.
func (r *Row) Live() bool { return r.Deleted.IsZero() }

// Expired reports whether nobody needs to know any more that the row was deleted.
func (r *Row) Expired(now time.Time) bool { return !r.Live() && now.Sub(r.Deleted) > Stays }

// The errors of Decode and Valid.
var (
	ErrLarge     = errors.New("the row is larger than 8 KiB")
	ErrMalformed = errors.New("this is not a row of a fleet")
)

// Valid says why a row is none.
func (r *Row) Valid() error {
	deleted := r.Deleted.Unix()
	switch {
	case r.Kind < 'a' || r.Kind > 'z', r.Version == 0 || r.Version > maxVersion, r.Live() != (len(r.Value) > 0):
		return ErrMalformed
	case !r.Live() && (deleted <= 0 || deleted > maxSeconds):
		return ErrMalformed
	case len(r.Encode()) > MaxRow:
		return ErrLarge
	}
	return nil
}

// Encode writes a row. Equal rows are the same bytes.
func (r *Row) Encode() []byte {
	b := make([]byte, 0, rowHead+2*binary.MaxVarintLen64+len(r.Value))
	b = append(b, rowFormat, byte(r.Kind))
	b = binary.BigEndian.AppendUint64(b, uint64(r.ID))
	b = binary.AppendUvarint(b, r.Version)
	deleted := uint64(0)
	if !r.Live() {
		deleted = uint64(r.Deleted.Unix())
	}
	return append(binary.AppendUvarint(b, deleted), r.Value...)
}

// Decode reads what Encode wrote of a valid row. It fails with ErrLarge and
// ErrMalformed. The row shares no memory with b.
func Decode(b []byte) (r Row, err error) {
	if len(b) > MaxRow {
		return r, ErrLarge
	}
	if len(b) < rowHead || b[0] != rowFormat {
		return r, ErrMalformed
	}
	r.Kind, r.ID = Kind(b[1]), ID(binary.BigEndian.Uint64(b[2:]))
	version, n := binary.Uvarint(b[rowHead:])
	if n <= 0 {
		return Row{}, ErrMalformed
	}
	deleted, m := binary.Uvarint(b[rowHead+n:])
	if m <= 0 || deleted > maxSeconds {
		return Row{}, ErrMalformed
	}
	r.Version = version
	if deleted != 0 {
		r.Deleted = time.Unix(int64(deleted), 0).UTC()
	}
	if value := b[rowHead+n+m:]; len(value) > 0 {
		r.Value = bytes.Clone(value)
	}
	if err := r.Valid(); err != nil {
		return Row{}, err
	}
	if !bytes.Equal(r.Encode(), b) { // a number that is written longer than it need be
		return Row{}, ErrMalformed
	}
	return r, nil
}

// Digest stands for a version of a row: no other has it.
type Digest [16]byte

// Digest returns it.
func (r *Row) Digest() Digest {
	sum := sha256.Sum256(r.Encode())
	return Digest(sum[:16])
}

// Supersedes reports whether r stays where o and r meet: the one that was deleted, else the
// one with the higher version, else the one with the greater digest. Of any rows with one
// key exactly one supersedes all others, so the order in which they meet does not matter.
// What was deleted stays so, however often the other half of a fleet that was cut in two
// changed it: no key is used again.
func (r *Row) Supersedes(o *Row) bool {
	switch {
	case r.Live() != o.Live():
		return !r.Live()
	case r.Version != o.Version:
		return r.Version > o.Version
	}
	a, b := r.Digest(), o.Digest()
	return bytes.Compare(a[:], b[:]) > 0
}

// Sum stands for all rows of a slot, in whatever order they came. The zero Sum is that
// of no rows.
type Sum Digest

// Toggle adds a row that the sum has not, or takes away one that it has.
func (s *Sum) Toggle(d Digest) {
	for i := range s {
		s[i] ^= d[i]
	}
}
