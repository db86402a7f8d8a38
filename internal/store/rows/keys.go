package rows

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/feedring/feedring"
)

// The first bytes of keys.
const (
	KeySchema    = 's'
	KeyRef       = 'r'
	KeyLog       = 'e'
	KeyVersion   = 'v'
	KeyIndex     = 'i'
	KeyJournal   = 'j'
	KeyRecord    = 'b'
	KeyTombstone = 't'
	KeyOld       = 'o'
	KeySegment   = 'g' // what is in use of a segment; see room values
	KeyErase     = 'z' // a record of a segment that is to be overwritten
	KeyUpgrade   = 'u' // how far an upgrade is
	KeyHole      = 'h' // a place in a log whose entry was damaged
	KeyErasure   = 'x' // what was taken back or forgotten, and an index may have words of
)

// RefID stands for a FeedRef on disk. It is never zero and grows with each
// new ref.
type RefID uint32

const (
	stampLen    = 12 // seconds, nanoseconds
	positionLen = 16
	logKeyLen   = 1 + 4 + positionLen
	indexKeyLen = 1 + stampLen + 4 + positionLen
)

// RefKey is the place of a feed row.
func RefKey(id RefID) []byte {
	return binary.BigEndian.AppendUint32([]byte{KeyRef}, uint32(id))
}

// LogPrefix begins the keys of all log rows of id.
func LogPrefix(id RefID) []byte {
	key := make([]byte, 0, logKeyLen)
	return binary.BigEndian.AppendUint32(append(key, KeyLog), uint32(id))
}

// TombstonePrefix begins the keys of all retractions of id that left its log.
func TombstonePrefix(id RefID) []byte {
	key := make([]byte, 0, logKeyLen)
	return binary.BigEndian.AppendUint32(append(key, KeyTombstone), uint32(id))
}

// TombstoneKey is the place of such a retraction.
func TombstoneKey(id RefID, p feedring.Position) []byte {
	return appendPosition(TombstonePrefix(id), p)
}

// OldPrefix begins the keys of all old versions of id.
func OldPrefix(id RefID) []byte {
	key := LogPrefix(id)
	key[0] = KeyOld
	return key
}

// OldKey is the place of the row which says that a log row is an old version.
func OldKey(id RefID, p feedring.Position) []byte {
	key := LogKey(id, p)
	key[0] = KeyOld
	return key
}

// Searches find the newest version of an entry. What else is in the log, for
// those who poll, is told by a row of its own: so who knows a place in the log
// need not ask the index whether searches find what is there. A row that is not
// there is a question to the tables' filters, a fraction of one that is.
//
// Tombstones and retractions say themselves what they are, and may have such a row.

// Old is the value of such a row. badger takes no value at all for no row.
var (
	Old       = []byte{1}
	TakenBack = []byte{2} // of the version that a retraction in the log took back
)

// HoleKey is the place of the row which says that the entry at p was damaged.
func HoleKey(id RefID, p feedring.Position) []byte {
	key := LogKey(id, p)
	key[0] = KeyHole
	return key
}

// ErasureKey is the place of the row which says that the entry at p was taken back.
func ErasureKey(id RefID, p feedring.Position) []byte {
	key := LogKey(id, p)
	key[0] = KeyErasure
	return key
}

// FeedErasureKey is the place of the row which says that all of id was forgotten.
func FeedErasureKey(id RefID) []byte {
	return binary.BigEndian.AppendUint32([]byte{KeyErasure}, uint32(id))
}

// LogKey is the place of a log row.
func LogKey(id RefID, p feedring.Position) []byte {
	return appendPosition(LogPrefix(id), p)
}

// LogPosition reads the position out of a log row's key.
func LogPosition(key []byte) (feedring.Position, bool) {
	_, p, ok := LogPlace(key)
	return p, ok
}

// LogPlace reads a log row's key.
func LogPlace(key []byte) (id RefID, p feedring.Position, ok bool) {
	if len(key) != logKeyLen {
		return 0, p, false
	}
	return RefID(binary.BigEndian.Uint32(key[1:])), readPosition(key[5:]), true
}

// VersionKey is the place of the row that names the newest version of an entry.
func VersionKey(id RefID, entry feedring.EntryID) []byte {
	key := make([]byte, 0, 5+len(entry))
	return append(append(key, VersionPrefix(id)...), entry...)
}

// VersionPrefix begins the keys of all version rows of id.
func VersionPrefix(id RefID) []byte {
	return binary.BigEndian.AppendUint32([]byte{KeyVersion}, uint32(id))
}

// orderedSeconds maps seconds to numbers whose order as unsigned is that of
// the times, those before 1970 included.
func orderedSeconds(t time.Time) uint64 { return uint64(t.Unix()) ^ (1 << 63) }

// JournalKey is the place of a journal row.
func JournalKey(number uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{KeyJournal}, number)
}

// RecordKey is the place of a small record of a bucket.
func RecordKey(bucket byte, key string) []byte { return append([]byte{KeyRecord, bucket}, key...) }

func appendPosition(b []byte, p feedring.Position) []byte {
	b = binary.BigEndian.AppendUint64(b, p.Epoch)
	return binary.BigEndian.AppendUint64(b, p.Sequence)
}

func readPosition(b []byte) feedring.Position {
	return feedring.Position{Epoch: binary.BigEndian.Uint64(b), Sequence: binary.BigEndian.Uint64(b[8:])}
}

// NextPosition returns the least position after p. The greatest position is followed
// by itself.
func NextPosition(p feedring.Position) feedring.Position {
	switch {
	case p.Sequence < math.MaxUint64:
		p.Sequence++
	case p.Epoch < math.MaxUint64:
		p = feedring.Position{Epoch: p.Epoch + 1}
	}
	return p
}
