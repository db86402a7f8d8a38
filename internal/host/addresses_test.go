package host

import (
	"sync/atomic"
	"testing"

	ma "github.com/multiformats/go-multiaddr"
)

// TestMoved: who asked is told when the addresses are others.
func TestMoved(t *testing.T) {
	var h *Host
	var told atomic.Int32 // how many addresses there were
	made := make(chan struct{})
	h = newHost(t, func(c *Config) {
		c.Observer = observer{moved: func() {
			<-made
			told.Store(int32(len(h.Addrs())))
		}}
	})
	close(made)
	eventually(t, "the first addresses", func() bool { return told.Load() == 2 })
	if err := h.lib.Network().Listen(ma.StringCast("/ip4/127.0.0.1/tcp/0")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "one address more", func() bool { return told.Load() == 3 })
}
