package client

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	mathrand "math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client/internal/peerlist"
	"github.com/feedring/feedring/internal/host"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/circuit"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// AnyRelay in Config.Via takes one of Config.Peers as the relay, or of the peers that those
// name, and another one when it is lost.
const AnyRelay = "any"

// Why nothing is asked by way of a relay. Nobody was asked without one.
var (
	ErrRelay      = errors.New("no relay passes this on") // it is wrapped
	ErrViaCharter = errors.New("on a network with a charter members are served, and a key that is made for one theme is no member's")
	ErrViaAll     = errors.New("a relay carries few streams for one reader, and each group takes one: name a theme")
)

const (
	mostCircuits  = 4 // at once: as many as a relay carries for one address
	tryWithin     = 5 * time.Second
	tryAgain      = time.Second      // until a relay that failed is tried again
	restsFor      = 30 * time.Second // until then others are tried before it
	tryAtMost     = 3                // relays for one stream
	busyPause     = 250 * time.Millisecond
	busyPauses    = 8
	namesEvery    = 10 * time.Minute        // a relay is asked again whom it knows
	questionsIdle = 10 * time.Second        // until a circuit, or a stream for questions, is given back
	silentFor     = 2500 * time.Millisecond // below what an answer is waited for
	// relayPatience is how long a follower waits for the one relay that it was given: one
	// that starts again is back before.
	relayPatience = time.Minute
)

