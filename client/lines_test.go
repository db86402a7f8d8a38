package client

import (
	"errors"
	"testing"

	"github.com/feedring/feedring"
)

// TestSilentWhileADialFails: for a moment a line is known that was never
// opened. Whoever gives it up then has nothing to reset.
func TestSilentWhileADialFails(t *testing.T) {
	const to = feedring.PeerID("p")
	for _, failed := range []bool{false, true} {
		ls := newLines(nil)
		l := &line{to: to, ready: make(chan struct{})}
		ls.open[to] = l
		if failed {
			l.err = errors.New("nobody is there")
			close(l.ready)
		}
		ls.silent(to)
		ls.close()
	}
}
