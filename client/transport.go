package client

import (
	"context"
	"io"
	"time"

	"github.com/feedring/feedring"
)

// Transport is what a client needs of libp2p. All methods are safe for
// concurrent use.
type Transport interface {
	// ID is who the client is: tickets are made out to it.
	ID() feedring.PeerID
	// Open opens a stream to a peer for one verb. It blocks until ctx ends.
	Open(ctx context.Context, to feedring.PeerID, verb feedring.Verb) (Stream, error)
	// Learn tells addresses at which a peer may be.
	Learn(id feedring.PeerID, addrs []string)
	Close() error
}

// Stream is one stream of a Transport. Reset ends both directions at once.
type Stream interface {
	io.ReadWriteCloser
	CloseWrite() error
	Reset() error
	SetDeadline(time.Time) error
}
