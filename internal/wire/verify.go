package wire

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/wire/peerid"
	"github.com/feedring/feedring/internal/wire/signature"
)

// keptChecks is how many good statements a Verifier remembers, about 2 MB.
const keptChecks = 8192

// Verify checks that seal was made by its signer, for this network and kind.
// ErrSignature where not. It takes 30 to 100 µs; see Verifier.
func Verify(network string, kind Kind, seal *feedring.Seal) error {
	switch {
	case seal == nil:
		return fmt.Errorf("%s: %w: it is not signed", kind, ErrSignature)
	case len(seal.Signature) != ed25519.SignatureSize:
		return fmt.Errorf("%s: %w: it has %d bytes", kind, ErrSignature, len(seal.Signature))
	}
	// The key is part of the id, some hundred nanoseconds away: nothing to keep.
	key := peerid.PublicKey(seal.Signer)
	if key == nil {
		return fmt.Errorf("%s: %w: its signer is no peer", kind, ErrSignature)
	}
	if !signature.Valid(key, seal.Signature, domain(network, kind), seal.Payload) {
		return fmt.Errorf("%s of %s: %w", kind, seal.Signer.Short(), ErrSignature)
	}
	return nil
}

// Verifier checks statements on one network and remembers which were good, so
// that one that comes again (a row from every member, an entry from several
// peers) costs a hash only. It is safe for concurrent use, and bounded.
type Verifier struct {
	network string
	good    *lru.Cache[checkKey, struct{}]
	members Members // nil: the network is open
}

// Members knows who may say what on a network with a charter.
type Members interface {
	// MaySign reports whether a peer may make statements of a kind now.
	MaySign(kind Kind, signer feedring.PeerID) bool
}

type checkKey struct {
	signer feedring.PeerID
	kind   Kind
	hash   [sha256.Size]byte
}

// NewVerifier checks statements of a network.
func NewVerifier(network string) *Verifier {
	good, err := lru.New[checkKey, struct{}](keptChecks)
	if err != nil {
		panic(err) // only for a size below one
	}
	return &Verifier{network: network, good: good}
}

// For returns a Verifier that accepts what members may say only: of anybody else,
// ErrCredential.
func (v *Verifier) For(m Members) *Verifier {
	return &Verifier{network: v.network, good: v.good, members: m}
}

// Open reports whether anybody may make statements.
func (v *Verifier) Open() bool { return v.members == nil }

// Allow returns an ErrCredential where a peer may make no statements of a kind.
func (v *Verifier) Allow(kind Kind, signer feedring.PeerID) error {
	if v == nil || v.members == nil || v.members.MaySign(kind, signer) {
		return nil
	}
	return fmt.Errorf("%s of %s: %w", kind, signer.Short(), ErrCredential)
}

// Known reports whether a statement was good before: to verify it costs a hash.
func (v *Verifier) Known(kind Kind, seal *feedring.Seal) bool {
	if seal == nil {
		return false
	}
	_, ok := v.good.Get(checkKey{seal.Signer, kind, EntryHash(seal)})
	return ok
}

// Verify is the function Verify, remembered.
func (v *Verifier) Verify(kind Kind, seal *feedring.Seal) error {
	if seal != nil {
		if err := v.Allow(kind, seal.Signer); err != nil {
			return err
		}
	}
	if seal == nil || len(seal.Signature) != ed25519.SignatureSize {
		return Verify(v.network, kind, seal)
	}
	key := checkKey{seal.Signer, kind, EntryHash(seal)}
	if _, ok := v.good.Get(key); ok {
		return nil
	}
	if err := Verify(v.network, kind, seal); err != nil {
		return err
	}
	v.good.Add(key, struct{}{})
	return nil
}

// Entry checks a sealed entry and opens it. See DecodeEntry.
func (v *Verifier) Entry(seal *feedring.Seal) (e *feedring.Entry, previous [32]byte, err error) {
	if err := v.Verify(KindEntry, seal); err != nil {
		return nil, previous, err
	}
	return DecodeEntry(seal)
}

// EntryHash names a sealed entry: the next one of its feed carries it.
func EntryHash(seal *feedring.Seal) [32]byte {
	h := sha256.New()
	h.Write(seal.Payload)
	h.Write(seal.Signature)
	var sum [32]byte
	h.Sum(sum[:0])
	return sum
}
