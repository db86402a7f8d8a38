package codec

import (
	"fmt"
	"slices"
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/wire"
)

// form is how one kind of message travels.
type form struct {
	verb   feedring.Verb
	encode func(*encoder, feedring.Message) (proto.Message, bool)
	decode func(*decoder, []byte) feedring.Message
}

// forms is every message. It is never changed.
var forms = sync.OnceValue(func() map[feedring.Verb]form {
	all := make(map[feedring.Verb]form)
	for _, list := range [](func() []form){groupForms, ringForms, peerForms} {
		for _, f := range list() {
			all[f.verb] = f
		}
	}
	return all
})

// as makes a form of the two ways between a message and its protobuf.
func as[M feedring.Message, P any, PP interface {
	*P
	proto.Message
}](to func(*encoder, M) PP, from func(*decoder, PP) M) form {
	var zero M
	return form{
		verb: zero.Verb(),
		encode: func(e *encoder, m feedring.Message) (proto.Message, bool) {
			message, ok := m.(M)
			if !ok {
				return nil, false
			}
			return to(e, message), true
		},
		decode: func(d *decoder, b []byte) feedring.Message {
			p := PP(new(P))
			if d.Fail(wire.Unmarshal(b, p)); d.Err() != nil {
				return nil
			}
			return from(d, p)
		},
	}
}

// Verbs lists the verbs of all messages, sorted.
func Verbs() []feedring.Verb {
	verbs := make([]feedring.Verb, 0, len(forms()))
	for verb := range forms() {
		verbs = append(verbs, verb)
	}
	slices.Sort(verbs)
	return verbs
}

// Encode returns m as a whole frame, its length in front. Statements without a
// seal are sealed as this peer's own; one that is another peer's is an error,
// and so is a message that is too large (wire.ErrTooLarge). m is not changed.
func Encode(sealer *wire.Sealer, m feedring.Message) ([]byte, error) {
	f, ok := forms()[m.Verb()]
	if !ok {
		return nil, fmt.Errorf("encode %q: %w: no such verb", m.Verb(), wire.ErrMalformed)
	}
	e := &encoder{sealer: sealer}
	p, ok := f.encode(e, m)
	if !ok {
		return nil, fmt.Errorf("encode %q: %w: a %T has another verb's form", m.Verb(), wire.ErrMalformed, m)
	}
	if e.Err() != nil {
		return nil, fmt.Errorf("encode %q: %w", m.Verb(), e.Err())
	}
	return wire.AppendFrame(nil, p)
}

// Decode reads a message of verb: the bytes of a frame, without its length.
// Errors wrap wire.ErrMalformed, wire.ErrTooLarge or wire.ErrSignature. The
// message shares no memory with b.
func Decode(verifier Verifier, verb feedring.Verb, b []byte) (feedring.Message, error) {
	f, ok := forms()[verb]
	if !ok {
		return nil, fmt.Errorf("decode %q: %w: no such verb", verb, wire.ErrMalformed)
	}
	d := &decoder{verifier: verifier}
	m := f.decode(d, b)
	if d.Err() != nil {
		return nil, fmt.Errorf("decode %q: %w", verb, d.Err())
	}
	return m, nil
}
