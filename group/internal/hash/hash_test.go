package hash

import (
	"hash/fnv"
	"testing"
)

// What other implementations compute.
func TestOf(t *testing.T) {
	for _, parts := range [][]string{nil, {""}, {"a"}, {"a", "b"}, {"ab", ""}, {"vouch", "p00"}, {Number(1<<40 + 3), "\x00\xff"}} {
		h := fnv.New64a()
		for _, p := range parts {
			h.Write([]byte(p))
			h.Write([]byte{0})
		}
		if got, want := Of(parts...), Mix(h.Sum64()); got != want {
			t.Errorf("%q: %x, not %x", parts, got, want)
		}
	}
	if got := Of("feedring", "group"); got != 0x9c34e1e26a2222b5 {
		t.Errorf("%#x", got)
	}
}
