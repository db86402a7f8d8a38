// Package rows has the form of personal feeds in the store. Numbers in keys are
// big-endian, so that their order is that of keys.
package rows

import (
	"encoding/binary"
	"strings"
)

// What the keys of each kind of row begin with.
const (
	Prefix        = "personal/"
	Subscriptions = Prefix + "s"
	Interests     = Prefix + "i"
	Feeds         = Prefix + "f"
	Entries       = Prefix + "m"
	Copies        = Prefix + "e"
	Journal       = Prefix + "j"
)

// Interest is the key of an interest's row.
func Interest(n uint32) string { return key(Interests, n) }

// Feed is the key of a feed's row.
func Feed(n uint32) string { return key(Feeds, n) }

// Entry is the key of the row of an entry in lists.
func Entry(n uint64) string { return key(Entries, n) }

// Copy is the key of an entry's copy.
func Copy(n uint64) string { return key(Copies, n) }

// JournalKey is the key of a row of the journal.
func JournalKey(n uint64) string { return key(Journal, n) }

func key(kind string, number any) string {
	b, _ := binary.Append([]byte(kind), binary.BigEndian, number) // which a uint32 or uint64 never fails
	return string(b)
}

// Number reads the number in a key of a kind. It is false for any other key.
func Number[N uint32 | uint64](kind, key string) (n N, ok bool) {
	rest, ok := strings.CutPrefix(key, kind)
	read, err := binary.Decode([]byte(rest), binary.BigEndian, &n)
	return n, ok && err == nil && read == len(rest)
}
