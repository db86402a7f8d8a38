package codec_test

import (
	"fmt"
	"testing"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/node/codec"
)

// beacon is that of a group with ten heads that changed.
func beacon(self feedring.PeerID) group.Beacon {
	term := feedring.Term{Number: 7, Claimant: self}
	b := group.Beacon{
		Header: group.Header{Group: news, Term: term}, Claim: group.Claim{Group: news, Term: term},
		Number: 1, Secondary: self, Acknowledged: 9, Catalogue: 12345, Older: 67890,
	}
	for i := range 10 {
		b.Heads = append(b.Heads, feedring.Head{
			Feed:     feedring.FeedRef{URL: fmt.Sprintf("https://example.org/feeds/%d.xml", i), Publisher: self},
			Position: feedring.Position{Epoch: 1_700_000_000, Sequence: uint64(i + 1)}, Hash: [32]byte{1},
		})
	}
	return b
}

func BenchmarkEncodeBeacon(b *testing.B) {
	self := newSealer(b, 1)
	m := beacon(self.ID())
	for b.Loop() {
		m.Number++ // signed anew
		encode(b, self, m)
	}
}

func BenchmarkEncodeBeaconAgain(b *testing.B) {
	self := newSealer(b, 1)
	m := beacon(self.ID())
	for b.Loop() {
		encode(b, self, m)
	}
}

func BenchmarkDecodeBeacon(b *testing.B) {
	self, v := newSealer(b, 1), wire.NewVerifier(network)
	m := beacon(self.ID())
	frames := make([][]byte, 20_000) // more than a verifier remembers
	for i := range frames {
		m.Number++
		frames[i] = encode(b, self, m)
	}
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		if _, err := codec.Decode(v, m.Verb(), frames[i%len(frames)]); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeBeaconAgain(b *testing.B) {
	self, v := newSealer(b, 1), wire.NewVerifier(network)
	m := beacon(self.ID())
	frame := encode(b, self, m)
	for b.Loop() {
		if _, err := codec.Decode(v, m.Verb(), frame); err != nil {
			b.Fatal(err)
		}
	}
}
