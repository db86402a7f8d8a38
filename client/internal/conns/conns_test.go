package conns

import (
	"errors"
	"testing"

	"github.com/feedring/feedring"
)

// TestSilentWhileADialFails: for a moment a connection is known that was
// never opened. Whoever gives it up then has nothing to reset.
func TestSilentWhileADialFails(t *testing.T) {
	const to = feedring.PeerID("p")
	for _, failed := range []bool{false, true} {
		cs := New(nil)
		c := &conn{to: to, ready: make(chan struct{})}
		cs.open[to] = c
		if failed {
			c.err = errors.New("nobody is there")
			close(c.ready)
		}
		cs.Silent(to)
		cs.Close()
	}
}
