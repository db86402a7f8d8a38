package membership

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/charter"
	"github.com/feedring/feedring/internal/host/identity"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/charters"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// Keeper knows the members of this peer's network. Its methods may be called
// concurrently.
type Keeper struct {
	network string
	charter atomic.Pointer[charter.Charter] // nil: this peer does not have it, and admits nobody
	data    string                          // where all is kept; empty: nowhere
	shared  bool                            // others write there, too
	sealer  atomic.Pointer[wire.Sealer]     // of this peer's identity; nil without a charter
	log     *slog.Logger
	sites   Sites
	host    Host
	changed chan struct{} // holds one: the roll became another
	vouched vouched       // of the mode vouched

	roll     atomic.Pointer[charter.Roll]
	mu       sync.Mutex // of changes
	codes    []invitation
	addrs    []string
	removals atomic.Uint64 // how often something else was removed
	joined   atomic.Bool   // this peer was a member a moment ago
}

// Sites says whether a site names a peer as its own.
type Sites interface {
	Names(site string, p feedring.PeerID) bool
}

// Stranger returns the keeper of a peer without a charter. Of a network of the mode
// vouched it is told the charter by the first peer that it greets, and keeps it in
// data, if that is not empty.
func Stranger(network, data string) *Keeper {
	return &Keeper{
		network: network, data: data, log: slog.Default(), changed: make(chan struct{}, 1), vouched: vouched{wake: make(chan struct{}, 1)},
	}
}

// Open returns the keeper of a data directory. ErrNone where that belongs to no
// network with a charter.
func Open(data string) (*Keeper, error) {
	text, err := os.ReadFile(filepath.Join(data, folder, charterFile))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, ErrNone
	case err != nil:
		return nil, fmt.Errorf("charter: %w", err)
	}
	c, err := charters.Decode(text)
	if err != nil {
		return nil, err
	}
	tidy(data)
	k, err := open(data, c)
	if err != nil {
		return nil, err
	}
	if err := readJSON(data, codesFile, &k.codes); err != nil {
		return nil, err
	}
	return k, readJSON(data, addrsFile, &k.addrs)
}

// ForClient returns the keeper of a client: with a data directory, that of its
// network, if network is empty or the same; nil for an open network. It also returns the
// network's name; empty: none is named.
func ForClient(data, network string) (*Keeper, string, error) {
	if data != "" {
		k, err := Open(data)
		switch {
		case errors.Is(err, ErrNone):
		case err != nil:
			return nil, "", err
		case network == "" || network == k.network:
			k.shared = true
			return k, k.network, nil
		}
	}
	if charter.Names(network) {
		return Stranger(network, ""), network, nil
	}
	return nil, network, nil
}

// open returns a keeper with what a data directory has of the roll.
func open(data string, c *charter.Charter) (*Keeper, error) {
	k := Stranger(c.Network(), data)
	return k, k.hold(c)
}

// hold begins with a charter.
func (k *Keeper) hold(c *charter.Charter) error {
	roll := charter.NewRoll(c)
	if k.data != "" {
		key, err := identity.Load(k.data)
		if err != nil {
			return err
		}
		sealer, err := wire.NewSealer(key, k.network)
		if err != nil {
			return err
		}
		k.sealer.Store(sealer)
		kept, err := readRoll(k.data, c)
		if err != nil {
			return err
		}
		roll = roll.Merge(kept, time.Now())
		if err := k.readNamed(c); err != nil {
			return err
		}
	}
	k.roll.Store(roll)
	k.charter.Store(c)
	k.joined.Store(k.member(k.self()))
	return nil
}

// self is this peer's id; empty: it has no charter, or is a client without a key of
// its own.
func (k *Keeper) self() feedring.PeerID {
	if sealer := k.sealer.Load(); sealer != nil {
		return sealer.ID()
	}
	return ""
}

// Network is the network's name.
func (k *Keeper) Network() string { return k.network }

// Data is where all is kept; empty: nowhere.
func (k *Keeper) Data() string { return k.data }

// Roll is what is known of the members; nil without a charter.
func (k *Keeper) Roll() *charter.Roll { return k.roll.Load() }

// Addresses are those of peers of the network that were met.
func (k *Keeper) Addresses() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.addrs)
}

// Self is what is known of this peer.
type Self struct {
	Label    string
	Mode     charter.Mode
	Rights   charter.Rights
	Until    time.Time
	Expelled bool
	Known    bool   // it has or had a credential
	Site     string // of the mode vouched: it names this peer; empty: none does
}

// Self says what this peer may do.
func (k *Keeper) Self() Self {
	c := k.charter.Load()
	if c == nil {
		return Self{}
	}
	now, id := time.Now(), k.self()
	s := Self{Label: c.Label, Mode: c.Mode, Expelled: k.Roll().Expelled(id, now), Known: k.Roll().Knows(id), Site: k.siteOf(id, now)}
	s.Rights, s.Until = k.rights(id, now)
	return s
}

// rights is what a peer may do now, and until when, if that is known.
func (k *Keeper) rights(p feedring.PeerID, now time.Time) (rights charter.Rights, until time.Time) {
	rights, until = k.Roll().Rights(p, now)
	switch {
	case !k.isVouched():
		return rights, until
	case k.Roll().Expelled(p, now):
		return 0, time.Time{}
	}
	rights = rights&(charter.Expel|charter.Moderate) | charter.Read
	if k.namedNow(p, now) {
		rights |= charter.Publish | charter.Serve
	}
	return rights, time.Time{}
}

