package codec

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/wire"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// encoder seals what is this peer's own.
type encoder struct {
	wire.Encoder
	sealer *wire.Sealer
}

// decoder checks seals, those seen before for the price of a hash.
type decoder struct {
	wire.Decoder
	verifier Verifier
}

// Verifier checks seals. A *wire.Verifier is one.
type Verifier interface {
	Verify(wire.Kind, *feedring.Seal) error
	// Allow returns an ErrCredential where a peer may make no statements of a kind.
	Allow(wire.Kind, feedring.PeerID) error
	// Open reports whether anybody may make statements.
	Open() bool
}

// seal signs body as a statement of owner, who must be this peer. Nothing that
// is repeated is signed twice.
func (e *encoder) seal(kind wire.Kind, owner feedring.PeerID, body proto.Message) *feedringv1.Sealed {
	if owner != e.sealer.ID() {
		e.Fail(fmt.Errorf("%s of %q: %w: only its owner can seal it", kind, owner.Short(), wire.ErrSignature))
	}
	if e.Err() != nil {
		return nil
	}
	if size := proto.Size(body); size > wire.MaxMessage {
		e.Fail(fmt.Errorf("%s of %d bytes: %w, at most %d", kind, size, wire.ErrTooLarge, wire.MaxMessage))
		return nil
	}
	payload, err := proto.MarshalOptions{Deterministic: true}.Marshal(body)
	if err != nil {
		e.Fail(fmt.Errorf("%s: %w: %v", kind, wire.ErrMalformed, err))
		return nil
	}
	return wire.SealTo(e.sealer.SealAgain(kind, payload))
}

// open checks a seal that must be there and reads the statement into body. It
// returns nil after an error, and then checks nothing more.
func (d *decoder) open(kind wire.Kind, sealed *feedringv1.Sealed, body proto.Message) *feedring.Seal {
	if d.Err() != nil {
		return nil
	}
	if sealed == nil {
		d.Malformed(string(kind), "it is not there")
		return nil
	}
	seal := wire.SealFrom(sealed)
	d.Fail(d.verifier.Verify(kind, seal))
	if d.Err() == nil {
		d.Fail(wire.Unmarshal(seal.Payload, body))
	}
	if d.Err() != nil {
		return nil
	}
	return seal
}

// eachAllowed is each for a list of statements: those of peers that may not make them
// are left out, since whoever passes them on may not know yet.
func eachAllowed[A, B any](d *decoder, from []A, convert func(*decoder, *A) B) []B {
	if d.verifier.Open() {
		return each(from, func(a *A) B { return convert(d, a) })
	}
	var to []B
	for i := range from {
		one := decoder{verifier: d.verifier}
		b := convert(&one, &from[i])
		if errors.Is(one.Err(), wire.ErrCredential) {
			continue
		}
		d.Fail(one.Err())
		to = append(to, b)
	}
	return to
}

// within checks that a statement is about the group of the message that
// carries it.
func (d *decoder) within(kind wire.Kind, message, statement feedring.GroupID) {
	if message != statement {
		d.Malformed(string(kind), "it is about another group")
	}
}

// each converts a list, nil for an empty one.
func each[A, B any](from []A, convert func(*A) B) []B {
	if len(from) == 0 {
		return nil
	}
	to := make([]B, len(from))
	for i := range from {
		to[i] = convert(&from[i])
	}
	return to
}
