package hash

import (
	"encoding/binary"
	"hash/fnv"
	"testing"
)

// What other implementations compute.
func TestHashesAreThoseOfOtherImplementations(t *testing.T) {
	for _, parts := range [][]string{nil, {""}, {"a"}, {"a", "b"}, {"ab", ""}, {"vouch", "p00"}, {"\x00\xff"}} {
		if got, want := Of(parts...), plain(parts...); got != want {
			t.Errorf("%q: %x, not %x", parts, got, want)
		}
	}
	if got := Of("feedring", "group"); got != 0x9c34e1e26a2222b5 {
		t.Errorf("%#x", got)
	}
}

func plain(parts ...string) uint64 {
	h := fnv.New64a()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return Mix(h.Sum64())
}

func TestNumberIsTheTextOfItsBytes(t *testing.T) {
	for _, n := range []uint64{0, 1, 256, 1<<40 + 3, 1<<64 - 1} {
		text := string(binary.BigEndian.AppendUint64(nil, n))
		if got, want := Begin.Text("a").Number(n).Text("b").End(), plain("a", text, "b"); got != want {
			t.Errorf("%d: %x, not %x", n, got, want)
		}
	}
}
