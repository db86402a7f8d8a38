package charters

import (
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/wire"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// FleetMember says, sealed by the key of a fleet, that a peer belongs to it. It travels as
// a credential with a group.
type FleetMember struct {
	Subject            feedring.PeerID
	Group              feedring.GroupID
	NotBefore, Expires time.Time
}

// SealFleetMember signs one with the fleet's key.
func SealFleetMember(s *wire.Sealer, m FleetMember) (*feedring.Seal, error) {
	var e wire.Encoder
	body, err := encode(&feedringv1.CredentialBody{
		Subject: e.Peer(m.Subject), Group: m.Group[:], NotBeforeUnixMs: wire.TimeTo(m.NotBefore), ExpiresUnixMs: wire.TimeTo(m.Expires),
	})
	if err == nil {
		err = e.Err()
	}
	if err != nil {
		return nil, err
	}
	return s.Seal(wire.KindCredential, body), nil
}

// OpenFleetMember checks a seal, and reads it. Whose key a fleet has is for the caller to
// compare with the seal's signer.
func OpenFleetMember(network string, seal *feedring.Seal) (m FleetMember, err error) {
	var b feedringv1.CredentialBody
	d, err := open(network, wire.KindCredential, seal, &b)
	if err != nil {
		return m, err
	}
	m = FleetMember{
		Subject: d.Peer("subject", b.GetSubject()), Group: d.Group("group", b.GetGroup()),
		NotBefore: d.Time("not before", b.GetNotBeforeUnixMs()), Expires: d.Time("expires", b.GetExpiresUnixMs()),
	}
	return m, d.Err()
}
