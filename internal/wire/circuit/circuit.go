// Package circuit speaks with the end of a circuit: a stream to a relay, another peer, that
// passes it on. Both ends speak Noise on it, so the relay reads nothing, and the end sees
// a key and the relay, but no address. Within that yamux carries a stream for each
// request: a handshake for each would cost more than the request.
package circuit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/sec"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
	"github.com/libp2p/go-libp2p/p2p/security/noise"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/wire"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

const (
	replyWithin  = 2 * time.Second // of the relay: it answers before it reaches the end
	acceptWithin = 5 * time.Second // for the handshake, and for the verb of a stream
	// maxStreams are open at once: a quarter of a megabyte each may wait for the end to
	// read it.
	maxStreams = 8
)

// Stream is one request within a circuit.
type Stream = network.MuxedStream

// ErrSilent is wrapped where a relay did not answer.
var ErrSilent = errors.New("the relay does not answer")

// Raw is a stream below a circuit. Reset ends both directions at once.
type Raw interface {
	io.ReadWriteCloser
	CloseWrite() error
	Reset() error
	SetDeadline(time.Time) error
	SetReadDeadline(time.Time) error
	SetWriteDeadline(time.Time) error
}

// Circuit is one side of a circuit. Its methods may be called concurrently.
type Circuit struct {
	mux network.MuxedConn
	raw Raw
}

// Close ends the circuit and all streams on it.
func (c *Circuit) Close() {
	_ = c.mux.Close()
	_ = c.raw.Reset()
}

// Open opens a stream for a verb. It does not wait for the end.
func (c *Circuit) Open(ctx context.Context, verb feedring.Verb) (Stream, error) {
	s, err := c.mux.OpenStream(ctx)
	if err != nil {
		return nil, fmt.Errorf("circuit: %w", err)
	}
	if err := wire.NewStream(s).Send(&feedringv1.SealedRequest{Verb: string(verb)}, acceptWithin); err != nil {
		_ = s.Reset()
		return nil, err
	}
	return s, nil
}

// Next waits for the next stream that the client opens. What its verb is says Verb.
func (c *Circuit) Next() (Stream, error) { return c.mux.AcceptStream() }

// Verb reads the verb of a stream that a client opened.
func Verb(s *wire.Stream) (feedring.Verb, error) {
	var req feedringv1.SealedRequest
	if err := s.Receive(&req, acceptWithin); err != nil {
		return "", err
	}
	return feedring.Verb(req.GetVerb()), nil
}

// over speaks yamux over Noise over raw.
func over(secure sec.SecureConn, raw Raw, isEnd bool) (*Circuit, error) {
	muxer := *yamux.DefaultTransport
	// A circuit without a request is given back, so nothing keeps it alive.
	muxer.EnableKeepAlive, muxer.MeasureRTTInterval, muxer.WriteCoalesceDelay = false, 24*time.Hour, 0
	muxer.MaxIncomingStreams, muxer.AcceptBacklog = maxStreams, maxStreams
	mux, err := muxer.NewConn(secure, isEnd, nil)
	if err != nil {
		return nil, fmt.Errorf("circuit: %w", err)
	}
	return &Circuit{mux, raw}, nil
}

// Names asks the relay at the other side of raw for peers. It ends raw.
func Names(raw Raw) ([]feedring.PeerInfo, error) {
	frames := wire.NewStream(raw)
	reply := new(feedringv1.PassReply)
	err := frames.Send(RequestTo(""), replyWithin)
	if err == nil {
		err = frames.Receive(reply, replyWithin)
	}
	if err != nil {
		_ = raw.Reset()
		return nil, fmt.Errorf("%w: %w", ErrSilent, err)
	}
	_ = raw.Close()
	return ReplyFrom(reply)
}

