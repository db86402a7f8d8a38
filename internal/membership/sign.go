package membership

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/charter"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/charters"
)

// Errors of signing.
var (
	ErrNoRoot         = errors.New("this is no root key of the network")
	ErrMayNotExpel    = errors.New("this peer has no credential that lets it expel others")
	ErrExpelled       = errors.New("the peer was expelled, and only a root key admits it anew")
	ErrMayNotModerate = errors.New("this peer has no credential that lets it moderate")
	ErrRoot           = errors.New("a root key cannot be expelled")
	ErrNoMember       = errors.New("the roll has no credential of this peer")
	ErrOnlyAdmin      = errors.New("this peer is the last that may admit or expel others: without it nobody would")
	ErrRootFile       = errors.New("the root key cannot be read")
)

// Signer signs statements about members: a root key, or that of an admin.
type Signer struct {
	keeper *Keeper
	sealer *wire.Sealer
	root   bool
	rights charter.Rights
}

// Signer returns one with the root key in a file, or without a file with this peer's
// own key.
func (k *Keeper) Signer(file string) (*Signer, error) {
	if file == "" {
		return &Signer{keeper: k, sealer: k.sealer.Load(), rights: k.Self().Rights}, nil
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRootFile, err)
	}
	key, err := crypto.UnmarshalPrivateKey(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, ErrNoRoot)
	}
	sealer, err := wire.NewSealer(key, k.network)
	if err != nil || !slices.Contains(k.charter.Load().Roots, sealer.ID()) {
		return nil, fmt.Errorf("%s: %w", file, ErrNoRoot)
	}
	return &Signer{keeper: k, sealer: sealer, root: true, rights: charter.Admit | charter.Expel | charter.Moderate}, nil
}

// Admit signs a credential. A root's takes back all expulsions of the peer.
func (s *Signer) Admit(p feedring.PeerID, rights charter.Rights, life time.Duration) ([]charter.Statement, error) {
	now, lifts := time.Now(), s.keeper.Roll().Lifts(p)
	switch {
	case s.keeper.isVouched() && rights&(charter.Expel|charter.Moderate) == 0 && len(lifts) == 0:
		return nil, ErrNoNeed
	case !s.rights.Has(charter.Admit):
		return nil, ErrMayNotAdmit
	case !s.root && s.keeper.Roll().Barred(p, now):
		return nil, ErrExpelled
	}
	c := charter.Credential{Subject: p, Rights: rights, NotBefore: now, Expires: now.Add(life)}
	if s.root {
		c.Lifts = lifts
	}
	one, err := Credential(s.sealer, c)
	return []charter.Statement{one}, err
}

// Expel signs the expulsions of members; a zero since means now. A member that this
// signer or a root expelled already, for as long, needs no other statement.
func (s *Signer) Expel(peers []feedring.PeerID, since time.Time, reason string) (signed []charter.Statement, err error) {
	if !s.rights.Has(charter.Expel) {
		return nil, ErrMayNotExpel
	}
	now := time.Now()
	if since.IsZero() {
		since = now
	}
	members := s.keeper.Roll().Members(now)
	for _, p := range peers {
		switch {
		case slices.Contains(s.keeper.charter.Load().Roots, p):
			return nil, ErrRoot
		case !s.keeper.isVouched() && !slices.ContainsFunc(members, func(m charter.Member) bool { return m.Peer == p }):
			return nil, fmt.Errorf("%s: %w", p, ErrNoMember)
		case !s.root && p == s.sealer.ID() && !s.others(members, peers, now):
			return nil, ErrOnlyAdmin
		case s.keeper.Roll().ExpelledBy(p, s.sealer.ID(), since, now):
			continue
		}
		one, err := charters.SealExpulsion(s.sealer, s.keeper.Roll().Expel(p, since, now, reason, s.root))
		if err != nil {
			return nil, err
		}
		signed = append(signed, one)
	}
	return signed, nil
}

// others reports whether members but these may do all that this signer may for who
// belongs to the network.
func (s *Signer) others(members []charter.Member, but []feedring.PeerID, now time.Time) bool {
	var have charter.Rights
	for _, m := range members {
		if !slices.Contains(but, m.Peer) {
			rights, _ := s.keeper.Roll().Rights(m.Peer, now)
			have |= rights
		}
	}
	return have.Has(s.rights & (charter.Admit | charter.Expel))
}

// Moderate signs the removal of a target, or what takes all its removals back.
func (s *Signer) Moderate(t charter.Target, restore bool, reason string) ([]charter.Statement, error) {
	if !s.rights.Has(charter.Moderate) {
		return nil, ErrMayNotModerate
	}
	m, err := s.keeper.Roll().Moderate(t, restore, s.sealer.ID(), time.Now(), reason)
	if err != nil {
		return nil, err
	}
	one, err := charters.SealRemoval(s.sealer, m)
	return []charter.Statement{one}, err
}
