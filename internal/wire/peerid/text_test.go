package peerid

import (
	"math/rand/v2"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"
)

// TestPeerText compares with libp2p's own words, for random ids and those at
// the ends.
func TestPeerText(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 5000 {
		raw := []byte(idPrefix + string(make([]byte, 32)))
		for j := len(idPrefix); j < idLen; j++ {
			switch {
			case i == 1:
				raw[j] = 0xff
			case i > 1:
				raw[j] = byte(r.Uint32() >> (r.Uint32() % 9))
			}
		}
		want := peer.ID(raw).String()
		if got := peerText(string(raw)); string(got) != want {
			t.Fatalf("%x is %s, not %s", raw, got, want)
		}
		back, ok := peerRaw(want)
		if !ok || string(back[:]) != string(raw) {
			t.Fatalf("%s is %x, not %x", want, back, raw)
		}
	}
}

// TestPeerTextRefuses changes one letter at a time: what is still an id is one
// to libp2p too.
func TestPeerTextRefuses(t *testing.T) {
	text := string(peerText(idPrefix + string(make([]byte, 32))))
	for at := range text {
		for _, letter := range "19zZ0OIl-\x00\xff" {
			changed := text[:at] + string(letter) + text[at+1:]
			raw, ok := peerRaw(changed)
			id, err := peer.Decode(changed)
			if valid := err == nil && isPeer(string(id)); ok != valid || ok && string(raw[:]) != string(id) {
				t.Fatalf("%q: %v, libp2p says %v (%v)", changed, ok, valid, err)
			}
		}
	}
	for _, bad := range []string{"", "1", text[1:], text + "1", text[:51] + "é"} {
		if _, ok := peerRaw(bad); ok {
			t.Errorf("%q passed", bad)
		}
	}
}

func BenchmarkPeerText(b *testing.B) {
	raw := idPrefix + "0123456789abcdef0123456789abcdef"
	for b.Loop() {
		text := peerText(raw)
		if _, ok := peerRaw(string(text)); !ok {
			b.Fatal(text)
		}
	}
}

func BenchmarkPeerTextLibp2p(b *testing.B) {
	raw := idPrefix + "0123456789abcdef0123456789abcdef"
	for b.Loop() {
		text := peer.ID(raw).String()
		if _, err := peer.Decode(text); err != nil {
			b.Fatal(text)
		}
	}
}
