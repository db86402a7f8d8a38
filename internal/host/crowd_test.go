package host

import (
	"errors"
	"sync"
	"testing"

	"github.com/feedring/feedring"
)

// TestManyFromOneAddress has thirty peers and clients of one address connect
// at once and hold many streams.
func TestManyFromOneAddress(t *testing.T) {
	server := newHost(t)
	echo(server)
	var crowd []*Host
	for i := range 30 {
		if i%2 == 0 {
			crowd = append(crowd, newHost(t))
		} else {
			crowd = append(crowd, newHost(t, asClient))
		}
	}
	var wg sync.WaitGroup
	errs := make(chan error, 30*20)
	for _, h := range crowd {
		if _, err := h.Given(server.Addrs()[0]); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			wg.Go(func() { errs <- ask(t.Context(), h, server.ID()) })
		}
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
	eventually(t, "all known", func() bool { return len(server.Peers()) == len(crowd) })
}

// TestManyKeptStreams holds more streams with one peer than libp2p allows
// unasked, and meets a limit that says so.
func TestManyKeptStreams(t *testing.T) {
	a, b := newHost(t), newHost(t)
	echo(b)
	joinTo(t, a, b)
	opened := 0
	for range streamsPerPeerProtocol + 8 {
		s, err := a.Open(t.Context(), b.ID(), "echo", false)
		if errors.Is(err, ErrBusy) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = s.Reset() }()
		opened++
	}
	if opened < 256 || opened > streamsPerPeerProtocol {
		t.Errorf("%d streams", opened)
	}
}

func TestEventsDoNotWaitForTheirReader(t *testing.T) {
	block := make(chan struct{})
	h := newHost(t, func(c *Config) { c.Changed = func(feedring.PeerID, bool) { <-block } })
	defer close(block)
	for range 8 {
		joinTo(t, newHost(t), h)
	}
	if len(h.Peers()) != 8 {
		t.Error("peers wait for the reader")
	}
}
