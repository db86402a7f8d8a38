package client

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/wire"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

const (
	lineWrite = 5 * time.Second
	// lineIdle is above what a peer keeps an unused stream for.
	lineIdle = 5 * time.Minute
)

var errLineLost = errors.New("the connection was lost")

// lines keeps one stream for questions to each peer that is asked, so that a
// question costs one message and many can be open at once.
type lines struct {
	transport Transport

	mu     sync.Mutex
	open   map[feedring.PeerID]*line
	closed bool
}

type line struct {
	to     feedring.PeerID
	ready  chan struct{} // closed when stream or err is set
	stream *wire.Stream
	err    error

	write   sync.Mutex
	mu      sync.Mutex
	waiting map[askKey]chan<- reply
	lost    bool
}

type askKey struct {
	id      feedring.QueryID
	attempt uint32
}

type reply struct {
	final feedring.Final
	err   error
}

func newLines(t Transport) *lines {
	return &lines{transport: t, open: make(map[feedring.PeerID]*line)}
}

// ask asks one peer and waits for its final, or until ctx ends. sent is set
// when the question is on its way to the peer.
func (ls *lines) ask(ctx context.Context, to feedring.PeerID, ask wire.Ask, sent *atomic.Bool) (final feedring.Final, err error) {
	l, err := ls.line(ctx, to)
	if err != nil {
		return final, err
	}
	key := askKey{ask.ID, ask.Attempt}
	answer := make(chan reply, 1)
	if !l.expect(key, answer) {
		return final, errLineLost
	}
	defer l.forget(key)
	if err := l.send(ask); err != nil {
		ls.drop(l, err)
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

// line returns the open line to a peer, or opens one.
func (ls *lines) line(ctx context.Context, to feedring.PeerID) (*line, error) {
	ls.mu.Lock()
	if ls.closed {
		ls.mu.Unlock()
		return nil, errors.New("the client is closed")
	}
	l, ok := ls.open[to]
	if !ok {
		l = &line{to: to, ready: make(chan struct{}), waiting: make(map[askKey]chan<- reply)}
		ls.open[to] = l
	}
	ls.mu.Unlock()
	if !ok {
		ls.dial(ctx, l)
	}
	select {
	case <-l.ready:
		return l, l.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (ls *lines) dial(ctx context.Context, l *line) {
	raw, err := ls.transport.Open(ctx, l.to, wire.VerbAsk)
	if err != nil {
		l.err = err
		ls.remove(l)
		close(l.ready)
		return
	}
	l.stream = wire.NewStream(raw)
	close(l.ready)
	go func() { ls.drop(l, l.read()) }()
}

// read hands answers to who waits for them, until the line is lost.
func (l *line) read() error {
	for {
		var answer feedringv1.AskReply
		if err := l.stream.Receive(&answer, lineIdle); err != nil {
			return err
		}
		final, err := wire.AskReplyFrom(&answer)
		var told *wire.RemoteError
		if err != nil && !errors.As(err, &told) {
			return err
		}
		key := askKey{final.ID, final.Attempt}
		l.mu.Lock()
		waiting := l.waiting[key]
		delete(l.waiting, key)
		l.mu.Unlock()
		if waiting != nil {
			waiting <- reply{final, err}
		}
	}
}

func (l *line) expect(key askKey, answer chan<- reply) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.lost {
		l.waiting[key] = answer
	}
	return !l.lost
}

func (l *line) forget(key askKey) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.waiting, key)
}

func (l *line) send(ask wire.Ask) error {
	l.write.Lock()
	defer l.write.Unlock()
	return l.stream.Send(wire.AskTo(ask), lineWrite)
}

// drop gives a line up: whoever waits on it is told. The next question opens
// another.
func (ls *lines) drop(l *line, err error) {
	ls.remove(l)
	if err == nil {
		err = errLineLost
	}
	l.mu.Lock()
	waiting := l.waiting
	l.waiting, l.lost = nil, true
	l.mu.Unlock()
	_ = l.stream.Reset()
	for _, answer := range waiting {
		answer <- reply{err: err}
	}
}

func (ls *lines) remove(l *line) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if ls.open[l.to] == l {
		delete(ls.open, l.to)
	}
}

// silent gives up the line to a peer that did not answer: its connection may
// be dead without anybody having noticed.
func (ls *lines) silent(to feedring.PeerID) {
	ls.mu.Lock()
	l := ls.open[to]
	ls.mu.Unlock()
	if l == nil {
		return
	}
	if l.opened() {
		ls.drop(l, errLineLost)
	}
}

// opened reports whether there is a stream: a line is known before it is
// dialled, and for a moment when that failed.
func (l *line) opened() bool {
	select {
	case <-l.ready:
		return l.stream != nil
	default:
		return false
	}
}

func (ls *lines) close() {
	ls.mu.Lock()
	ls.closed = true
	open := ls.open
	ls.open = make(map[feedring.PeerID]*line)
	ls.mu.Unlock()
	for _, l := range open {
		if l.opened() {
			ls.drop(l, errLineLost)
		}
	}
}