// isVouched reports whether the network is of the mode vouched, as far as is known.
func (k *Keeper) isVouched() bool {
	c := k.charter.Load()
	return c != nil && c.Mode == charter.Vouched
}

// isMember reports whether this peer has a charter, and is served.
func (k *Keeper) isMember() bool { return k.charter.Load() != nil && k.member(k.self()) }

// member reports whether a peer is served.
func (k *Keeper) member(p feedring.PeerID) bool {
	now := time.Now()
	if k.isVouched() {
		return !k.Roll().Expelled(p, now)
	}
	rights, _ := k.Roll().Rights(p, now)
	return rights != 0
}

// Admits implements host.Door.
func (k *Keeper) Admits(p feedring.PeerID) bool {
	return k.isMember() && k.member(p)
}

// MaySign implements wire.Members.
func (k *Keeper) MaySign(kind wire.Kind, signer feedring.PeerID) bool {
	if k.charter.Load() == nil {
		return false
	}
	needs := charter.Serve
	switch kind {
	case wire.KindEntry:
		needs = charter.Publish
	case wire.KindPresence:
		needs = charter.Read
	}
	rights, _ := k.rights(signer, time.Now())
	return rights.Has(needs)
}

// Merge takes statements over. It returns how many of them the roll lacked. They are
// on disk when it returns.
func (k *Keeper) Merge(more []charter.Statement) (news int, err error) {
	if k.charter.Load() == nil || len(more) == 0 {
		return 0, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	before := k.Roll()
	now := time.Now()
	next := before.Merge(more, now)
	if next == before {
		return 0, nil
	}
	for _, s := range more {
		if next.Has(s.ID()) && !before.Has(s.ID()) {
			news++
		}
	}
	if k.data != "" {
		err = k.save(next)
	}
	k.roll.Store(next) // a full disk keeps no expelled peer in
	removes := !next.RemovesAs(before)
	if removes {
		k.removals.Add(1)
	}
	had, _ := before.Rights(k.self(), now)
	if has, _ := next.Rights(k.self(), now); removes || has != had {
		k.vouched.publishesChanged()
	}
	select {
	case k.changed <- struct{}{}:
	default:
	}
	return news, err
}

// save writes a roll, with what another process wrote meanwhile.
func (k *Keeper) save(next *charter.Roll) error {
	if k.shared {
		kept, err := readRoll(k.data, k.charter.Load())
		if err != nil {
			return err
		}
		next = next.Merge(kept, time.Now())
	}
	return writeRoll(k.data, next)
}

// take is Merge of what another peer told.
func (k *Keeper) take(more []charter.Statement) {
	if _, err := k.Merge(more); err != nil {
		k.log.Error("the roll of members is not kept", "err", err)
	}
}

// takeFrom takes over what another peer told: first what roots signed, then what admins
// did. What is held already, and what is of anybody else, costs no check of a signature.
func (k *Keeper) takeFrom(list []*feedringv1.Statement, most int) error {
	if len(list) > most {
		return fmt.Errorf("statements: %w: %d, at most %d", wire.ErrTooLarge, len(list), most)
	}
	if k.charter.Load() == nil {
		return nil
	}
	for _, may := range []func(*charter.Roll, feedring.PeerID) bool{(*charter.Roll).ByRoot, (*charter.Roll).ByAdmin} {
		var fresh []*feedringv1.Statement
		for _, s := range list {
			if seal := charters.SealOf(s); seal != nil && may(k.Roll(), seal.Signer) && !k.Roll().Has(charter.IDOf(seal)) {
				fresh = append(fresh, s)
			}
		}
		statements, err := charters.StatementsFrom(k.network, fresh, most)
		if err != nil {
			return err
		}
		k.take(statements)
	}
	return nil
}

// Credential signs a credential with a serial of its own.
func Credential(signer *wire.Sealer, c charter.Credential) (charter.Statement, error) {
	var serial [8]byte
	if _, err := rand.Read(serial[:]); err != nil {
		return charter.Statement{}, err
	}
	c.Serial = binary.BigEndian.Uint64(serial[:])
	return charters.SealCredential(signer, c)
}

// RenewIn is the last part of a credential's life in which it is renewed.
const RenewIn = 30 * 24 * time.Hour

// renew signs a new credential for a member whose own ends soon, if this peer may. It
// is as long valid as the one before. What only a root gives is not renewed.
func (k *Keeper) renew(p feedring.PeerID) {
	if k.isVouched() {
		return
	}
	now := time.Now()
	own, _ := k.Roll().Rights(k.self(), now)
	rights, until := k.Roll().Rights(p, now)
	if !own.Has(charter.Admit) || rights&charter.Invited == 0 || !charter.Invited.Has(rights) {
		return
	}
	life := until.Sub(now)
	for _, s := range k.Roll().Proof(p, now) {
		if c := s.Credential; c != nil && c.Subject == p {
			life = c.Expires.Sub(c.NotBefore)
		}
	}
	if until.Sub(now) >= min(RenewIn, life/4) {
		return
	}
	s, err := Credential(k.sealer.Load(), charter.Credential{Subject: p, Rights: rights, NotBefore: now, Expires: now.Add(life)})
	if err != nil {
		k.log.Error("a credential was not renewed", "peer", p, "err", err)
		return
	}
	k.take([]charter.Statement{s})
}