// Dial opens a circuit to end over raw, a stream of the verb pass to a relay, as the client
// with the given key. It blocks until ctx ends, which must have a deadline. After an error
// raw is reset: ErrSilent; a *wire.RemoteError, by which the relay refuses; or another, if
// the end is not who it should be or does not answer.
func Dial(ctx context.Context, raw Raw, key crypto.PrivKey, network string, end feedring.PeerID) (*Circuit, error) {
	c, err := dial(ctx, raw, key, network, end)
	if err != nil {
		_ = raw.Reset()
		return nil, err
	}
	return c, nil
}

func dial(ctx context.Context, raw Raw, key crypto.PrivKey, network string, end feedring.PeerID) (*Circuit, error) {
	id, err := peer.Decode(string(end))
	if err != nil {
		return nil, fmt.Errorf("%q is no peer id", end)
	}
	speaker, err := speaker(key, network)
	if err != nil {
		return nil, err
	}
	frames := wire.NewStream(raw)
	if err := frames.Send(RequestTo(end), replyWithin); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSilent, err)
	}
	under := &below{raw: raw, frames: frames}
	secure, err := speaker.SecureOutbound(ctx, under, id)
	switch {
	case under.err != nil:
		return nil, under.err
	case err != nil:
		return nil, fmt.Errorf("the end of the circuit: %w", err)
	}
	return over(secure, raw, false)
}

// Accept is the end of a circuit, with its own key: it has the client prove its key, within
// five seconds. The caller ends raw.
func Accept(ctx context.Context, raw Raw, key crypto.PrivKey, network string) (client feedring.PeerID, c *Circuit, err error) {
	speaker, err := speaker(key, network)
	if err != nil {
		return "", nil, err
	}
	within, cancel := context.WithTimeout(ctx, acceptWithin)
	defer cancel()
	secure, err := speaker.SecureInbound(within, &below{raw: raw}, "")
	if err != nil {
		return "", nil, err
	}
	if secure.RemotePublicKey().Type() != crypto.Ed25519 {
		return "", nil, fmt.Errorf("key of the client: %w", wire.ErrMalformed)
	}
	c, err = over(secure, raw, true)
	return feedring.PeerID(secure.RemotePeer().String()), c, err
}

// speaker speaks Noise of this network and purpose alone.
func speaker(key crypto.PrivKey, network string) (*noise.SessionTransport, error) {
	t, err := noise.New(noise.ID, key, nil)
	if err != nil {
		return nil, err
	}
	return t.WithSessionOptions(noise.Prologue([]byte(wire.ProtocolID(network, wire.VerbSealed))))
}

// below is a stream in the shape that Noise wants. On a client's the relay's reply comes
// first: the handshake goes out before it, which saves a round trip.
type below struct {
	raw    Raw
	frames *wire.Stream // until Noise; nil: no reply comes
	done   bool
	err    error // of the reply
}

func (b *below) Read(p []byte) (int, error) {
	if b.frames == nil {
		return b.raw.Read(p)
	}
	if !b.done {
		b.done, b.err = true, b.reply()
	}
	if b.err != nil {
		return 0, b.err
	}
	return b.frames.Read(p)
}

func (b *below) reply() error {
	var reply feedringv1.PassReply
	if err := b.frames.Receive(&reply, replyWithin); err != nil {
		return fmt.Errorf("%w: %w", ErrSilent, err)
	}
	if _, err := ReplyFrom(&reply); err != nil {
		return err
	}
	return b.raw.SetReadDeadline(time.Time{}) // that of the handshake's context counts
}

func (b *below) Write(p []byte) (int, error)        { return b.raw.Write(p) }
func (b *below) Close() error                       { return b.raw.Close() }
func (b *below) SetDeadline(t time.Time) error      { return b.raw.SetDeadline(t) }
func (b *below) SetReadDeadline(t time.Time) error  { return b.raw.SetReadDeadline(t) }
func (b *below) SetWriteDeadline(t time.Time) error { return b.raw.SetWriteDeadline(t) }
func (b *below) LocalAddr() net.Addr                { return nowhere }
func (b *below) RemoteAddr() net.Addr               { return nowhere }

// nowhere is where both ends of a circuit are.
var nowhere = &net.UnixAddr{Name: "circuit", Net: "circuit"}
