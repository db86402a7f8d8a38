package host

import (
	"sync/atomic"
	"testing"

	ma "github.com/multiformats/go-multiaddr"
)

// TestMoved: who asked is told of each change of the addresses, and of nothing
// else.
func TestMoved(t *testing.T) {
	var moved atomic.Int32
	h := newHost(t, func(c *Config) { c.Moved = func() { moved.Add(1) } })
	eventually(t, "the first addresses", func() bool { return moved.Load() == 1 })
	if err := h.lib.Network().Listen(ma.StringCast("/ip4/127.0.0.1/tcp/0")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "one address more", func() bool { return moved.Load() == 2 && len(h.Addrs()) == 3 })
}
