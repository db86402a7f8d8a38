package host

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/feedring/feedring"
)

func TestAddedTargetIsReached(t *testing.T) {
	a, b := newHost(t), newHost(t)
	var told joined
	j := a.Join(t.Context(), nil, nil, joinerFunc(told.tell))
	for range 2 { // the second time it is connected
		peers, err := j.Add(t.Context(), b.Addrs()[0])
		if err != nil || !slices.Equal(peers, []feedring.PeerID{b.ID()}) {
			t.Fatalf("reached %v, %v", peers, err)
		}
	}
	if !told.has(b.ID()) || !j.Has(b.Addrs()[0]) {
		t.Error("nobody was told of it, or it is not kept")
	}
	j.Remove(b.Addrs()[0])
	if j.Has(b.Addrs()[0]) {
		t.Error("it is joined through after it was removed")
	}
}

// TestAddedTargetIsTriedAgain: who was away is joined when it is there, unless it
// was removed.
func TestAddedTargetIsTriedAgain(t *testing.T) {
	dir := t.TempDir()
	target := newHost(t, onlyTCP, func(c *Config) { c.Dir = dir })
	addr, listen := target.Addrs()[0], target.lib.Addrs()
	_ = target.Close()
	keeps, removes := newHost(t), newHost(t)
	var kept joined
	for _, h := range []*Host{keeps, removes} {
		j := h.Join(t.Context(), nil, nil, joinerFunc(kept.tell))
		if peers, err := j.Add(t.Context(), addr); !errors.Is(err, ErrUnreachable) || len(peers) > 0 || !j.Has(addr) {
			t.Fatalf("a closed peer: %v, %v, kept %v", peers, err, j.Has(addr))
		}
		if h == removes {
			j.Remove(addr)
		}
	}
	again := newHost(t, func(c *Config) {
		c.Dir, c.Listen = dir, nil
		for _, a := range listen {
			c.Listen = append(c.Listen, a.String())
		}
	})
	eventually(t, "the target", func() bool { return kept.has(again.ID()) })
	if removes.members.Has(again.lib.ID()) {
		t.Error("a removed target was joined through")
	}
}

// TestAddedInVain: what is of no use, or was not waited for, is not kept.
func TestAddedInVain(t *testing.T) {
	h := newHost(t)
	foreign := newHost(t, func(c *Config) { c.Network = "other" })
	j := h.Join(t.Context(), nil, nil, joinerFunc(func([]feedring.PeerID, bool) {}))
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, try := range []struct {
		ctx    context.Context
		target string
		want   error
	}{
		{t.Context(), h.Addrs()[0], ErrSelf},
		{t.Context(), foreign.Addrs()[0], ErrForeign},
		{gone, newHost(t).Addrs()[0], context.Canceled},
	} {
		if peers, err := j.Add(try.ctx, try.target); !errors.Is(err, try.want) || len(peers) > 0 || j.Has(try.target) {
			t.Errorf("%s: %v, %v, kept %v; want %v", try.target, peers, err, j.Has(try.target), try.want)
		}
	}
}
