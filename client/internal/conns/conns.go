// Package conns keeps one stream for questions to each peer that a client asks.
package conns

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/wire"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// connIdle is above what a peer keeps an unused stream for.
const connIdle = 5 * time.Minute

// writeWithin bounds how long a question may take to be sent.
const writeWithin = 5 * time.Second

var errConnLost = errors.New("the connection was lost")

// Dialer opens a stream for questions to a peer. It blocks until ctx ends.
type Dialer interface {
	Dial(ctx context.Context, to feedring.PeerID) (*wire.Stream, error)
}

// Conns keeps one stream for questions to each peer that is asked, so that a
// question costs one message and many can be open at once.
type Conns struct {
	dialer Dialer
	idle   time.Duration

	mu     sync.Mutex
	open   map[feedring.PeerID]*conn
	closed bool
}

type conn struct {
	to     feedring.PeerID
	ready  chan struct{} // closed when stream or err is set
	stream *wire.Stream  // nil: it could not be opened
	err    error

	write   sync.Mutex
	waiting map[askKey]chan<- reply // guarded by Conns.mu; nil: the stream is lost
}

type askKey struct {
	id      feedring.QueryID
	attempt uint32
}

type reply struct {
	final feedring.Final
	err   error
}

// New returns Conns that dialer opens.
func New(dialer Dialer) *Conns {
	return &Conns{dialer: dialer, idle: connIdle, open: make(map[feedring.PeerID]*conn)}
}

// IdleFor sets how long an unused stream is kept. It is called before the first question;
// no answer may take longer.
func (cs *Conns) IdleFor(d time.Duration) { cs.idle = d }

// Ask asks one peer and waits for its final, or until ctx ends. sent is set
// when the question is on its way to the peer.
func (cs *Conns) Ask(ctx context.Context, to feedring.PeerID, ask wire.Ask, sent *atomic.Bool) (final feedring.Final, err error) {
	c, err := cs.conn(ctx, to)
	if err != nil {
		return final, err
	}
	key, answer := askKey{ask.ID, ask.Attempt}, make(chan reply, 1)
	cs.mu.Lock()
	lost := c.waiting == nil
	if !lost {
		c.waiting[key] = answer
	}
	cs.mu.Unlock()
	if lost {
		return final, errConnLost
	}
	defer cs.waiting(c, key)
	c.write.Lock()
	err = c.stream.Send(wire.AskTo(ask), writeWithin)
	c.write.Unlock()
	if err != nil {
		cs.drop(c, err)
		return final, err
	}
	sent.Store(true)
	select {
	case r := <-answer:
		return r.final, r.err
	case <-ctx.Done():
		return final, ctx.Err()
	}
}

// waiting returns and forgets the caller that waits for an answer; nil: none does.
func (cs *Conns) waiting(c *conn, key askKey) chan<- reply {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	answer := c.waiting[key]
	delete(c.waiting, key)
	return answer
}

// conn returns the connection to a peer that is open, or opens one.
func (cs *Conns) conn(ctx context.Context, to feedring.PeerID) (*conn, error) {
	cs.mu.Lock()
	if cs.closed {
		cs.mu.Unlock()
		return nil, errors.New("the client is closed")
	}
	c, ok := cs.open[to]
	if !ok {
		c = &conn{to: to, ready: make(chan struct{}), waiting: make(map[askKey]chan<- reply)}
		cs.open[to] = c
	}
	cs.mu.Unlock()
	if !ok {
		cs.dial(ctx, c)
	}
	select {
	case <-c.ready:
		return c, c.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (cs *Conns) dial(ctx context.Context, c *conn) {
	defer close(c.ready)
	stream, err := cs.dialer.Dial(ctx, c.to)
	if err != nil {
		c.err = err
		cs.remove(c)
		return
	}
	c.stream = stream
	go func() { cs.drop(c, cs.read(c)) }()
}

// read hands answers to the callers that wait for them, until the stream is lost.
func (cs *Conns) read(c *conn) error {
	for {
		var answer feedringv1.AskReply
		if err := c.stream.Receive(&answer, cs.idle); err != nil {
			return err
		}
		final, err := wire.AskReplyFrom(&answer)
		var remote *wire.RemoteError
		if err != nil && !errors.As(err, &remote) {
			return err
		}
		if waiting := cs.waiting(c, askKey{final.ID, final.Attempt}); waiting != nil {
			waiting <- reply{final, err}
		}
	}
}

// remove forgets a connection and returns the callers that wait on it.
func (cs *Conns) remove(c *conn) map[askKey]chan<- reply {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.open[c.to] == c {
		delete(cs.open, c.to)
	}
	waiting := c.waiting
	c.waiting = nil
	return waiting
}

// drop gives a connection up: callers that wait on it get err. The next question
// opens another.
func (cs *Conns) drop(c *conn, err error) {
	waiting := cs.remove(c)
	_ = c.stream.Reset()
	for _, answer := range waiting {
		answer <- reply{err: err}
	}
}

// Silent gives up the connection to a peer that did not answer: it may be dead
// without anybody having noticed. One that is being dialled stays.
func (cs *Conns) Silent(to feedring.PeerID) {
	cs.mu.Lock()
	c := cs.open[to]
	cs.mu.Unlock()
	if c == nil {
		return
	}
	select {
	case <-c.ready:
		if c.stream != nil {
			cs.drop(c, errConnLost)
		}
	default:
	}
}

// Close gives all up. Nothing can be asked afterwards.
func (cs *Conns) Close() {
	cs.mu.Lock()
	cs.closed = true
	open := slices.Collect(maps.Keys(cs.open))
	cs.mu.Unlock()
	for _, to := range open {
		cs.Silent(to)
	}
}
