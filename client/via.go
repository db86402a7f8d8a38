package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client/internal/relays"
)

// AnyRelay in Config.Via takes one of Config.Peers as the relay, or of the peers that those
// name, and another one when it is lost.
const AnyRelay = "any"

// Why nothing is asked by way of a relay. Nobody was asked without one.
var (
	ErrRelay      = relays.ErrRelay // it is wrapped
	ErrViaCharter = errors.New("on a network with a charter members are served, and a key that is made for one theme is no member's")
	ErrViaAll     = errors.New("a relay carries few streams for one reader, and each group takes one: name a theme")
)

// relayPatience is how long a follower waits for the one relay that it was given: one that
// starts again is back before.
const relayPatience = time.Minute

// via has a client for each theme, which asks through relays under a key of its own. It is
// the Transport of a client that asks nobody itself.
type via struct {
	relays  *relays.Relays
	network string
	fixed   bool // there is one relay

	mu     sync.Mutex
	themes map[feedring.Theme]*Client
}

// newVia makes a client that asks through relays. Nobody is connected to yet.
func newVia(ctx context.Context, cfg Config, network string) (*Client, error) {
	to := relays.Config{Network: network, Via: cfg.Via, Peers: cfg.Peers, Logger: cfg.Logger}
	if cfg.Via == AnyRelay {
		if to.Via = ""; len(cfg.Peers) == 0 {
			return nil, fmt.Errorf("%w: none is known", ErrNoPeer)
		}
	}
	r, err := relays.New(ctx, to)
	if err != nil {
		return nil, err
	}
	for _, p := range cfg.Known {
		r.Peers.Learn(p)
	}
	v := &via{relays: r, network: network, fixed: to.Via != "", themes: make(map[feedring.Theme]*Client)}
	c := NewWith(v, network, nil)
	c.peers, c.via, c.log, c.blocks = r.Peers, v, cmp.Or(cfg.Logger, slog.Default()), cfg.Blocks
	return c, nil
}

// through returns the client for one theme: it asks through relays, under a key of its own.
func (c *Client) through(ctx context.Context, theme feedring.Theme) (*Client, error) {
	v := c.via
	if v == nil {
		return c, nil
	}
	if err := v.relays.LearnPeers(ctx); err != nil {
		return nil, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if one := v.themes[theme]; one != nil {
		return one, nil
	}
	circuits, err := v.relays.Circuits()
	if err != nil {
		return nil, err
	}
	one := NewWith(passed{circuits, v.fixed, v.relays.Heard}, v.network, nil)
	one.conns.IdleFor(relays.Idle)
	one.peers, one.log, one.blocks, one.sites = c.peers, c.log, c.blocks, c.sites
	v.themes[theme] = one
	return one, nil
}

// ID implements Transport: relays see it, and nobody else.
func (v *via) ID() feedring.PeerID { return v.relays.ID() }

// Open implements Transport.
func (v *via) Open(context.Context, feedring.PeerID, feedring.Verb) (Stream, error) {
	return nil, ErrRelay
}

// Learn implements Transport: only relays know where peers are.
func (v *via) Learn(feedring.PeerID, []string) {}

// Close closes what passes through relays, and their host.
func (v *via) Close() error {
	v.mu.Lock()
	themes := slices.Collect(maps.Values(v.themes))
	v.mu.Unlock()
	for _, one := range themes {
		one.conns.Close()
	}
	return v.relays.Close()
}

// passed is the Transport of one theme's client.
type passed struct {
	*relays.Circuits
	fixed bool             // there is one relay
	heard func() time.Time // as of Relays
}

// lostRelay is since when a follower waits for a relay. The zero lostRelay does not.
type lostRelay struct {
	since time.Time
	told  bool
}

// relaySilent reports whether nothing came through a relay since a time: then nobody is known
// to serve or not to serve. Without relays it is false.
func (c *Client) relaySilent(since time.Time) bool {
	through, ok := c.transport.(passed)
	return ok && !through.heard().After(since)
}

// tellRelay logs that nothing comes through a relay, once that lasts, and that it does again.
func (f *follower) tellRelay(silent bool, now time.Time) {
	l := &f.silent
	switch {
	case !silent:
		if l.told {
			f.client.log.Warn("a relay passes this on again: going on")
		}
		*l = lostRelay{}
	case l.since.IsZero():
		l.since = now
	case !l.told && now.Sub(l.since) >= unservedAfter:
		l.told = true
		if f.client.transport.(passed).fixed {
			f.client.log.Warn("nothing comes through the relay: waiting for it", "at_most", relayPatience)
		} else {
			f.client.log.Warn("nothing comes through the relay: looking for another one")
		}
	}
}

// Open implements Transport.
func (p passed) Open(ctx context.Context, end feedring.PeerID, verb feedring.Verb) (Stream, error) {
	s, err := p.Circuits.Open(ctx, end, verb)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Learn implements Transport: only relays know where peers are.
func (p passed) Learn(feedring.PeerID, []string) {}

// Close implements Transport: circuits end with their relays.
func (p passed) Close() error { return nil }
