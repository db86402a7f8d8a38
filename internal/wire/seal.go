package wire

import (
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/crypto/pb"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/feedring/feedring"
)

// Kind is what a statement is about. It is part of what is signed, so that no
// statement can pass for one of another kind.
type Kind string

// The kinds.
const (
	KindRow     Kind = "row"
	KindClaim   Kind = "claim"
	KindBeacon  Kind = "beacon"
	KindAlive   Kind = "alive"
	KindTicket  Kind = "ticket"
	KindEntry   Kind = "entry"
	KindRingRow Kind = "ringrow"
	KindLost    Kind = "lost"

	KindPresence Kind = "presence"

	KindCredential Kind = "credential"
	KindExpulsion  Kind = "expulsion"
	KindRemoval    Kind = "removal"
	KindInvitation Kind = "invitation"
)

// keptSeals is how many of its own statements a Sealer remembers: a manager
// says the same claim, rows and beacon to every member.
const keptSeals = 512

// Sealer signs the statements of one peer on one network. It is safe for
// concurrent use.
type Sealer struct {
	id      feedring.PeerID
	network string
	key     ed25519.PrivateKey
	kept    *lru.Cache[sealKey, []byte]
}

type sealKey struct {
	kind Kind
	hash [sha256.Size]byte
}

// NewSealer signs with an Ed25519 key; other keys are an error.
func NewSealer(key crypto.PrivKey, network string) (*Sealer, error) {
	if err := CheckNetwork(network); err != nil {
		return nil, err
	}
	if key == nil || key.Type() != pb.KeyType_Ed25519 {
		return nil, errors.New("the identity key is not an Ed25519 key: peers sign with nothing else")
	}
	raw, err := key.Raw()
	if err != nil {
		return nil, fmt.Errorf("identity key: %w", err)
	}
	id, err := peer.IDFromPrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("identity key: %w", err)
	}
	kept, err := lru.New[sealKey, []byte](keptSeals)
	if err != nil {
		return nil, err
	}
	return &Sealer{id: feedring.PeerID(id.String()), network: network, key: raw, kept: kept}, nil
}

// ID is the peer that the statements are of.
func (s *Sealer) ID() feedring.PeerID { return s.id }

// Network is where they hold.
func (s *Sealer) Network() string { return s.network }

// Seal signs a statement. The payload is kept, not copied.
func (s *Sealer) Seal(kind Kind, payload []byte) *feedring.Seal {
	return &feedring.Seal{Signer: s.id, Payload: payload, Signature: ed25519.Sign(s.key, slices.Concat(domain(s.network, kind), payload))}
}

// SealAgain is Seal for statements that are often repeated word for word: the
// signature of the last ones is remembered.
func (s *Sealer) SealAgain(kind Kind, payload []byte) *feedring.Seal {
	key := sealKey{kind, sha256.Sum256(payload)}
	if signature, ok := s.kept.Get(key); ok {
		return &feedring.Seal{Signer: s.id, Payload: payload, Signature: signature}
	}
	seal := s.Seal(kind, payload)
	s.kept.Add(key, seal.Signature)
	return seal
}

// domain is what is signed before a payload: ours alone, so that no signature made for
// another purpose fits.
func domain(network string, kind Kind) []byte {
	return []byte("feedring/" + version + "/" + network + "/" + string(kind) + "\x00")
}
