package transport

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/node/codec"
)

const (
	linkQueue = 512              // messages waiting for one link; more are dropped, machines repeat what matters
	linkIdle  = 30 * time.Second // an unused stream is given back
	linkBatch = 64 << 10         // bytes written at once
	linkWrite = 5 * time.Second  // a write that takes longer ends the stream
)

// Dialer opens network.Streams to other peers.
type Dialer interface {
	Open(ctx context.Context, to feedring.PeerID, verb feedring.Verb, fresh bool) (network.Stream, error)
}

// Tasks runs goroutines while the peer runs, and reports whether it does.
type Tasks interface{ Run(func()) bool }

// Links keeps one outgoing stream for each verb and peer that is in use, with
// one goroutine that writes to it, so that a beacon never waits for a catalogue
// and the loop never waits for a peer.
type Links struct {
	dialer Dialer
	frames encoder
	stale  time.Duration // a message that waited longer is dropped
	log    *slog.Logger
	tasks  Tasks
	ctx    context.Context

	mu   sync.Mutex
	kept map[linkKey]*link

	busy          atomic.Int64 // messages queued or being written
	sent, dropped atomic.Uint64
}

// encoder makes a whole frame of a message.
type encoder interface {
	encode(feedring.Message) ([]byte, error)
}

// Hinter names, in the grants that this peer makes, what it holds. It blocks for a moment
// at most.
type Hinter interface {
	Hint(context.Context, []feedring.Grant) []feedring.Grant
}

// sealing seals what is this peer's own.
type sealing struct {
	ctx    context.Context
	sealer *wire.Sealer
	hinter Hinter
}

func (s sealing) encode(m feedring.Message) ([]byte, error) {
	switch told := m.(type) {
	case group.Placed:
		told.Grants = s.hinter.Hint(s.ctx, told.Grants)
		m = told
	case peer.Final:
		told.Final.Grants = s.hinter.Hint(s.ctx, told.Final.Grants)
		m = told
	}
	return codec.Encode(s.sealer, m)
}

// NewLinks returns links that end with ctx. A message that waits longer than
// stale is dropped.
func NewLinks(ctx context.Context, dialer Dialer, sealer *wire.Sealer, hinter Hinter, stale time.Duration, tasks Tasks, log *slog.Logger) *Links {
	return &Links{
		dialer: dialer, frames: sealing{ctx, sealer, hinter}, stale: stale, log: log, tasks: tasks, ctx: ctx, kept: make(map[linkKey]*link),
	}
}

// Sent counts the messages that were written.
func (ls *Links) Sent() uint64 { return ls.sent.Load() }

// Dropped counts the messages that could not be sent.
func (ls *Links) Dropped() uint64 { return ls.dropped.Load() }

type linkKey struct {
	to   feedring.PeerID
	verb feedring.Verb
}

// link is one of them. Its queue grows with what waits: there may be thousands.
type link struct {
	key   linkKey
	queue []outgoing    // guarded by Links.mu
	wake  chan struct{} // holds one
}

type outgoing struct {
	message feedring.Message
	fresh   bool
	at      time.Time
}

