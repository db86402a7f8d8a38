package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/refusals"
	"github.com/feedring/feedring/internal/standing"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/node/codec"
)

// receiveIdle ends a kept stream on which nothing came: the other side's link
// ends before.
const receiveIdle = 2 * linkIdle

// Listener hands out streams that other peers open.
type Listener interface {
	Handle(verb feedring.Verb, serve func(network.Stream))
}

// Prefixes tells from where peers connect.
type Prefixes interface {
	Prefix(network.Conn) standing.Prefix
}

// Machine takes the messages of other peers.
type Machine interface {
	// Post returns false when the peer stops.
	Post(peer.Input) bool
}

// ServerConfig is what a server needs.
type ServerConfig struct {
	Listener Listener
	Prefixes Prefixes
	Machine  Machine
	Verifier *wire.Verifier
	Views    Views   // what is known already; nil: nothing is
	Credit   *Credit // where streams wait for places, peers that took more than they gave wait longer
	Contact  *Contact
	Tasks    Tasks
	Counts   *refusals.Counts
	Blocks   Blocks // nil: nobody is blocked
	Forks    Forks  // nil: none is known
	Closed   Closed // nil: this peer is in no closed group
	Log      *slog.Logger
}

// Closed keeps strangers out of a closed group. It returns a message without what they may
// not say there, false: nothing of it is left. It must not change the message, nor block.
type Closed interface {
	Pass(from feedring.PeerID, m feedring.Message) (feedring.Message, bool)
}

// Forks tells which forks are known, and of which feeds something is held.
type Forks interface {
	Known(feedring.Fork) bool
	Held(feedring.FeedRef) bool
}

// Blocks tells whom the owner of this peer blocks.
type Blocks interface{ RefusePeer(feedring.PeerID) bool }

// Handler serves one stream from one peer.
type Handler interface {
	ServeStream(from feedring.PeerID, s *wire.Stream) error
}

// HandlerFunc is a function as a Handler.
type HandlerFunc func(from feedring.PeerID, s *wire.Stream) error

// ServeStream calls f.
func (f HandlerFunc) ServeStream(from feedring.PeerID, s *wire.Stream) error { return f(from, s) }

// Server serves the streams that other peers open, within limits.
type Server struct {
	ServerConfig
	ctx       context.Context
	limits    *limits
	gate      *gate
	budgets   *budgets
	mu        sync.Mutex
	serves    map[feedring.Verb]Handler
	malformed atomic.Uint64
}

// NewServer returns a server that serves nothing yet, and ends with ctx.
func NewServer(ctx context.Context, cfg ServerConfig) *Server {
	return &Server{
		ServerConfig: cfg, ctx: ctx, limits: newLimits(cfg.Credit), gate: newGate(max(1, runtime.GOMAXPROCS(0)/2)),
		budgets: newBudgets(), serves: make(map[feedring.Verb]Handler),
	}
}

// Handle serves a verb beside those of the machine with serve, as many streams
// at once as b allows.
func (s *Server) Handle(verb feedring.Verb, b Bound, serve Handler) {
	s.mu.Lock()
	s.serves[verb] = serve
	s.mu.Unlock()
	s.limits.bound(verb, b)
	s.Listener.Handle(verb, func(raw network.Stream) { s.serve(verb, raw, serve) })
}

// HandleMessages hands the messages of other peers to the machine.
func (s *Server) HandleMessages() {
	for _, verb := range codec.Verbs() {
		s.Listener.Handle(verb, func(raw network.Stream) {
			s.serve(verb, raw, messages{s, verb, senderOf(raw.Conn()), s.Prefixes.Prefix(raw.Conn())})
		})
	}
}

// messages are those of one verb.
type messages struct {
	server *Server
	verb   feedring.Verb
	from   sender
	prefix standing.Prefix
}

func (m messages) ServeStream(_ feedring.PeerID, s *wire.Stream) error {
	return m.server.receive(m, s)
}

// Refuse counts a message that was malformed or wrongly signed.
func (s *Server) Refuse() {
	s.malformed.Add(1)
	s.Counts.Add(refusals.Frame, refusals.Malformed)
}

func reasonOf(err error) refusals.Reason {
	if errors.Is(err, errItsShare) {
		return refusals.Share
	}
	return refusals.Full
}

// Refused is what Refuse counted.
func (s *Server) Refused() uint64 { return s.malformed.Load() }

