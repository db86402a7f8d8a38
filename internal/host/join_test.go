package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/feedring/feedring"
)

// joined collects what Join says.
type joined struct {
	mu    sync.Mutex
	found []feedring.PeerID
	done  bool
}

func (j *joined) tell(ids []feedring.PeerID, done bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.found = append(j.found, ids...)
	j.done = done
}

func (j *joined) isDone() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.done
}

func (j *joined) has(id feedring.PeerID) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Contains(j.found, id)
}

func TestJoinNothingIsDone(t *testing.T) {
	var j joined
	newHost(t).Join(t.Context(), nil, nil, joinerFunc(j.tell))
	eventually(t, "done", j.isDone)
}

func TestJoinGoesOnUntilTheTargetAppears(t *testing.T) {
	dir := t.TempDir()
	target := newHost(t, func(c *Config) { c.Dir = dir })
	addr, listen := target.Addrs()[0], target.lib.Addrs()
	_ = target.Close()
	h := newHost(t)
	var j joined
	h.Join(t.Context(), []string{addr}, nil, joinerFunc(j.tell))
	eventually(t, "tried once", j.isDone)
	if j.has(target.ID()) {
		t.Fatal("reached a closed peer")
	}
	again := newHost(t, func(c *Config) {
		c.Dir, c.Listen = dir, nil
		for _, a := range listen {
			c.Listen = append(c.Listen, a.String())
		}
	})
	eventually(t, "the target", func() bool { return j.has(again.ID()) })
}

func TestJoinByDomain(t *testing.T) {
	target, h := newHost(t), newHost(t)
	var j joined
	var mu sync.Mutex
	calls := 0
	resolve := func(_ context.Context, domain string) ([]string, error) {
		mu.Lock()
		defer mu.Unlock()
		if calls++; calls == 1 {
			return nil, errors.New("no such site yet")
		}
		return append(target.Addrs(), "nonsense", h.Addrs()[0]), nil
	}
	h.Join(t.Context(), []string{"example.org"}, resolverFunc(resolve), joinerFunc(j.tell))
	eventually(t, "the site's peer", func() bool { return j.has(target.ID()) })
}

func TestOwnAddressIsNoFailure(t *testing.T) {
	h := newHost(t)
	var j joined
	h.Join(t.Context(), h.Addrs(), nil, joinerFunc(j.tell))
	eventually(t, "done", j.isDone)
	if len(j.found) != 0 {
		t.Errorf("found %v", j.found)
	}
}

func TestSavedPeersAreUsedAfterARestart(t *testing.T) {
	a, b := newHost(t), newHost(t)
	client := newHost(t, asClient)
	joinTo(t, b, a)
	joinTo(t, client, b)
	eventually(t, "a peer to save", func() bool { return len(b.KnownPeers()) > 0 })
	saved := b.SavedPeers()
	if len(saved) != 1 || saved[0].ID != a.ID() || len(saved[0].Addrs) == 0 || fmt.Sprint(saved[0].Proven) != "[127.0.0.1]" {
		t.Fatalf("saved %v", saved)
	}
	_ = b.Close()
	again := newHost(t, func(c *Config) { c.Known = saved })
	var j joined
	again.Join(t.Context(), nil, nil, joinerFunc(j.tell))
	eventually(t, "the saved peer", func() bool { return j.has(a.ID()) && j.isDone() })
}

func TestJoinEndsWithTheHost(t *testing.T) {
	h, gone := newHost(t), newHost(t)
	addr := gone.Addrs()
	_ = gone.Close()
	var j joined
	h.Join(context.Background(), addr, nil, joinerFunc(j.tell))
	if err := h.Close(); err != nil {
		t.Error(err)
	}
}

// TestKeysOfOnePrefixAreNotAllThatIsSaved: keys that connect later than an honest peer, from
// one network, leave its place in what is saved for the next start.
func TestKeysOfOnePrefixAreNotAllThatIsSaved(t *testing.T) {
	honest, h := newHost(t), newHost(t, func(c *Config) { c.CountPrivate = true })
	joinTo(t, h, honest)
	for range 5 {
		joinTo(t, newHost(t, func(c *Config) { c.Listen = []string{"/ip4/127.9.1.1/tcp/0"} }), h)
	}
	saves := func(h *Host) bool {
		saved := h.SavedPeers()
		return len(saved) == 3 && slices.ContainsFunc(saved, func(p SavedPeer) bool { return p.ID == honest.ID() })
	}
	eventually(t, "two of the network saved beside the honest peer", func() bool { return saves(h) })
	again := newHost(t, func(c *Config) { c.Known, c.CountPrivate = h.SavedPeers(), true })
	if !saves(again) { // before it reached anybody
		t.Errorf("after a start it would save %v", again.SavedPeers())
	}
}

// A peer of another network is warned of, with what to do: it is never joined.
func TestJoinOfAnotherNetworkIsWarnedOf(t *testing.T) {
	other := newHost(t, func(c *Config) { c.Network = "other" })
	var log safeBuffer
	h := newHost(t, func(c *Config) {
		c.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	})
	h.Join(t.Context(), other.Addrs()[:1], nil, joinerFunc(func([]feedring.PeerID, bool) {}))
	eventually(t, "a warning", func() bool { return strings.Contains(log.String(), "start it with --network other") })
}

// safeBuffer is a buffer for a log.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
