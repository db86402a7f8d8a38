package host

import (
	"context"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"github.com/feedring/feedring"
)

var onLoopback = []string{"/ip4/127.0.0.1/udp/0/quic-v1", "/ip4/127.0.0.1/tcp/0"}

// newHost starts a host on loopback and closes it with the test.
func newHost(t testing.TB, change ...func(*Config)) *Host {
	t.Helper()
	cfg := Config{Network: "test", Listen: onLoopback, Logger: slog.New(slog.DiscardHandler)}
	for _, f := range change {
		f(&cfg)
	}
	h, err := New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

func asClient(c *Config) { c.Client, c.Listen = true, nil }

// onlyTCP is for hosts that go away: nobody answers for a closed QUIC port,
// and a dial takes five seconds to see that.
func onlyTCP(c *Config) { c.Listen = onLoopback[1:] }

func onlyQUIC(c *Config) { c.Listen = onLoopback[:1] }

// eventually waits for a condition that the network brings about.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// joinTo connects from to to and waits until both know it.
func joinTo(t testing.TB, from, to *Host) {
	t.Helper()
	from.Join(t.Context(), to.Addrs()[:1], nil, joinerFunc(func([]feedring.PeerID, bool) {}))
	eventually(t, "joined", func() bool { return from.members.Has(to.lib.ID()) && to.members.Has(from.lib.ID()) })
}

// echo serves a verb that answers one byte with itself.
func echo(h *Host) {
	h.Handle("echo", func(s network.Stream) {
		defer func() { _ = s.Close() }()
		_ = s.SetDeadline(time.Now().Add(10 * time.Second))
		var b [1]byte
		if _, err := io.ReadFull(s, b[:]); err == nil {
			_, _ = s.Write(b[:])
		}
	})
}

// ask opens a stream and has one byte echoed.
func ask(ctx context.Context, h *Host, to feedring.PeerID) error {
	s, err := h.Open(ctx, to, "echo", false)
	if err != nil {
		return err
	}
	defer func() { _ = s.Reset() }()
	_ = s.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := s.Write([]byte{7}); err != nil {
		return err
	}
	var b [1]byte
	_, err = io.ReadFull(s, b[:])
	return err
}

// joinerFunc is a function as a Joiner.
type joinerFunc func([]feedring.PeerID, bool)

func (f joinerFunc) Reached(peers []feedring.PeerID, done bool) { f(peers, done) }

// resolverFunc is a function as a Resolver.
type resolverFunc func(context.Context, string) ([]string, error)

func (f resolverFunc) Resolve(ctx context.Context, domain string) ([]string, error) {
	return f(ctx, domain)
}
