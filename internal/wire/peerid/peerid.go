// Package peerid converts peer ids between their text and the bytes that
// travel: Ed25519 keys only, so that an id holds its own public key.
package peerid

import (
	"crypto/ed25519"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/feedring/feedring"
)

// idPrefix begins every Ed25519 peer id: a multihash "identity" of 36 bytes
// that hold a protobuf with the key's type and its 32 bytes.
const idPrefix = "\x00\x24\x08\x01\x12\x20"

const idLen = len(idPrefix) + 32

// Bytes is a peer id as it travels, nil for nobody and for what is no
// Ed25519 peer id.
func Bytes(id feedring.PeerID) []byte {
	if id == "" || len(id) > 2*idLen {
		return nil
	}
	if raw, ok := peerRaw(string(id)); ok {
		return raw[:]
	}
	raw, err := peer.Decode(string(id))
	if err != nil || !isPeer(string(raw)) {
		return nil
	}
	return []byte(raw)
}

// FromBytes is the text form of a peer id, false where b is none.
func FromBytes(b []byte) (feedring.PeerID, bool) {
	if !isPeer(string(b)) {
		return "", false
	}
	return peerText(string(b)), true
}

func isPeer(raw string) bool { return len(raw) == idLen && raw[:len(idPrefix)] == idPrefix }

// PublicKey is the key that is part of a peer id, nil for what is no Ed25519
// peer id.
func PublicKey(id feedring.PeerID) ed25519.PublicKey {
	raw := Bytes(id)
	if raw == nil {
		return nil
	}
	return ed25519.PublicKey(raw[len(idPrefix):])
}
