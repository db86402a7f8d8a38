// Package pass carries readers' streams to other peers, and serves readers that come so: who
// answers them does not learn their address, and who carries them reads nothing.
package pass

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/network"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/asker"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/refusals"
	"github.com/feedring/feedring/internal/throttle"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/circuit"
	"github.com/feedring/feedring/node/internal/transport"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

const (
	// EachAddress is how many circuits one client address has, an IPv4 one or a /64.
	EachAddress = 4
	// Handshakes of one address at a relay, and by way of one relay at the end: as many as
	// connections of an address.
	handshakeEvery = 20 * time.Millisecond
	handshakeBurst = 256

	requestWithin = 10 * time.Second
	openWithin    = 5 * time.Second
)

// Host reaches other peers.
type Host interface {
	Open(ctx context.Context, to feedring.PeerID, verb feedring.Verb, fresh bool) (network.Stream, error)
}

// Views tells which peers this one knows.
type Views interface{ View() *peer.View }

// Blocks tells whom the owner of this peer blocks.
type Blocks interface{ Peer(feedring.PeerID) bool }

// Server bounds what is served within a stream of another peer.
type Server interface {
	Within(by, client feedring.PeerID, verb feedring.Verb, serve transport.Handler, stream *wire.Stream) error
}

// Config is what a Passer needs.
type Config struct {
	Self    feedring.PeerID
	Key     crypto.PrivKey
	Network string
	Most    int // circuits at once; 0: none
	Host    Host
	Views   Views
	Blocks  Blocks
	Server  Server
	Serves  map[feedring.Verb]transport.Handler // within circuits that end here
	Counts  *refusals.Counts
	Log     *slog.Logger
}

// Passer is a relay, and the end of others' circuits. Its methods may be called
// concurrently.
type Passer struct {
	Config
	ctx    context.Context
	places *throttle.Places
	paces  *throttle.Buckets // of addresses, and of relays by their ids
}

// New returns a Passer, which ends with ctx.
func New(ctx context.Context, cfg Config) *Passer {
	return &Passer{
		Config: cfg, ctx: ctx, places: throttle.NewPlaces(cfg.Most, EachAddress), paces: throttle.New(handshakeEvery, handshakeBurst),
	}
}

// ServePass names peers, or carries a circuit until it ends.
func (p *Passer) ServePass(from feedring.PeerID, s *wire.Stream) error {
	raw, ok := s.Raw().(network.Stream)
	if !ok {
		return errNoStream
	}
	var req feedringv1.PassRequest
	if err := s.Receive(&req, requestWithin); err != nil {
		return err
	}
	end, err := circuit.RequestFrom(&req)
	if err != nil {
		return refuse(s, feedringv1.ErrorKind_ERROR_KIND_BAD_REQUEST, err.Error())
	}
	if end == "" {
		reply := circuit.ReplyTo(p.names())
		if p.Most == 0 {
			reply.Error = circuit.RefusalTo(feedringv1.ErrorKind_ERROR_KIND_UNAVAILABLE, passesNothing).GetError()
		}
		return s.Send(reply, requestWithin)
	}
	switch {
	case p.Most == 0:
		return refuse(s, feedringv1.ErrorKind_ERROR_KIND_UNAVAILABLE, passesNothing)
	case end == p.Self || end == from:
		return refuse(s, feedringv1.ErrorKind_ERROR_KIND_BAD_REQUEST, "a circuit leads to a third peer: ask this one without a relay, or name another relay")
	case !p.knows(end):
		return refuse(s, feedringv1.ErrorKind_ERROR_KIND_UNKNOWN, "this peer has no such peer in its map or catalogues")
	}
	address := addressOf(raw.Conn().RemoteMultiaddr())
	if p.paces.Take(time.Now(), address, 1) > 0 {
		p.Counts.Add(refusals.Stream, refusals.Share)
		return refuse(s, feedringv1.ErrorKind_ERROR_KIND_BUSY, "circuits are opened too fast from this address")
	}
	switch p.places.Take(address) {
	case throttle.Share:
		p.Counts.Add(refusals.Stream, refusals.Share)
		return refuse(s, feedringv1.ErrorKind_ERROR_KIND_BUSY, fmt.Sprintf("%d circuits are open from this address, as many as one may have", EachAddress))
	case throttle.Full:
		p.Counts.Add(refusals.Stream, refusals.Full)
		return refuse(s, feedringv1.ErrorKind_ERROR_KIND_BUSY, "this peer carries as many circuits as it may")
	}
	defer p.places.Give(address)
	return p.carry(s, raw, end)
}

