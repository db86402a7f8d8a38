package wire_test

import (
	"testing"

	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/peerid"
	"github.com/feedring/feedring/internal/wire/wiretest"
)

func BenchmarkSign(b *testing.B) {
	s := wiretest.NewSealer(b, 1)
	payload := make([]byte, 1500)
	for b.Loop() {
		s.Seal(wire.KindEntry, payload)
	}
}

func BenchmarkSignAgain(b *testing.B) {
	s := wiretest.NewSealer(b, 1)
	payload := make([]byte, 1500)
	for b.Loop() {
		s.SealAgain(wire.KindRow, payload)
	}
}

func BenchmarkVerify(b *testing.B) {
	seal := wiretest.NewSealer(b, 1).Seal(wire.KindEntry, make([]byte, 1500))
	for b.Loop() {
		if err := wire.Verify(wiretest.Network, wire.KindEntry, seal); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkVerifyAgain(b *testing.B) {
	v, seal := wire.NewVerifier(wiretest.Network), wiretest.NewSealer(b, 1).Seal(wire.KindEntry, make([]byte, 1500))
	for b.Loop() {
		if err := v.Verify(wire.KindEntry, seal); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncodeEntry(b *testing.B) {
	e := wiretest.SampleEntry(wiretest.NewSealer(b, 1).ID())
	for b.Loop() {
		if _, err := wire.EncodeEntry(e, [32]byte{1}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeEntry(b *testing.B) {
	s := wiretest.NewSealer(b, 1)
	seal := wiretest.SealEntry(b, s, wiretest.SampleEntry(s.ID()), [32]byte{1})
	for b.Loop() {
		if _, _, err := wire.DecodeEntry(seal); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPeerBytes(b *testing.B) {
	id := wiretest.NewSealer(b, 1).ID()
	for b.Loop() {
		peerid.Bytes(id)
	}
}
