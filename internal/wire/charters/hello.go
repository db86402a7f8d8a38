package charters

import (
	"fmt"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/charter"
	"github.com/feedring/feedring/internal/wire"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// Hello is what both sides of a connection say first.
type Hello struct {
	Statements []charter.Statement // of one that is sent: what came is for StatementsFrom
	Roll       charter.ID
	Whole      charter.ID      // with removals; zero: of a version without them
	Invitation feedring.PeerID // the key of the invitation that the sender redeems; empty: none
	Refusal    feedringv1.HelloRefusal
	Mode       charter.Mode // of an answer; 0: not known
	Site       string       // of the mode vouched: names the sender; empty: none does
	Charter    []byte       // the text, of an answer in the mode vouched
}

// HelloTo is a hello as it travels. invitation signs it, where the sender redeems one;
// nil: it does not.
func HelloTo(h Hello, holder feedring.PeerID, invitation *wire.Sealer) (*feedringv1.Hello, error) {
	p := &feedringv1.Hello{Statements: StatementsTo(h.Statements), Roll: h.Roll[:], Whole: h.Whole[:], Refusal: h.Refusal, Mode: uint32(h.Mode), Site: h.Site, Charter: h.Charter}
	if invitation == nil {
		return p, nil
	}
	var e wire.Encoder
	body, err := encode(&feedringv1.InvitationBody{Holder: e.Peer(holder)})
	if err == nil {
		err = e.Err()
	}
	if err == nil {
		p.Invitation = wire.SealTo(invitation.Seal(wire.KindInvitation, body))
	}
	return p, err
}

// HelloFrom is the inverse, without the statements. An invitation is checked, and that
// it was signed for its sender.
func HelloFrom(network string, from feedring.PeerID, p *feedringv1.Hello) (h Hello, err error) {
	var d wire.Decoder
	h.Roll, h.Whole, h.Refusal, h.Mode = hash(&d, p.GetRoll()), hash(&d, p.GetWhole()), p.GetRefusal(), charter.Mode(p.GetMode())
	h.Site = d.Text("site", p.GetSite(), maxSite)
	if d.Within("charter", len(p.GetCharter()), maxText) {
		h.Charter = p.GetCharter()
	}
	if p.GetInvitation() != nil {
		var b feedringv1.InvitationBody
		seal := wire.SealFrom(p.GetInvitation())
		d.Fail(wire.Verify(network, wire.KindInvitation, seal))
		d.Fail(wire.Unmarshal(seal.Payload, &b))
		if d.Err() == nil && d.Peer("holder", b.GetHolder()) != from {
			d.Malformed("invitation", "it was signed for another peer")
		}
		h.Invitation = seal.Signer
	}
	if d.Err() != nil {
		return h, fmt.Errorf("hello: %w", d.Err())
	}
	return h, nil
}

func hash(d *wire.Decoder, b []byte) (id charter.ID) {
	if len(b) != 0 && len(b) != len(id) {
		d.Malformed("roll", "a hash has 16 bytes")
	}
	copy(id[:], b)
	return id
}

// Roll is one message of an exchange of rolls.
type Roll struct {
	Hash       charter.ID // without removals
	Whole      charter.ID // with them; zero: of a version without them
	Have, Want []uint64
	Statements []charter.Statement // as of Hello

	// Of the mode vouched.
	Asked []feedring.PeerID // whose sites the sender wants to know
	Named []NamedPeer       // the sender, and in an answer those of Asked that it saw a site name
}

// NamedPeer is a peer and a site that is said to name it.
type NamedPeer struct {
	Peer feedring.PeerID
	Site string
}

// MaxStatements is how many a message of an exchange holds.
const MaxStatements = charter.MaxRoll + charter.MaxRemovals

// MaxAsked is how many peers' sites a message asks for.
const MaxAsked = 256

const maxSite = 255 // bytes

// maxPart is how many bytes of statements are sent at once: the next exchange brings
// the rest.
const maxPart = 3 << 20

// RollTo is a message of an exchange as it travels.
func RollTo(r Roll) (*feedringv1.Roll, error) {
	size := 0
	for i, s := range r.Statements {
		if size += len(s.Seal().Payload) + 128; size > maxPart {
			r.Statements = r.Statements[:i]
			break
		}
	}
	var e wire.Encoder
	p := &feedringv1.Roll{
		Hash: r.Hash[:], Whole: r.Whole[:], Have: r.Have, Want: r.Want, Statements: StatementsTo(r.Statements), Asked: e.Peers(r.Asked),
		Named: wire.Each(r.Named, func(n *NamedPeer) *feedringv1.NamedPeer {
			return &feedringv1.NamedPeer{Peer: e.Peer(n.Peer), Site: n.Site}
		}),
	}
	return p, e.Err()
}

// RollFrom is the inverse, without the statements.
func RollFrom(p *feedringv1.Roll) (r Roll, err error) {
	var d wire.Decoder
	r.Hash, r.Whole = hash(&d, p.GetHash()), hash(&d, p.GetWhole())
	if d.Within("have", len(p.GetHave()), MaxStatements) && d.Within("want", len(p.GetWant()), MaxStatements) {
		r.Have, r.Want = p.GetHave(), p.GetWant()
	}
	r.Asked = d.Peers("asked", p.GetAsked(), MaxAsked)
	if d.Within("named", len(p.GetNamed()), MaxAsked+1) {
		r.Named = wire.Each(p.GetNamed(), func(n **feedringv1.NamedPeer) NamedPeer {
			return NamedPeer{Peer: d.Peer("named peer", (*n).GetPeer()), Site: d.Text("site", (*n).GetSite(), maxSite)}
		})
	}
	if d.Err() != nil {
		return Roll{}, fmt.Errorf("roll: %w", d.Err())
	}
	return r, nil
}