const passesNothing = "this peer passes nothing on: name another relay"

func refuse(s *wire.Stream, kind feedringv1.ErrorKind, why string) error {
	return s.Send(circuit.RefusalTo(kind, why), requestWithin)
}

// addressOf names where a client is; of one that comes by a relay of libp2p that relay's.
func addressOf(remote ma.Multiaddr) string {
	ip, err := manet.ToIP(remote)
	at, ok := netip.AddrFromSlice(ip)
	if err != nil || !ok {
		return "unknown"
	}
	return asker.Proxies(nil).Name(netip.AddrPortFrom(at, 0).String(), nil)
}

// knows reports whether a peer is in this one's map or catalogues.
func (p *Passer) knows(id feedring.PeerID) bool {
	if p.Blocks.Peer(id) {
		return false
	}
	view := p.Views.View()
	for i := range view.Ring {
		if view.Ring[i].Manager == id || view.Ring[i].Secondary == id {
			return true
		}
	}
	for _, c := range view.Groups {
		for i := range c.Peers {
			if c.Peers[i].Peer == id {
				return true
			}
		}
	}
	return false
}

// names returns some of the peers that this one knows, by chance. No theme is told.
func (p *Passer) names() []feedring.PeerInfo {
	view := p.Views.View()
	known := make(map[feedring.PeerID][]string, len(view.Ring))
	for i := range view.Ring {
		for _, id := range []feedring.PeerID{view.Ring[i].Manager, view.Ring[i].Secondary} {
			known[id] = view.Addrs[id]
		}
	}
	for _, c := range view.Groups {
		for i := range c.Peers {
			known[c.Peers[i].Peer] = c.Peers[i].Addrs
		}
	}
	delete(known, p.Self)
	var names []feedring.PeerInfo
	for id, addrs := range known {
		if len(addrs) > 0 && !p.Blocks.Peer(id) {
			names = append(names, feedring.PeerInfo{ID: id, Addrs: addrs})
		}
	}
	rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	return names[:min(len(names), circuit.MaxNames)]
}

// ServeSealed is the end of a circuit: it serves the client at its beginning as one that is
// connected, within what the relay may cost.
func (p *Passer) ServeSealed(relay feedring.PeerID, s *wire.Stream) error {
	raw, ok := s.Raw().(circuit.Raw)
	if !ok {
		return errNoStream
	}
	if p.paces.Take(time.Now(), string(relay), 1) > 0 {
		p.Counts.Add(refusals.Stream, refusals.Share)
		return errTooFast
	}
	client, c, err := circuit.Accept(p.ctx, raw, p.Key, p.Network)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(p.ctx, mostTime+openWithin) // as long as an honest relay carries it
	defer cancel()
	defer context.AfterFunc(ctx, c.Close)()
	var serving sync.WaitGroup
	defer serving.Wait()
	defer c.Close()
	for {
		one, err := c.Next()
		if err != nil {
			return io.EOF // how each circuit ends
		}
		serving.Go(func() {
			if err := p.serveOne(relay, client, wire.NewStream(one)); err != nil && !errors.Is(err, io.EOF) {
				p.Log.Debug("stream within a circuit ended", "relay", relay.Short(), "err", err)
				_ = one.Reset()
				return
			}
			_ = one.Close()
		})
	}
}

func (p *Passer) serveOne(relay, client feedring.PeerID, s *wire.Stream) error {
	verb, err := circuit.Verb(s)
	if err != nil {
		return err
	}
	serve := p.Serves[verb]
	if serve == nil { // not pass either: relays are no chain
		return fmt.Errorf("%w: %q within a circuit", wire.ErrMalformed, verb)
	}
	return p.Server.Within(relay, client, verb, serve, s)
}
