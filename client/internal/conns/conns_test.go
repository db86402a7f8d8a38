package conns

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/wire"
)

// TestSilentWhileADialFails: for a moment a connection is known that was never opened.
// Giving it up then resets nothing, and leaves it to the one who dials.
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
		if cs.open[to] != c {
			t.Errorf("failed %v: a connection that is being dialled was forgotten", failed)
		}
		cs.Close()
		if _, err := cs.Ask(t.Context(), "q", wire.Ask{}, new(atomic.Bool)); err == nil {
			t.Errorf("failed %v: a closed client asks", failed)
		}
	}
}
