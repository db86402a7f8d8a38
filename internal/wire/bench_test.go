package wire_test

import (
	"testing"

	"github.com/feedring/feedring/internal/wire"
)

func BenchmarkSign(b *testing.B) {
	s := newSealer(b, 1)
	payload := make([]byte, 1500)
	for b.Loop() {
		s.Seal(wire.KindEntry, payload)
	}
}

func BenchmarkSignAgain(b *testing.B) {
	s := newSealer(b, 1)
	payload := make([]byte, 1500)
	for b.Loop() {
		s.SealAgain(wire.KindRow, payload)
	}
}

func BenchmarkVerify(b *testing.B) {
	seal := newSealer(b, 1).Seal(wire.KindEntry, make([]byte, 1500))
	for b.Loop() {
		if err := wire.Verify(network, wire.KindEntry, seal); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkVerifyAgain(b *testing.B) {
	v, seal := wire.NewVerifier(network), newSealer(b, 1).Seal(wire.KindEntry, make([]byte, 1500))
	for b.Loop() {
		if err := v.Verify(wire.KindEntry, seal); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncodeEntry(b *testing.B) {
	e := sampleEntry(newSealer(b, 1).ID())
	for b.Loop() {
		if _, err := wire.EncodeEntry(e, [32]byte{1}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeEntry(b *testing.B) {
	s := newSealer(b, 1)
	seal := sealEntry(b, s, sampleEntry(s.ID()), [32]byte{1})
	for b.Loop() {
		if _, _, err := wire.DecodeEntry(seal); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPeerBytes(b *testing.B) {
	id := newSealer(b, 1).ID()
	for b.Loop() {
		wire.PeerBytes(id)
	}
}
