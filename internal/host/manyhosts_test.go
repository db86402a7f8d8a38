package host

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/host/limits"
)

// TestManyFromOneAddress has thirty peers and clients connect at once and hold
// streams. Loopback is free of the limits by address; TestLimitsByAddress is
// about those.
func TestManyFromOneAddress(t *testing.T) {
	server := newHost(t)
	echo(server)
	var hosts []*Host
	for i := range 30 {
		if i%5 == 0 {
			hosts = append(hosts, newHost(t))
		} else {
			hosts = append(hosts, newHost(t, asClient))
		}
	}
	var wg sync.WaitGroup
	errs := make(chan error, 30*4)
	for _, h := range hosts {
		if _, err := h.Given(server.Addrs()[0]); err != nil {
			t.Fatal(err)
		}
		for range 4 {
			wg.Go(func() { errs <- askPatiently(t, h, server.ID()) })
		}
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
	eventually(t, "all known", func() bool { return len(server.Peers()) == len(hosts) })
}

// askPatiently asks again when it fails, as handshakes on a busy machine do.
func askPatiently(t *testing.T, h *Host, to feedring.PeerID) error {
	var err error
	for range 20 {
		if err = ask(t.Context(), h, to); err == nil {
			return nil
		}
		h.clearBackoff(peerID(t, to))
	}
	return err
}

func peerID(t *testing.T, id feedring.PeerID) peer.ID {
	t.Helper()
	p, err := peer.Decode(string(id))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestLimitsByAddress(t *testing.T) {
	for _, from := range []string{"/ip4/8.8.8.8/udp/%d/quic-v1", "/ip6/2606:4700::1/udp/%d/quic-v1", "/ip4/192.168.1.7/tcp/%d"} {
		m, err := limits.ResourceManager()
		if err != nil {
			t.Fatal(err)
		}
		accepted := 0
		for port := range 2 * limits.ConnsPerAddress {
			addr := ma.StringCast(fmt.Sprintf(from, port+1))
			if _, err := m.OpenConnection(network.DirInbound, false, addr); err != nil {
				break
			}
			accepted++
		}
		if accepted < 4*30 || accepted > limits.ConnsPerAddress {
			t.Errorf("%s: %d connections", from, accepted)
		}
		_ = m.Close()
	}
}

// TestManyKeptStreams holds more streams with one peer than libp2p allows
// unasked, and meets a limit that says so.
func TestManyKeptStreams(t *testing.T) {
	a, b := newHost(t), newHost(t)
	echo(b)
	joinTo(t, a, b)
	opened := 0
	for range limits.StreamsPerPeerProtocol + 8 {
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
	if opened < 256 || opened > limits.StreamsPerPeerProtocol {
		t.Errorf("%d streams", opened)
	}
}

func TestEventsDoNotWaitForTheirReader(t *testing.T) {
	block := make(chan struct{})
	h := newHost(t, func(c *Config) { c.Observer = observer{changed: func(feedring.PeerID, bool) { <-block }} })
	defer close(block)
	for range 8 {
		joinTo(t, newHost(t), h)
	}
	if len(h.Peers()) != 8 {
		t.Error("peers wait for the reader")
	}
}
