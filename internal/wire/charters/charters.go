// Package charters puts the statements of networks with a charter into their wire
// form and back, and checks their seals. Who belongs to a network is for package
// charter.
package charters

import (
	"cmp"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/charter"
	"github.com/feedring/feedring/internal/wire"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

const (
	// MaxLabel is the longest label of a network, in bytes.
	MaxLabel  = 200
	maxRoots  = 8
	maxReason = 1 << 10
	maxText   = 4 << 10 // bytes of a charter
)

// encode is the one form of a body.
func encode(body proto.Message) ([]byte, error) {
	return proto.MarshalOptions{Deterministic: true}.Marshal(body)
}

// Encode fills in the text of a charter, which names its network.
func Encode(c *charter.Charter) error {
	var e wire.Encoder
	body := &feedringv1.CharterBody{
		Label: c.Label, Mode: uint32(c.Mode), Roots: e.Peers(c.Roots), CreatedUnixMs: wire.TimeTo(c.Created),
	}
	if e.Err() != nil {
		return e.Err()
	}
	text, err := encode(body)
	if err != nil {
		return err
	}
	read, err := Decode(text)
	if err == nil {
		*c = *read
	}
	return err
}

// Decode reads the text of a charter.
func Decode(text []byte) (*charter.Charter, error) {
	var d wire.Decoder
	var b feedringv1.CharterBody
	if d.Within("charter", len(text), maxText) {
		d.Fail(wire.Unmarshal(text, &b))
	}
	c := &charter.Charter{
		Label: d.Text("label", b.GetLabel(), MaxLabel), Mode: charter.Mode(b.GetMode()), Roots: d.Peers("roots", b.GetRoots(), maxRoots),
		Created: d.Time("created", b.GetCreatedUnixMs()), Text: text,
	}
	if c.Mode != charter.Closed && c.Mode != charter.Vouched {
		d.Malformed("mode", "it is none that this version knows")
	}
	if c.Mode == charter.Closed && len(c.Roots) == 0 {
		d.Malformed("roots", "there is none")
	}
	if d.Err() != nil {
		return nil, fmt.Errorf("charter: %w", d.Err())
	}
	return c, nil
}

// SealCredential signs a credential.
func SealCredential(s *wire.Sealer, c charter.Credential) (charter.Statement, error) {
	var e wire.Encoder
	body, err := encode(&feedringv1.CredentialBody{
		Subject: e.Peer(c.Subject), Rights: uint32(c.Rights), NotBeforeUnixMs: wire.TimeTo(c.NotBefore), ExpiresUnixMs: wire.TimeTo(c.Expires),
		Serial: c.Serial, Lifts: wire.Each(c.Lifts, func(id *charter.ID) []byte { return id[:] }),
	})
	return sealed(&e, err, func() (charter.Statement, error) {
		return credential(s.Network(), s.Seal(wire.KindCredential, body))
	})
}

// SealExpulsion signs an expulsion.
func SealExpulsion(s *wire.Sealer, x charter.Expulsion) (charter.Statement, error) {
	var e wire.Encoder
	body, err := encode(&feedringv1.ExpulsionBody{
		Subject: e.Peer(x.Subject), SinceUnixMs: wire.TimeTo(x.Since), AtUnixMs: wire.TimeTo(x.At), UntilUnixMs: wire.TimeTo(x.Until),
		Reason: x.Reason, Keeps: wire.Each(x.Keeps, func(id *charter.ID) []byte { return id[:] }),
	})
	return sealed(&e, err, func() (charter.Statement, error) {
		return expulsion(s.Network(), s.Seal(wire.KindExpulsion, body))
	})
}

// SealRemoval signs a removal.
func SealRemoval(s *wire.Sealer, m *charter.Removal) (charter.Statement, error) {
	body, err := encode(&feedringv1.RemovalBody{
		Target: string(m.Target), AtUnixMs: wire.TimeTo(m.At), UntilUnixMs: wire.TimeTo(m.Until), Reason: m.Reason,
		Restores: wire.Each(m.Restores, func(id *charter.ID) []byte { return id[:] }),
	})
	return sealed(new(wire.Encoder), err, func() (charter.Statement, error) {
		return removal(s.Network(), s.Seal(wire.KindRemoval, body))
	})
}

func sealed(e *wire.Encoder, err error, read func() (charter.Statement, error)) (charter.Statement, error) {
	if err == nil {
		err = e.Err()
	}
	if err != nil {
		return charter.Statement{}, err
	}
	return read()
}

// credential checks and opens one.
func credential(network string, seal *feedring.Seal) (s charter.Statement, err error) {
	var b feedringv1.CredentialBody
	d, err := open(network, wire.KindCredential, seal, &b)
	if err != nil {
		return s, err
	}
	if len(b.GetGroup()) > 0 {
		d.Malformed("group", "it is a fleet's credential, and says nothing of a network")
	}
	s.Credential = &charter.Credential{
		Subject: d.Peer("subject", b.GetSubject()), Rights: charter.Rights(b.GetRights()), NotBefore: d.Time("not before", b.GetNotBeforeUnixMs()),
		Expires: d.Time("expires", b.GetExpiresUnixMs()), Serial: b.GetSerial(), Lifts: ids(d, "lifts", b.GetLifts(), charter.MaxLifts), Seal: seal,
	}
	return s, d.Err()
}

// expulsion checks and opens one.
func expulsion(network string, seal *feedring.Seal) (s charter.Statement, err error) {
	var b feedringv1.ExpulsionBody
	d, err := open(network, wire.KindExpulsion, seal, &b)
	if err != nil {
		return s, err
	}
	s.Expulsion = &charter.Expulsion{
		Subject: d.Peer("subject", b.GetSubject()), Since: d.Time("since", b.GetSinceUnixMs()), At: d.Time("at", b.GetAtUnixMs()),
		Until: d.Time("until", b.GetUntilUnixMs()), Reason: d.Text("reason", b.GetReason(), maxReason),
		Keeps: ids(d, "keeps", b.GetKeeps(), charter.MaxKeeps), Seal: seal,
	}
	return s, d.Err()
}

// removal checks and opens one.
func removal(network string, seal *feedring.Seal) (s charter.Statement, err error) {
	var b feedringv1.RemovalBody
	d, err := open(network, wire.KindRemoval, seal, &b)
	if err != nil {
		return s, err
	}
	s.Removal = &charter.Removal{
		Target: charter.Target(d.Text("target", b.GetTarget(), wire.MaxURL)), At: d.Time("at", b.GetAtUnixMs()), Until: d.Time("until", b.GetUntilUnixMs()),
		Reason: d.Text("reason", b.GetReason(), maxReason), Restores: ids(d, "restores", b.GetRestores(), charter.MaxRestores), Seal: seal,
	}
	return s, d.Err()
}

func open(network string, kind wire.Kind, seal *feedring.Seal, body proto.Message) (*wire.Decoder, error) {
	if err := wire.Verify(network, kind, seal); err != nil {
		return nil, err
	}
	return new(wire.Decoder), wire.Unmarshal(seal.Payload, body)
}

func ids(d *wire.Decoder, field string, list [][]byte, most int) []charter.ID {
	if !d.Within(field, len(list), most) {
		return nil
	}
	return wire.Each(list, func(b *[]byte) (id charter.ID) {
		if copy(id[:], *b) != len(id) || len(*b) != len(id) {
			d.Malformed(field, "an id has 16 bytes")
		}
		return id
	})
}

// StatementsTo is a list of statements as it travels.
func StatementsTo(list []charter.Statement) []*feedringv1.Statement {
	return wire.Each(list, func(s *charter.Statement) *feedringv1.Statement {
		seal := wire.SealTo(s.Seal())
		switch {
		case s.Credential != nil:
			return &feedringv1.Statement{Is: &feedringv1.Statement_Credential{Credential: seal}}
		case s.Removal != nil:
			return &feedringv1.Statement{Is: &feedringv1.Statement_Removal{Removal: seal}}
		}
		return &feedringv1.Statement{Is: &feedringv1.Statement_Expulsion{Expulsion: seal}}
	})
}

// SealOf is the seal of a statement that came, not checked; nil: it is of a kind that this
// version does not know.
func SealOf(s *feedringv1.Statement) *feedring.Seal {
	if sealed := cmp.Or(s.GetCredential(), s.GetExpulsion(), s.GetRemoval()); sealed != nil {
		return wire.SealFrom(sealed)
	}
	return nil
}

// StatementsFrom is the inverse: all are checked. Those of a kind that this version
// does not know are left out.
func StatementsFrom(network string, list []*feedringv1.Statement, most int) (statements []charter.Statement, err error) {
	if len(list) > most {
		return nil, fmt.Errorf("statements: %w: %d, at most %d", wire.ErrTooLarge, len(list), most)
	}
	for _, one := range list {
		var s charter.Statement
		var err error
		switch is := one.GetIs().(type) {
		case *feedringv1.Statement_Credential:
			s, err = credential(network, wire.SealFrom(is.Credential))
		case *feedringv1.Statement_Expulsion:
			s, err = expulsion(network, wire.SealFrom(is.Expulsion))
		case *feedringv1.Statement_Removal:
			s, err = removal(network, wire.SealFrom(is.Removal))
		default:
			continue
		}
		if err != nil {
			return nil, err
		}
		statements = append(statements, s)
	}
	return statements, nil
}
