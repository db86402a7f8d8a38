package relays

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/circuit"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

const (
	mostCircuits = 4 // at once: as many as a relay carries for one address
	busyPause    = 250 * time.Millisecond
	busyPauses   = 8
	// Idle is how long a circuit that nobody uses stays open.
	Idle = 10 * time.Second
)

// Circuits are those under one key: one to each end, with a stream for each request.
type Circuits struct {
	relays *Relays
	key    crypto.PrivKey
	id     feedring.PeerID
	open   map[feedring.PeerID]*openCircuit // guarded by Relays.mu
}

// openCircuit is a circuit that streams are opened on.
type openCircuit struct {
	of      *Circuits
	end     feedring.PeerID
	ready   chan struct{} // closed when circuit or err is set
	circuit *circuit.Circuit
	err     error
	heard   atomic.Int64 // when something came, as Unix nanoseconds

	// guarded by Relays.mu
	streams int
	ended   bool
}

// Circuits makes a key, which each end of its circuits sees, and relays do not.
func (v *Relays) Circuits() (*Circuits, error) {
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	id, err := peer.IDFromPrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	return &Circuits{v, key, feedring.PeerID(id.String()), make(map[feedring.PeerID]*openCircuit)}, nil
}

// ID is whom ends see.
func (p *Circuits) ID() feedring.PeerID { return p.id }

// Open opens a stream to a peer for one verb. It blocks until ctx ends. The relay in use is
// no end, unless it is the one to serve and there is another relay.
func (p *Circuits) Open(ctx context.Context, end feedring.PeerID, verb feedring.Verb) (*Stream, error) {
	v := p.relays
	_ = v.LearnPeers(ctx)
	inUse := v.order("")[0].id
	if end == inUse && (verb != wire.VerbAttach || v.fixed) {
		return nil, fmt.Errorf("%w: %s is the relay itself, which would learn who asks what: name another relay", ErrRelay, end)
	}
	if end == inUse {
		v.log.Warn("the relay itself is to answer: it is asked through another one, and may find out by the time who asks", "relay", end)
	}
	for {
		v.mu.Lock()
		l, stands := p.open[end]
		if !stands {
			l = &openCircuit{of: p, end: end, ready: make(chan struct{})}
			p.open[end], v.circuits[l] = l, true
		}
		l.streams++
		v.mu.Unlock()
		if !stands {
			l.circuit, l.err = p.dial(ctx, end)
			l.heard.Store(time.Now().UnixNano())
			close(l.ready)
		}
		select {
		case <-l.ready:
		case <-ctx.Done():
			v.leave(l)
			return nil, ctx.Err()
		}
		err := l.err
		if err == nil {
			var s circuit.Stream
			if s, err = l.circuit.Open(ctx, verb); err == nil {
				return newStream(s, l), nil
			}
		}
		v.drop(l)
		v.leave(l)
		if !stands || ctx.Err() != nil { // else it was lost a while ago
			return nil, err
		}
	}
}

// leave gives a stream of a circuit back, and the circuit itself once it is not used for a
// while.
func (v *Relays) leave(l *openCircuit) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if l.streams--; l.streams == 0 && !l.ended {
		time.AfterFunc(Idle, func() { v.end(func(o *openCircuit) bool { return o == l }) })
	}
}

// end ends circuits that nobody uses.
func (v *Relays) end(which func(*openCircuit) bool) {
	v.mu.Lock()
	var unused []*openCircuit
	for l := range v.circuits {
		if l.streams == 0 && which(l) {
			unused = append(unused, l)
			v.forget(l)
		}
	}
	v.mu.Unlock()
	for _, l := range unused {
		v.close(l)
	}
}

// forget takes a circuit out. Its caller holds mu, and closes it.
func (v *Relays) forget(l *openCircuit) {
	l.ended = true
	delete(v.circuits, l)
	delete(l.of.open, l.end)
}

func (v *Relays) close(l *openCircuit) {
	if l.circuit != nil {
		l.circuit.Close()
		<-v.places
	}
}

// drop gives a circuit up that may be lost.
func (v *Relays) drop(l *openCircuit) {
	v.mu.Lock()
	ended := l.ended
	if !ended {
		v.forget(l)
	}
	v.mu.Unlock()
	if !ended {
		v.close(l)
	}
}

// dial opens a circuit once there is a place.
func (p *Circuits) dial(ctx context.Context, end feedring.PeerID) (*circuit.Circuit, error) {
	v := p.relays
	select {
	case v.places <- struct{}{}:
	default:
		v.end(func(*openCircuit) bool { return true })
		select {
		case v.places <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	var c *circuit.Circuit
	err := v.each(ctx, end, func(r *relay) (err error) {
		for range busyPauses {
			c, err = p.circuit(ctx, r, end)
			var refused *wire.RemoteError
			if !errors.As(err, &refused) || refused.Kind != feedringv1.ErrorKind_ERROR_KIND_BUSY {
				return err
			}
			pause := time.NewTimer(busyPause)
			select {
			case <-pause.C:
			case <-ctx.Done():
				pause.Stop()
				return err
			}
		}
		return err
	})
	if err != nil {
		<-v.places
		return nil, err
	}
	return c, nil
}

func (p *Circuits) circuit(ctx context.Context, r *relay, end feedring.PeerID) (*circuit.Circuit, error) {
	v := p.relays
	raw, err := v.stream(ctx, r)
	if err != nil {
		return nil, err
	}
	v.mu.Lock()
	v.ends[end] = true
	v.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, tryWithin)
	defer cancel()
	return circuit.Dial(ctx, raw, p.key, v.network, end)
}