// Send queues m. It never blocks.
func (ls *Links) Send(to feedring.PeerID, m feedring.Message, fresh bool) {
	key := linkKey{to, m.Verb()}
	out := outgoing{message: m, fresh: fresh, at: time.Now()}
	ls.mu.Lock()
	defer ls.mu.Unlock()
	l := ls.kept[key]
	if l == nil {
		l = &link{key: key, wake: make(chan struct{}, 1)}
		if !ls.tasks.Run(func() { ls.write(l) }) {
			return
		}
		ls.kept[key] = l
	}
	if len(l.queue) >= linkQueue {
		ls.dropped.Add(1)
		return
	}
	l.queue = append(l.queue, out)
	ls.busy.Add(1)
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// write serves one link until it is idle.
func (ls *Links) write(l *link) {
	var s network.Stream
	defer func() {
		if s != nil {
			_ = s.Close()
		}
	}()
	idle := time.NewTimer(linkIdle)
	defer idle.Stop()
	for {
		select {
		case <-ls.ctx.Done():
			return
		case <-idle.C:
			if ls.retire(l) {
				return
			}
		case <-l.wake:
			for waiting := ls.take(l); len(waiting) > 0 && ls.ctx.Err() == nil; waiting = ls.take(l) {
				s = ls.deliver(l.key, s, waiting)
			}
		}
		idle.Reset(linkIdle)
	}
}

// take empties the queue.
func (ls *Links) take(l *link) []outgoing {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	waiting := l.queue
	l.queue = nil
	return waiting
}

// retire forgets a link that has nothing to send.
func (ls *Links) retire(l *link) bool {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if len(l.queue) > 0 {
		return false
	}
	delete(ls.kept, l.key)
	return true
}

// deliver writes messages in large pieces, on s or on a new stream. Where no
// stream can be opened all of them are dropped.
func (ls *Links) deliver(key linkKey, s network.Stream, waiting []outgoing) network.Stream {
	defer ls.busy.Add(-int64(len(waiting)))
	for len(waiting) > 0 {
		batch, rest := ls.collect(key, waiting)
		if len(batch.frames) > 0 {
			if s = ls.put(key, s, batch); s == nil {
				ls.dropped.Add(uint64(batch.count + len(rest)))
				return nil
			}
			ls.sent.Add(uint64(batch.count))
		}
		waiting = rest
	}
	return s
}

// framesOut is frames that are written at once.
type framesOut struct {
	frames []byte
	count  int
	fresh  bool
}

// put writes a batch. A kept stream may have died unnoticed: then it is tried
// once more, on a new one.
func (ls *Links) put(key linkKey, s network.Stream, b framesOut) network.Stream {
	for range 2 {
		if s == nil {
			var err error
			if s, err = ls.dial(key, b.fresh); err != nil {
				ls.log.Debug("messages dropped", "to", key.to.Short(), "verb", key.verb, "err", err)
				return nil
			}
		}
		_ = s.SetWriteDeadline(time.Now().Add(linkWrite))
		if _, err := s.Write(b.frames); err == nil {
			return s
		}
		_ = s.Reset()
		s = nil
	}
	return nil
}

func (ls *Links) dial(key linkKey, fresh bool) (network.Stream, error) {
	ctx, cancel := context.WithTimeout(ls.ctx, max(ls.stale, time.Second))
	defer cancel()
	return ls.dialer.Open(ctx, key.to, key.verb, fresh)
}

// collect encodes what fits into one write, without what is too old to be worth
// sending, and returns the rest.
func (ls *Links) collect(key linkKey, waiting []outgoing) (b framesOut, rest []outgoing) {
	for i := range waiting {
		next := &waiting[i]
		if time.Since(next.at) > ls.stale {
			ls.dropped.Add(1)
			continue
		}
		frame, err := ls.frames.encode(next.message)
		if err != nil {
			ls.log.Error("message cannot be encoded", "verb", key.verb, "err", err)
			continue
		}
		b.frames = append(b.frames, frame...)
		b.count++
		b.fresh = b.fresh || next.fresh
		if len(b.frames) >= linkBatch {
			return b, waiting[i+1:]
		}
	}
	return b, nil
}

const (
	drainLook   = 5 * time.Millisecond
	drainLinger = 20 * time.Millisecond // what was written leaves a moment later
)

// Drain waits until nothing is queued, or ctx ends.
func (ls *Links) Drain(ctx context.Context) {
	tick := time.NewTicker(drainLook)
	defer tick.Stop()
	for quiet := time.Duration(0); quiet < drainLinger; quiet += drainLook {
		if ls.busy.Load() > 0 {
			quiet = 0
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
