// Package fleet decides which peers of one owner have which personal feeds: into which
// slot a secret falls, in which order the peers stand for a slot, and which of two
// versions of a row stays. All peers find the same for themselves.
package fleet

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strconv"
)

const (
	slotBits = 14
	// Slots is how many parts everything in a fleet is divided into.
	Slots = 1 << slotBits
	// SecretBytes is the size of a secret, of a user's key and of an invitation's code.
	SecretBytes = 18
	// SecretLen is that size in characters: base64url without padding.
	SecretLen = SecretBytes * 8 / 6
)

// Slot is the part of a fleet that a secret, and what belongs to it, falls into.
type Slot uint16

// Secret writes 18 bytes as a secret of a slot: its first 14 bits are the slot's.
func (s Slot) Secret(random [SecretBytes]byte) string {
	first := binary.BigEndian.Uint16(random[:])
	binary.BigEndian.PutUint16(random[:], uint16(s)<<(16-slotBits)|first&(1<<(16-slotBits)-1))
	return base64.RawURLEncoding.EncodeToString(random[:])
}

// SlotOf returns the slot of a secret. It is false for what no secret looks like.
func SlotOf(secret string) (Slot, bool) {
	b, ok := secretBytes(secret)
	return Slot(binary.BigEndian.Uint16(b[:]) >> (16 - slotBits)), ok
}

func secretBytes(secret string) (b [SecretBytes]byte, ok bool) {
	if len(secret) != SecretLen { // the decoder passes over line ends
		return b, false
	}
	n, err := base64.RawURLEncoding.Decode(b[:], []byte(secret))
	return b, err == nil && n == SecretBytes
}

// ID names a row of a kind. Its first 14 bits are the row's slot.
type ID uint64

// ID makes an id of a slot from 64 bits, of which it uses 50.
func (s Slot) ID(random uint64) ID {
	return ID(s)<<(64-slotBits) | ID(random>>slotBits)
}

// IDOf returns the id of what a secret opens: a feed, a user, an invitation. It says
// nothing of the secret but the slot. It is false for what no secret looks like.
func IDOf(secret string) (ID, bool) {
	slot, ok := SlotOf(secret)
	sum := sha256.Sum256([]byte("feedring fleet id\x00" + secret))
	return slot.ID(binary.BigEndian.Uint64(sum[:])), ok
}

// ParseID reads what String writes. It is false for anything else.
func ParseID(s string) (ID, bool) {
	n, err := strconv.ParseUint(s, 16, 64)
	return ID(n), err == nil && ID(n).String() == s
}

// String writes 16 hexadecimal digits.
func (id ID) String() string { return fmt.Sprintf("%016x", uint64(id)) }

// Slot is the slot that the row belongs to.
func (id ID) Slot() Slot { return Slot(id >> (64 - slotBits)) }
