package serve

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// slowPeer takes three seconds to leave.
type slowPeer struct{ left bool }

func (p *slowPeer) Close(ctx context.Context) error {
	select {
	case <-time.After(3 * time.Second):
		p.left = true
		return nil
	case <-ctx.Done():
		return errors.New("not in time")
	}
}

// Signals that come together are one wish; a later one means "now".
func TestLeave(t *testing.T) {
	for after, orderly := range map[time.Duration]bool{0: true, 5 * time.Millisecond: true, 2 * time.Second: false} {
		synctest.Test(t, func(t *testing.T) {
			signals := make(chan os.Signal, 2)
			time.AfterFunc(after, func() { signals <- syscall.SIGTERM })
			peer := &slowPeer{}
			began := time.Now()
			err := leave(t.Context(), peer, signals)
			if (err == nil) != orderly || orderly && !peer.left {
				t.Errorf("a second signal after %s: %v", after, err)
			}
			if took := time.Since(began); !orderly && took != after {
				t.Errorf("it waited %s", took)
			}
			time.Sleep(closeWithin) // in the bubble: the peer's goroutine ends
		})
	}
}

// A closed terminal ends a peer in good order, unless nohup(1) has it go on.
func TestEndings(t *testing.T) {
	hung := make(chan os.Signal, 1)
	signal.Notify(hung, syscall.SIGHUP) // these tests may run under nohup(1)
	defer signal.Stop(hung)
	if all := endings(); !slices.Contains(all, os.Signal(syscall.SIGHUP)) || !slices.Contains(all, os.Signal(syscall.SIGTERM)) {
		t.Errorf("the signals %v end a peer", all)
	}
	signal.Ignore(syscall.SIGHUP)
	defer signal.Reset(syscall.SIGHUP)
	if all := endings(); slices.Contains(all, os.Signal(syscall.SIGHUP)) {
		t.Error("SIGHUP ends a peer that was started to ignore it")
	}
}

// The address to join with is the one that reaches the peer from farthest away.
func TestNearestTo(t *testing.T) {
	const loopback, quic, private, relay = "/ip4/127.0.0.1/udp/1/quic-v1/p2p/P", "/ip4/192.168.1.2/udp/1/quic-v1/p2p/P",
		"/ip4/192.168.1.2/tcp/1/p2p/P", "/ip4/203.0.114.9/udp/1/quic-v1/p2p/R/p2p-circuit/p2p/P"
	for want, addrs := range map[string][]string{
		loopback:                                 {"/ip4/127.0.0.1/tcp/1/p2p/P", loopback},
		private:                                  {loopback, private},
		quic:                                     {loopback, private, "/ip6/fd00::1/tcp/1/p2p/P", quic, "/ip6/fe80::1/udp/1/quic-v1/p2p/P"},
		relay:                                    {private, relay},
		"/ip6/2a00::1/tcp/1/p2p/P":               {quic, relay, "/ip6/2a00::1/tcp/1/p2p/P", "/ip4/100.64.0.1/udp/1/quic-v1/p2p/P"},
		"/dns4/peer.example/udp/1/quic-v1/p2p/P": {quic, "/ip4/203.0.114.9/tcp/1/p2p/P", "/dns4/peer.example/udp/1/quic-v1/p2p/P"},
		"/ip4/203.0.114.9/udp/1/quic-v1/p2p/P":   {"/ip4/203.0.114.9/tcp/1/p2p/P", loopback, "/ip4/203.0.114.9/udp/1/quic-v1/p2p/P"},
	} {
		if got := nearestTo(addrs); got != want {
			t.Errorf("of %v: %s, want %s", addrs, got, want)
		}
	}
}