// relays pass a client's streams on. This host connects to the relay in use, and to
// another one where that fails, but to nobody else. It is the Transport of a client that
// asks nobody itself.
type relays struct {
	host    *host.Host
	network string
	fixed   bool           // there is one
	peers   *peerlist.List // whom to ask through them
	log     *slog.Logger
	places  chan struct{} // a token for each circuit
	naming  chan struct{} // a token for who asks for names

	mu       sync.Mutex
	all      []*relay // the one in use first
	named    time.Time
	circuits map[*openCircuit]bool
	ends     map[feedring.PeerID]bool // of circuits: they become relays last
	themes   map[feedring.Theme]*Client
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

// newVia makes a client that asks through relays. Nobody is connected to yet.
func newVia(ctx context.Context, cfg Config, network string) (*Client, error) {
	v := &relays{
		network: network, fixed: cfg.Via != AnyRelay, log: cmp.Or(cfg.Logger, slog.Default()),
		places: make(chan struct{}, mostCircuits), naming: make(chan struct{}, 1),
		ends: make(map[feedring.PeerID]bool), circuits: make(map[*openCircuit]bool), themes: make(map[feedring.Theme]*Client),
	}
	var err error
	if v.host, err = host.New(ctx, host.Config{Network: network, Client: true, Logger: cfg.Logger, Blocks: v}); err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	ends, err := v.given(cfg.Peers)
	relays := ends
	if v.fixed && err == nil {
		relays, err = v.given([]string{cfg.Via})
	}
	if len(relays) == 0 && err == nil {
		err = fmt.Errorf("%w: none is known", ErrNoPeer)
	}
	if err != nil {
		return nil, errors.Join(err, v.host.Close())
	}
	for _, i := range mathrand.Perm(len(relays)) {
		v.all = append(v.all, &relay{id: relays[i]})
	}
	v.peers = peerlist.New(ends)
	for _, p := range cfg.Known {
		v.peers.Learn(p)
	}
	c := NewWith(v, network, nil)
	c.peers, c.via, c.log, c.blocks = v.peers, v, v.log, cfg.Blocks
	return c, nil
}

func (v *relays) given(addrs []string) (ids []feedring.PeerID, err error) {
	for _, addr := range addrs {
		id, err := v.host.Given(addr)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// through returns the client for one theme: it asks through relays, under a key of its own.
func (c *Client) through(ctx context.Context, theme feedring.Theme) (*Client, error) {
	v := c.via
	if v == nil {
		return c, nil
	}
	if err := v.learn(ctx); err != nil {
		return nil, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if one := v.themes[theme]; one != nil {
		return one, nil
	}
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	id, err := peer.IDFromPrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	one := NewWith(&passed{v, key, feedring.PeerID(id.String()), make(map[feedring.PeerID]*openCircuit)}, v.network, nil)
	one.conns.IdleFor(questionsIdle)
	one.peers, one.log, one.blocks, one.sites = v.peers, c.log, c.blocks, c.sites
	v.themes[theme] = one
	return one, nil
}

// learn asks a relay for peers, unless that was done a while ago. Where nobody answers
// now, those of before do.
func (v *relays) learn(ctx context.Context) error {
	select {
	case v.naming <- struct{}{}:
		defer func() { <-v.naming }()
	case <-ctx.Done():
		return ctx.Err()
	}
	v.mu.Lock()
	last := v.named
	v.mu.Unlock()
	if time.Since(last) < namesEvery {
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
	if v.named.IsZero() {
		return err
	}
	v.named = time.Now() // also where nobody answered: those of before do
	return nil
}

// take notes the peers that a relay named.
func (v *relays) take(names []feedring.PeerInfo) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, p := range names {
		known := slices.ContainsFunc(v.all, func(r *relay) bool { return r.id == p.ID })
		if p.ID == "" || p.ID == v.host.ID() || known && v.fixed {
			continue
		}
		v.named = time.Now()
		v.peers.Learn(p)
		if v.fixed || known {
			continue
		}
		v.host.Learn(p.ID, p.Addrs)
		v.all = append(v.all[:min(len(v.all), 4*circuit.MaxNames)], &relay{id: p.ID})
	}
}

// stream opens a stream to a relay.
func (v *relays) stream(ctx context.Context, r *relay) (circuit.Raw, error) {
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
func (v *relays) each(ctx context.Context, end feedring.PeerID, do func(*relay) error) error {
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
			v.worked(r)
			return nil
		case ctx.Err() != nil, refused == nil && !errors.Is(err, circuit.ErrSilent):
			return err // the end's failure, or the caller's end
		case refused != nil && refused.Kind == feedringv1.ErrorKind_ERROR_KIND_UNKNOWN:
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
func (v *relays) order(end feedring.PeerID) []*relay {
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
func (v *relays) worked(r *relay) {
	v.mu.Lock()
	defer v.mu.Unlock()
	r.failed, r.err = time.Time{}, nil
	if i := slices.Index(v.all, r); i > 0 && !v.all[0].failed.IsZero() {
		copy(v.all[1:], v.all[:i])
		v.all[0] = r
	}
}

// RefusePeer keeps the host from all but relays. It implements gate.Blocks, as the next two.
func (v *relays) RefusePeer(id feedring.PeerID) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return !slices.ContainsFunc(v.all, func(r *relay) bool { return r.id == id && r.used })
}

func (v *relays) RefusePeerAt(id feedring.PeerID, _ netip.Addr) bool { return v.RefusePeer(id) }
func (v *relays) RefuseCaller(netip.Addr) bool                       { return true }

// ID implements Transport: relays see it, and nobody else.
func (v *relays) ID() feedring.PeerID { return v.host.ID() }

// Open implements Transport.
func (v *relays) Open(context.Context, feedring.PeerID, feedring.Verb) (Stream, error) {
	return nil, ErrRelay
}

// Learn implements Transport: only relays know where peers are.
func (v *relays) Learn(feedring.PeerID, []string) {}

// Close closes what passes through relays, and the host.
func (v *relays) Close() error {
	v.mu.Lock()
	themes := slices.Collect(maps.Values(v.themes))
	v.mu.Unlock()
	for _, one := range themes {
		one.conns.Close()
	}
	return v.host.Close()
}

// passed is the Transport under one key: a circuit to each end, with a stream for each
// request.
type passed struct {
	*relays
	key  crypto.PrivKey
	id   feedring.PeerID
	open map[feedring.PeerID]*openCircuit // guarded by relays.mu
}

// openCircuit is a circuit that streams are opened on. All below err is guarded by relays.mu.
type openCircuit struct {
	ready   chan struct{} // closed when circuit or err is set
	circuit *circuit.Circuit
	err     error
	heard   atomic.Int64 // when something came, as Unix nanoseconds

	streams int
	ended   bool
}

// ID implements Transport.
func (p *passed) ID() feedring.PeerID { return p.id }

// Open opens a stream. The relay in use is no end, unless it is the one to serve and there
// is another relay.
func (p *passed) Open(ctx context.Context, end feedring.PeerID, verb feedring.Verb) (Stream, error) {
	_ = p.learn(ctx)
	inUse := p.order("")[0].id
	if end == inUse && (verb != wire.VerbAttach || p.fixed) {
		return nil, fmt.Errorf("%w: %s is the relay itself, which would learn who asks what: name another relay", ErrRelay, end)
	}
	if end == inUse {
		p.log.Warn("the relay itself is to answer: it is asked through another one, and may find out by the time who asks", "relay", end)
	}
	for {
		p.mu.Lock()
		l, stands := p.open[end]
		if !stands {
			l = &openCircuit{ready: make(chan struct{})}
			p.open[end], p.circuits[l] = l, true
		}
		l.streams++
		p.mu.Unlock()
		if !stands {
			l.circuit, l.err = p.dial(ctx, end)
			l.heard.Store(time.Now().UnixNano())
			close(l.ready)
		}
		select {
		case <-l.ready:
		case <-ctx.Done():
			p.leave(l)
			return nil, ctx.Err()
		}
		err := l.err
		if err == nil {
			var s circuit.Stream
			if s, err = l.circuit.Open(ctx, verb); err == nil {
				return &passedStream{raw: s, of: p, line: l, end: end, leave: sync.OnceFunc(func() { p.leave(l) })}, nil
			}
		}
		p.drop(end, l)
		p.leave(l)
		if !stands || ctx.Err() != nil { // else it was lost a while ago
			return nil, err
		}
	}
}

// leave gives a stream of a circuit back, and the circuit itself once it is not used for a
// while.
func (v *relays) leave(l *openCircuit) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if l.streams--; l.streams == 0 && !l.ended {
		time.AfterFunc(questionsIdle, func() { v.end(func(o *openCircuit) bool { return o == l }) })
	}
}

// end ends circuits that nobody uses.
func (v *relays) end(which func(*openCircuit) bool) {
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
func (v *relays) forget(l *openCircuit) {
	l.ended = true
	delete(v.circuits, l)
	for _, one := range v.themes {
		if p, ok := one.transport.(*passed); ok {
			maps.DeleteFunc(p.open, func(_ feedring.PeerID, o *openCircuit) bool { return o == l })
		}
	}
}

func (v *relays) close(l *openCircuit) {
	if l.circuit != nil {
		l.circuit.Close()
		<-v.places
	}
}

// drop gives a circuit up that may be lost.
func (p *passed) drop(end feedring.PeerID, l *openCircuit) {
	p.mu.Lock()
	ended := l.ended
	if !ended {
		p.forget(l)
	}
	p.mu.Unlock()
	if !ended {
		p.close(l)
	}
}

// dial opens a circuit once there is a place.
func (p *passed) dial(ctx context.Context, end feedring.PeerID) (*circuit.Circuit, error) {
	select {
	case p.places <- struct{}{}:
	default:
		p.relays.end(func(*openCircuit) bool { return true })
		select {
		case p.places <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	var c *circuit.Circuit
	err := p.each(ctx, end, func(r *relay) (err error) {
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
		<-p.places
		return nil, err
	}
	return c, nil
}

func (p *passed) circuit(ctx context.Context, r *relay, end feedring.PeerID) (*circuit.Circuit, error) {
	raw, err := p.stream(ctx, r)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.ends[end] = true
	p.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, tryWithin)
	defer cancel()
	return circuit.Dial(ctx, raw, p.key, p.network, end)
}

// passedStream is a stream within a circuit.
type passedStream struct {
	raw   circuit.Stream
	of    *passed
	line  *openCircuit
	end   feedring.PeerID
	leave func()
}

// Read implements Stream.
func (s *passedStream) Read(b []byte) (int, error) {
	n, err := s.raw.Read(b)
	if n > 0 {
		s.line.heard.Store(time.Now().UnixNano())
	}
	return n, err
}

// Close implements Stream.
func (s *passedStream) Close() error {
	defer s.leave()
	return s.raw.Close()
}

// Reset implements Stream. A circuit on which nothing came is given up: the relay or the end
// may be dead, which nothing else tells.
func (s *passedStream) Reset() error {
	defer s.leave()
	err := s.raw.Reset()
	if time.Since(time.Unix(0, s.line.heard.Load())) > silentFor {
		s.of.drop(s.end, s.line)
	}
	return err
}

// CloseWrite implements Stream.
func (s *passedStream) CloseWrite() error { return s.raw.CloseWrite() }

// SetDeadline implements Stream, as the next two what frames are sent and received with.
func (s *passedStream) SetDeadline(t time.Time) error      { return s.raw.SetDeadline(t) }
func (s *passedStream) SetReadDeadline(t time.Time) error  { return s.raw.SetReadDeadline(t) }
func (s *passedStream) SetWriteDeadline(t time.Time) error { return s.raw.SetWriteDeadline(t) }

// Write implements Stream.
func (s *passedStream) Write(b []byte) (int, error) { return s.raw.Write(b) }
