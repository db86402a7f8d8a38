package codec_test

import (
	"errors"
	"testing"

	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/node/codec"
)

// FuzzDecodeMessage feeds bytes to every verb. What comes through must be
// something that can be passed on.
func FuzzDecodeMessage(f *testing.F) {
	mk, self, v := newMaker(f, 5), newSealer(f, 1), wire.NewVerifier(network)
	verbs := codec.Verbs()
	for _, kind := range messages {
		for i, verb := range verbs {
			if verb == kind.Verb() {
				f.Add(byte(i), encode(f, self, mk.like(kind)))
			}
		}
	}
	f.Fuzz(func(t *testing.T, verb byte, b []byte) {
		m, err := codec.Decode(v, verbs[int(verb)%len(verbs)], b)
		if err != nil {
			if !errors.Is(err, wire.ErrMalformed) && !errors.Is(err, wire.ErrTooLarge) && !errors.Is(err, wire.ErrSignature) {
				t.Fatalf("an error of no kind: %v", err)
			}
			return
		}
		if _, err := codec.Encode(self, m); err != nil {
			t.Fatalf("%+v cannot be passed on: %v", m, err)
		}
	})
}
