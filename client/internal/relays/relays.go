// Package relays passes a client's streams on through relays: which relay is in use, and
// the circuits through it, each under the key of one theme.
package relays

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	mathrand "math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client/internal/peerlist"
	"github.com/feedring/feedring/internal/host"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/circuit"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// ErrRelay is wrapped where no relay passes a stream on. Nobody was asked without one.
var ErrRelay = errors.New("no relay passes this on")

const (
	tryWithin  = 5 * time.Second
	tryAgain   = time.Second      // until a relay that failed is tried again
	restsFor   = 30 * time.Second // until then others are tried before it
	tryAtMost  = 3                // relays for one stream
	namesEvery = 10 * time.Minute // a relay is asked again whom it knows
	noneEvery  = 10 * time.Second // … where none ever named a peer, as one that has just started
)

// Config is what Relays are told.
type Config struct {
	Network string
	Via     string       // the one relay, a multiaddr with /p2p/; empty: one of Peers, or of those that they name
	Peers   []string     // whom to ask through relays; at least one where Via is empty
	Logger  *slog.Logger // nil: slog.Default()
}

// Relays pass a client's streams on. Their host connects to the relay in use, and to
// another one where that fails, but to nobody else. The methods may be called concurrently.
type Relays struct {
	Peers *peerlist.List // whom to ask through them

	host    *host.Host
	network string
	fixed   bool // there is one
	log     *slog.Logger
	heard   atomic.Int64  // see Heard, as Unix nanoseconds
	places  chan struct{} // a token for each circuit
	naming  chan struct{} // a token for who asks for names

	mu       sync.Mutex
	all      []*relay  // the one in use first
	named    bool      // once, some relay named a peer
	nextAsk  time.Time // until then no relay is asked for peers
	circuits map[*openCircuit]bool
	ends     map[feedring.PeerID]bool // of circuits: they become relays last
}

type relay struct {
	id     feedring.PeerID
	used   bool // it may be connected to
	failed time.Time
	err    error
	// unknown are ends that are not of its map or groups, by when it said so.
	unknown map[feedring.PeerID]time.Time
}

const (
	unknownFor  = time.Minute
	mostUnknown = 1000
)

var errUnknown = errors.New("the relay passes on to peers of its map and its groups, and this is none")

// New starts the host of relays. Nobody is connected to yet. ctx bounds the start only.
func New(ctx context.Context, cfg Config) (*Relays, error) {
	v := &Relays{
		network: cfg.Network, fixed: cfg.Via != "", log: cmp.Or(cfg.Logger, slog.Default()),
		places: make(chan struct{}, mostCircuits), naming: make(chan struct{}, 1),
		ends: make(map[feedring.PeerID]bool), circuits: make(map[*openCircuit]bool),
	}
	var err error
	if v.host, err = host.New(ctx, host.Config{Network: cfg.Network, Client: true, Logger: cfg.Logger, Blocks: v}); err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	ends, err := v.given(cfg.Peers)
	relays := ends
	if v.fixed && err == nil {
		relays, err = v.given([]string{cfg.Via})
	}
	if err != nil {
		return nil, errors.Join(err, v.host.Close())
	}
	for _, i := range mathrand.Perm(len(relays)) {
		v.all = append(v.all, &relay{id: relays[i]})
	}
	v.Peers = peerlist.New(ends)
	return v, nil
}

func (v *Relays) given(addrs []string) (ids []feedring.PeerID, err error) {
	for _, addr := range addrs {
		id, err := v.host.Given(addr)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// ID is who relays see, and nobody else.
func (v *Relays) ID() feedring.PeerID { return v.host.ID() }

// Close closes the host, and all circuits with it.
func (v *Relays) Close() error { return v.host.Close() }

// Heard is when something last came through a relay, or a relay said that it passes on, but
// not to that end. It is 1970 where that never was.
func (v *Relays) Heard() time.Time { return time.Unix(0, v.heard.Load()) }

// LearnPeers asks a relay for peers, unless that was done a while ago. Where nobody answers
// now, those of before do.
func (v *Relays) LearnPeers(ctx context.Context) error {
	select {
	case v.naming <- struct{}{}:
		defer func() { <-v.naming }()
	case <-ctx.Done():
		return ctx.Err()
	}
	v.mu.Lock()
	due := v.nextAsk
	v.mu.Unlock()
	if time.Now().Before(due) {
		return nil
	}
	err := v.each(ctx, "", func(r *relay) error {
		s, err := v.stream(ctx, r)
		if err != nil {
			return err
		}
		names, err := circuit.Names(s)
		v.take(names)
		return err
	})
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case v.named:
		v.nextAsk = time.Now().Add(namesEvery) // also where nobody answered: those of before do
		return nil
	case err == nil:
		v.nextAsk = time.Now().Add(noneEvery)
	}
	return err
}

// take notes the peers that a relay named.
func (v *Relays) take(names []feedring.PeerInfo) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, p := range names {
		known := slices.ContainsFunc(v.all, func(r *relay) bool { return r.id == p.ID })
		if p.ID == "" || p.ID == v.host.ID() || known && v.fixed {
			continue
		}
		v.named = true
		v.Peers.Learn(p)
		if v.fixed || known {
			continue
		}
		v.host.Learn(p.ID, p.Addrs)
		v.all = append(v.all[:min(len(v.all), 4*circuit.MaxNames)], &relay{id: p.ID})
	}
}

