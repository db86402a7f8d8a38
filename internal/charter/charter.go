// Package charter decides who belongs to a network that is not open: its charter
// names root keys, credentials lead from them to peers, and expulsions end
// credentials. Removals say what its members hide. It checks no signature: what it is
// given was checked.
package charter

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/feedring/feedring"
)

// Mode says who may belong to a network.
type Mode uint32

// The modes.
const (
	Closed  Mode = 1 // who has a credential
	Vouched Mode = 2 // everybody; whom a site names publishes and serves
)

// String is the mode's name.
func (m Mode) String() string {
	switch m {
	case Closed:
		return "closed"
	case Vouched:
		return "vouched"
	}
	return fmt.Sprintf("mode %d", uint32(m))
}

// Charter is what a network is. It is never changed.
type Charter struct {
	Label   string
	Mode    Mode
	Roots   []feedring.PeerID
	Created time.Time
	Text    []byte // its encoded form, which names the network
}

const (
	prefix   = "x-"
	nameSize = 16 // bytes of the hash
)

var nameCoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// Network is the name of the charter's network.
func (c *Charter) Network() string {
	sum := sha256.Sum256(slices.Concat([]byte("feedring charter\x00"), c.Text))
	return prefix + nameCoding.EncodeToString(sum[:nameSize])
}

// Names reports whether a network's name is one that a charter gives.
func Names(network string) bool {
	rest, ok := strings.CutPrefix(network, prefix)
	if !ok {
		return false
	}
	raw, err := nameCoding.DecodeString(rest)
	return err == nil && len(raw) == nameSize
}

// Rights is what a credential allows.
type Rights uint32

// The rights.
const (
	Read Rights = 1 << iota
	Publish
	Serve
	Admit
	Expel
	Moderate

	// Invited is what an invitation gives to a peer, and the most that an admin may.
	Invited = Read | Publish | Serve
	all     = Invited | Admit | Expel | Moderate
)

var rightNames = []string{"read", "publish", "serve", "admit", "expel", "moderate"}

// Has reports whether all rights of o are in r.
func (r Rights) Has(o Rights) bool { return r&o == o }

// List names the rights.
func (r Rights) List() []string {
	names := []string{}
	for i, name := range rightNames {
		if r.Has(1 << i) {
			names = append(names, name)
		}
	}
	return names
}

// ParseRight reads the name of a right.
func ParseRight(name string) (Rights, bool) {
	i := slices.Index(rightNames, name)
	if i < 0 {
		return 0, false
	}
	return 1 << i, true
}

// ID names a statement.
type ID [16]byte

// IDOf names the statement of a seal.
func IDOf(seal *feedring.Seal) (id ID) {
	h := sha256.New()
	h.Write(seal.Payload)
	h.Write(seal.Signature)
	copy(id[:], h.Sum(nil))
	return id
}

// Credential admits its subject.
type Credential struct {
	Subject            feedring.PeerID
	Rights             Rights
	NotBefore, Expires time.Time
	Serial             uint64
	Lifts              []ID // expulsions that it takes back, if a root signed it
	Seal               *feedring.Seal
}

// Expulsion ends the credentials of its subject.
type Expulsion struct {
	Subject feedring.PeerID
	Since   time.Time // what an admin signed from then on is ended, too
	At      time.Time // when it was signed
	Until   time.Time // nothing that it ends is valid after
	Reason  string
	Keeps   []ID // what its subject signed before Since; no more than this stays valid
	Seal    *feedring.Seal
}

// Statement is a part of the roll: one is set.
type Statement struct {
	Credential *Credential
	Expulsion  *Expulsion
	Removal    *Removal
}

// about is what a statement says beside its content.
type about struct {
	seal     *feedring.Seal
	subject  feedring.PeerID
	at, ends time.Time
	needs    Rights // of a signer that is no root
}

// about is used in many places, so that inlining it would add 10 kB.
//
//go:noinline
func (s Statement) about() about {
	switch {
	case s.Credential != nil:
		return about{s.Credential.Seal, s.Credential.Subject, s.Credential.NotBefore, s.Credential.Expires, Admit}
	case s.Removal != nil:
		return about{s.Removal.Seal, "", s.Removal.At, s.Removal.Until, Moderate}
	}
	return about{s.Expulsion.Seal, s.Expulsion.Subject, s.Expulsion.At, s.Expulsion.Until, Expel}
}

// Seal is the statement's.
func (s Statement) Seal() *feedring.Seal { return s.about().seal }

// ID names the statement.
func (s Statement) ID() ID { return IDOf(s.Seal()) }

// Subject is the peer that the statement is about; empty: it is about none.
func (s Statement) Subject() feedring.PeerID { return s.about().subject }

// At is when it was signed, by its signer's word.
func (s Statement) At() time.Time { return s.about().at }

// ends is when the statement says nothing any more.
func (s Statement) ends() time.Time { return s.about().ends }
