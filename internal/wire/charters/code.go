package charters

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/feedring/feedring/internal/charter"
	"github.com/feedring/feedring/internal/wire"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

const (
	maxCode   = 16 << 10 // characters
	maxAddrs  = 8
	sumLength = 4
)

// ErrCode is for what is no invitation, or not the whole of one.
var ErrCode = errors.New("this is no invitation, or a part of it is missing")

// Code is an invitation as a person is given it.
type Code struct {
	Charter *charter.Charter
	Addrs   []string       // of the peer that redeems it, then of other members
	Key     crypto.PrivKey // Ed25519
}

// String is the code's text.
func (c Code) String() string {
	raw, err := c.Key.Raw()
	if err != nil {
		return ""
	}
	text, err := encode(&feedringv1.InvitationCode{
		Charter: c.Charter.Text, Addrs: c.Addrs[:min(len(c.Addrs), maxAddrs)], Key: ed25519.PrivateKey(raw).Seed(),
	})
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(append(text, sum[:sumLength]...))
}

// ParseCode reads a code; white space around and within it does not matter.
func ParseCode(s string) (c Code, err error) {
	s = strings.Join(strings.Fields(s), "")
	text, err := base64.RawURLEncoding.DecodeString(s[:min(len(s), maxCode+1)])
	if err != nil || len(s) > maxCode || len(text) < sumLength {
		return c, ErrCode
	}
	text, told := text[:len(text)-sumLength], text[len(text)-sumLength:]
	if sum := sha256.Sum256(text); !bytes.Equal(told, sum[:sumLength]) {
		return c, ErrCode
	}
	var p feedringv1.InvitationCode
	if err := wire.Unmarshal(text, &p); err != nil {
		return c, ErrCode
	}
	if c.Charter, err = Decode(p.GetCharter()); err != nil {
		return c, err
	}
	var d wire.Decoder
	c.Addrs = d.Texts("addrs", p.GetAddrs(), maxAddrs, 512)
	if len(p.GetKey()) != ed25519.SeedSize {
		d.Malformed("key", "it has another size")
	}
	if d.Err() != nil {
		return c, fmt.Errorf("%w: %w", ErrCode, d.Err())
	}
	c.Key, err = crypto.UnmarshalEd25519PrivateKey(ed25519.NewKeyFromSeed(p.GetKey()))
	return c, err
}
