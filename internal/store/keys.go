package store

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/feedring/feedring"
)

// The first bytes of keys.
const (
	keySchema  = 's'
	keyRef     = 'r'
	keyLog     = 'e'
	keyVersion = 'v'
	keyIndex   = 'i'
	keyJournal = 'j'
	keyRecord  = 'b'
	keyTomb    = 't'
	keyOld     = 'o'
)

// refID stands for a FeedRef on disk. It is never zero and grows with each
// new ref.
type refID uint32

const (
	stampLen    = 12 // seconds, nanoseconds
	positionLen = 16
	logKeyLen   = 1 + 4 + positionLen
	indexKeyLen = 1 + stampLen + 4 + positionLen
)

func refKey(id refID) []byte {
	return binary.BigEndian.AppendUint32([]byte{keyRef}, uint32(id))
}

// logPrefix begins the keys of all log rows of id.
func logPrefix(id refID) []byte {
	key := make([]byte, 0, logKeyLen)
	return binary.BigEndian.AppendUint32(append(key, keyLog), uint32(id))
}

func tombstonePrefix(id refID) []byte {
	key := make([]byte, 0, logKeyLen)
	return binary.BigEndian.AppendUint32(append(key, keyTomb), uint32(id))
}

func tombstoneKey(id refID, p feedring.Position) []byte {
	return appendPosition(tombstonePrefix(id), p)
}

// oldKey is the place of the row which says that a log row is an old version.
func oldKey(id refID, p feedring.Position) []byte {
	key := logKey(id, p)
	key[0] = keyOld
	return key
}

func logKey(id refID, p feedring.Position) []byte {
	return appendPosition(logPrefix(id), p)
}

// logPosition reads the position out of a log row's key.
func logPosition(key []byte) (feedring.Position, bool) {
	if len(key) != logKeyLen {
		return feedring.Position{}, false
	}
	return readPosition(key[5:]), true
}

func versionKey(id refID, entry feedring.EntryID) []byte {
	key := make([]byte, 0, 5+len(entry))
	return append(append(key, versionPrefix(id)...), entry...)
}

// versionPrefix begins the keys of all version rows of id.
func versionPrefix(id refID) []byte {
	return binary.BigEndian.AppendUint32([]byte{keyVersion}, uint32(id))
}

// orderedSeconds maps seconds to numbers whose order as unsigned is that of
// the times, those before 1970 included.
func orderedSeconds(t time.Time) uint64 { return uint64(t.Unix()) ^ (1 << 63) }

func journalKey(number uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{keyJournal}, number)
}

func recordPrefix(b Bucket) []byte { return []byte{keyRecord, byte(b)} }

func recordKey(b Bucket, key string) []byte { return append(recordPrefix(b), key...) }

func appendPosition(b []byte, p feedring.Position) []byte {
	b = binary.BigEndian.AppendUint64(b, p.Epoch)
	return binary.BigEndian.AppendUint64(b, p.Sequence)
}

func readPosition(b []byte) feedring.Position {
	return feedring.Position{Epoch: binary.BigEndian.Uint64(b), Sequence: binary.BigEndian.Uint64(b[8:])}
}

// next returns the least position after p. The greatest position is followed
// by itself.
func next(p feedring.Position) feedring.Position {
	switch {
	case p.Sequence < math.MaxUint64:
		p.Sequence++
	case p.Epoch < math.MaxUint64:
		p = feedring.Position{Epoch: p.Epoch + 1}
	}
	return p
}
