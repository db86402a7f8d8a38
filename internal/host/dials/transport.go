package dials

import (
	"context"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/transport"
	quic "github.com/libp2p/go-libp2p/p2p/transport/quic"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	ma "github.com/multiformats/go-multiaddr"
)

// Every dial of libp2p goes through a transport, after names were resolved: those of the
// address book, to relays, through NATs and back to whom they were asked for are no
// exception.

// dialer is what dials by one transport.
type dialer interface {
	Dial(ctx context.Context, a ma.Multiaddr, id peer.ID) (transport.CapableConn, error)
}

// dial dials by way of a transport, if that may be.
func (d *Dials) dial(ctx context.Context, via dialer, a ma.Multiaddr, id peer.ID) (transport.CapableConn, error) {
	l, err := d.Begin(ctx, id, a)
	if err != nil {
		return nil, err
	}
	conn, err := via.Dial(ctx, a, id)
	l.End(err == nil)
	return conn, err
}

// QUIC is libp2p's transport of that name, whose dials are counted.
type QUIC struct {
	transport.Transport
	of *Dials
}

// CountQUIC counts the dials of a transport.
func (d *Dials) CountQUIC(t transport.Transport) *QUIC { return &QUIC{t, d} }

// Dial implements transport.Transport.
func (q *QUIC) Dial(ctx context.Context, a ma.Multiaddr, id peer.ID) (transport.CapableConn, error) {
	return q.of.dial(ctx, q.Transport, a, id)
}

// ListenOrder says that libp2p listens by QUIC before it listens by others.
func (q *QUIC) ListenOrder() int { return quic.ListenOrder }

// TCP is libp2p's transport of that name, whose dials are counted.
type TCP struct {
	*tcp.TcpTransport
	of *Dials
}

// CountTCP counts the dials of a transport.
func (d *Dials) CountTCP(t *tcp.TcpTransport) *TCP { return &TCP{t, d} }

// Dial implements transport.Transport.
func (t *TCP) Dial(ctx context.Context, a ma.Multiaddr, id peer.ID) (transport.CapableConn, error) {
	return t.of.dial(ctx, t.TcpTransport, a, id)
}

// DialWithUpdates implements transport.DialUpdater.
func (t *TCP) DialWithUpdates(ctx context.Context, a ma.Multiaddr, id peer.ID, updates chan<- transport.DialUpdate) (transport.CapableConn, error) {
	return t.of.dial(ctx, telling{t.TcpTransport, updates}, a, id)
}

// telling is a transport whose dials tell how far they are.
type telling struct {
	*tcp.TcpTransport
	updates chan<- transport.DialUpdate
}

// Dial implements dialer.
func (t telling) Dial(ctx context.Context, a ma.Multiaddr, id peer.ID) (transport.CapableConn, error) {
	return t.TcpTransport.DialWithUpdates(ctx, a, id, t.updates)
}