// stream opens a stream to a relay.
func (v *Relays) stream(ctx context.Context, r *relay) (circuit.Raw, error) {
	v.mu.Lock()
	again := r.used && !r.failed.IsZero()
	r.used = true
	v.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, tryWithin)
	defer cancel()
	s, err := v.host.Open(ctx, r.id, wire.VerbPass, again)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", circuit.ErrSilent, err)
	}
	return s, nil
}

// each has relays do something, the best first, until one does it or what fails is not the
// relay. None is the end itself.
func (v *Relays) each(ctx context.Context, end feedring.PeerID, do func(*relay) error) error {
	list := v.order(end)
	why := fmt.Errorf("%w: the relay would be the one to answer: name another one", ErrRelay)
	for i, r := range list[:min(len(list), tryAtMost)] {
		v.mu.Lock()
		err, failed, unknown := r.err, r.failed, r.unknown[end]
		v.mu.Unlock()
		if time.Since(unknown) < unknownFor {
			return errUnknown
		}
		if time.Since(failed) >= tryAgain {
			err = do(r)
		}
		var refused *wire.RemoteError
		switch errors.As(err, &refused); {
		case err == nil:
			v.heard.Store(time.Now().UnixNano())
			v.worked(r)
			return nil
		case ctx.Err() != nil:
			return err
		case refused == nil && !errors.Is(err, circuit.ErrSilent):
			v.heard.Store(time.Now().UnixNano())
			return err // the end's failure
		case refused != nil && refused.Kind == feedringv1.ErrorKind_ERROR_KIND_UNKNOWN:
			v.heard.Store(time.Now().UnixNano())
			v.mu.Lock()
			defer v.mu.Unlock()
			if r.unknown == nil || len(r.unknown) >= mostUnknown {
				r.unknown = make(map[feedring.PeerID]time.Time)
			}
			r.unknown[end] = time.Now()
			return errUnknown
		}
		v.mu.Lock()
		r.failed, r.err = time.Now(), err
		v.mu.Unlock()
		if i == 0 {
			why = ErrRelay
		}
		why = fmt.Errorf("%w: %s: %w", why, r.id, err)
	}
	return why
}

// order lists the relays for a circuit to end: those that failed a moment ago come later,
// and those that were asked through another one last.
func (v *Relays) order(end feedring.PeerID) []*relay {
	v.mu.Lock()
	defer v.mu.Unlock()
	var by [4][]*relay
	for _, r := range v.all {
		n := 0
		if time.Since(r.failed) < restsFor {
			n += 2
		}
		if v.ends[r.id] && !r.used {
			n++
		}
		if r.id != end {
			by[n] = append(by[n], r)
		}
	}
	return slices.Concat(by[:]...)
}

// worked has a relay used from now on, if the one before it failed.
func (v *Relays) worked(r *relay) {
	v.mu.Lock()
	defer v.mu.Unlock()
	r.failed, r.err = time.Time{}, nil
	if i := slices.Index(v.all, r); i > 0 && !v.all[0].failed.IsZero() {
		copy(v.all[1:], v.all[:i])
		v.all[0] = r
	}
}

// RefusePeer keeps the host from all but relays. It implements gate.Blocks, as the next two.
func (v *Relays) RefusePeer(id feedring.PeerID) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return !slices.ContainsFunc(v.all, func(r *relay) bool { return r.id == id && r.used })
}

func (v *Relays) RefusePeerAt(id feedring.PeerID, _ netip.Addr) bool { return v.RefusePeer(id) }
func (v *Relays) RefuseCaller(netip.Addr) bool                       { return true }
