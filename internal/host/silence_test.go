package host

import (
	"context"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// TestSilence: a silent host takes no connection and makes none, but to those that
// it is to meet, and keeps none of these.
func TestSilence(t *testing.T) {
	a, b, c := newHost(t), newHost(t), newHost(t)
	for _, h := range []*Host{a, b, c} {
		echo(h)
	}
	joinTo(t, a, b)
	joinTo(t, a, c)
	try := func(from, to *Host) error {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		return ask(ctx, from, to.ID())
	}
	if err := try(a, b); err != nil {
		t.Fatal(err)
	}
	a.Silence(true)
	alone := func() bool {
		return len(a.Peers()) == 0 && !b.connected(peerOf(t, a.ID())) && !c.connected(peerOf(t, a.ID()))
	}
	eventually(t, "no connection", alone)
	if try(a, b) == nil || try(b, a) == nil {
		t.Error("a silent host connects")
	}
	end := a.Meet([]feedring.PeerID{b.ID()})
	if err := try(a, b); err != nil {
		t.Errorf("whom it is to meet: %v", err)
	}
	if try(a, c) == nil {
		t.Error("it connects with another one, too")
	}
	end()
	eventually(t, "no connection", alone)
	a.Silence(false)
	if err := try(a, c); err != nil {
		t.Errorf("when it is over: %v", err)
	}
	eventually(t, "others reach it", func() bool { return try(b, a) == nil })
	a.Meet(nil)()
	if len(a.Peers()) == 0 {
		t.Error("Meet closes the connections of a host that is not silent")
	}
}