// serve runs serve and ends its stream: in good order, or with a reset where
// something was wrong or too many are open.
func (s *Server) serve(verb feedring.Verb, raw network.Stream, serve Handler) {
	if !s.Tasks.Run(func() {
		from := feedring.PeerID(raw.Conn().RemotePeer().String())
		if s.Blocks != nil && s.Blocks.RefusePeer(from) { // its connection is about to end
			_ = raw.Reset()
			return
		}
		if err := s.limits.take(s.ctx, from, verb); err != nil {
			s.Counts.Add(refusals.Stream, reasonOf(err))
			_ = raw.Reset()
			return
		}
		defer s.limits.give(from, verb)
		err := serve.ServeStream(from, wire.NewStream(raw))
		if err == nil || errors.Is(err, io.EOF) {
			_ = raw.Close()
			return
		}
		s.Log.Debug("stream ended", "verb", verb, "from", from.Short(), "err", err)
		_ = raw.Reset()
	}) {
		_ = raw.Reset()
	}
}

// Within serves client on a stream within one that by opened, in one of by's places for
// verb: who comes by way of another peer costs no more than that one may.
func (s *Server) Within(by, client feedring.PeerID, verb feedring.Verb, serve Handler, stream *wire.Stream) error {
	if s.Blocks != nil && s.Blocks.RefusePeer(client) {
		return errBlocked
	}
	if err := s.limits.take(s.ctx, by, verb); err != nil {
		s.Counts.Add(refusals.Stream, reasonOf(err))
		return err
	}
	defer s.limits.give(by, verb)
	return serve.ServeStream(client, stream)
}

// receive hands the messages of one verb to the machine, in their order, and no
// faster than one peer may send.
func (s *Server) receive(of messages, frames *wire.Stream) error {
	from := of.from
	pace := s.limits.pace(from.id)
	defer s.limits.unpace(pace)
	for {
		if err := pace.Wait(s.ctx); err != nil {
			return err
		}
		frame, err := frames.ReceiveFrame(receiveIdle)
		if err != nil {
			return err
		}
		m, err := s.decode(from, of.verb, frame)
		if errors.Is(err, errUseless) {
			s.Counts.Add(refusals.Useless, refusals.Share)
			continue
		}
		if errors.Is(err, errKnown) {
			continue
		}
		if err != nil {
			s.Refuse()
			return err
		}
		s.Contact.heard()
		if s.Closed != nil {
			var ok bool
			if m, ok = s.Closed.Pass(from.id, m); !ok {
				continue
			}
		}
		if !s.Machine.Post(peer.Receive{From: from.id, Prefix: of.prefix, Message: m}) {
			return nil
		}
	}
}

// decode reads a message and checks its seals, as long as those of its sender are not
// useless, and notes how many were.
func (s *Server) decode(from sender, verb feedring.Verb, frame []byte) (feedring.Message, error) {
	check := &meter{ctx: s.ctx, verifier: s.Verifier, gate: s.gate, from: from.id, spent: s.budgets.spent(time.Now(), from)}
	m, err := codec.Decode(check, verb, frame)
	if e, ok := m.(group.Evidence); ok && err == nil {
		err = s.prove(check, e)
	}
	check.leave()
	if check.checks == 0 {
		return m, err
	}
	useless := 0
	switch {
	case errors.Is(err, wire.ErrSignature):
		useless = uselessWrong
	case err == nil && s.Views != nil:
		useless = min(check.checks, stale(s.Views.View(), from.id, m))
	}
	s.budgets.charge(time.Now(), from, useless, check.checks)
	return m, err
}

var (
	errClosing = errors.New("this peer is closing")
	errBlocked = errors.New("the owner of this peer blocks it")
)

// Open opens a stream of this process to itself, which no limit counts.
func (s *Server) Open(self feedring.PeerID, verb feedring.Verb) (PipeEnd, error) {
	s.mu.Lock()
	serve, ok := s.serves[verb]
	s.mu.Unlock()
	if !ok {
		return PipeEnd{}, fmt.Errorf("verb %q is not served", verb)
	}
	here, there := net.Pipe()
	if !s.Tasks.Run(func() {
		defer there.Close()
		defer context.AfterFunc(s.ctx, func() { _ = there.Close() })()
		_ = serve.ServeStream(self, wire.NewStream(PipeEnd{there}))
	}) {
		return PipeEnd{}, errClosing
	}
	return PipeEnd{here}, nil
}

// PipeEnd is one end of a pipe, with the methods of a stream.
type PipeEnd struct{ net.Conn }

func (p PipeEnd) CloseWrite() error { return nil }
func (p PipeEnd) Reset() error      { return p.Close() }

// SetReadDeadline sets it where it matters: a pipe whose other end is closed
// takes none, and what was read of it before may still be waiting.
func (p PipeEnd) SetReadDeadline(t time.Time) error {
	if err := p.Conn.SetReadDeadline(t); err != nil && !errors.Is(err, io.ErrClosedPipe) {
		return err
	}
	return nil
}
