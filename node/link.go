package node

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/feedring/feedring"
)

const (
	linkQueue = 512              // messages waiting for one link; more are dropped, machines repeat what matters
	linkIdle  = 30 * time.Second // an unused stream is given back
	linkBatch = 64 << 10         // bytes written at once
	linkWrite = 5 * time.Second  // a write that takes longer ends the stream
)

// stream is what a link needs of a libp2p stream.
type stream interface {
	Write(p []byte) (int, error)
	SetWriteDeadline(time.Time) error
	Close() error
	Reset() error
}

// links keeps one outgoing stream for each verb and peer that is in use, with
// one goroutine that writes to it, so that a beacon never waits for a catalogue
// and the loop never waits for a peer.
type links struct {
	open   func(ctx context.Context, to feedring.PeerID, verb feedring.Verb, fresh bool) (stream, error)
	encode func(feedring.Message) ([]byte, error) // a whole frame
	stale  time.Duration                          // a message that waited longer is dropped
	log    *slog.Logger

	spawn func(func()) bool
	ctx   context.Context
	mu    sync.Mutex
	kept  map[linkKey]*link

	busy          atomic.Int64 // messages queued or being written
	sent, dropped atomic.Uint64
}

type linkKey struct {
	to   feedring.PeerID
	verb feedring.Verb
}

// link is one of them. Its queue grows with what waits: there may be thousands.
type link struct {
	key   linkKey
	queue []outgoing    // guarded by links.mu
	wake  chan struct{} // holds one
}

type outgoing struct {
	message feedring.Message
	fresh   bool
	at      time.Time
}

// send queues m. It never blocks.
func (ls *links) send(to feedring.PeerID, m feedring.Message, fresh bool) {
	key := linkKey{to, m.Verb()}
	out := outgoing{message: m, fresh: fresh, at: time.Now()}
	ls.mu.Lock()
	defer ls.mu.Unlock()
	l := ls.kept[key]
	if l == nil {
		l = &link{key: key, wake: make(chan struct{}, 1)}
		if !ls.spawn(func() { ls.write(l) }) {
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
func (ls *links) write(l *link) {
	var s stream
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
func (ls *links) take(l *link) []outgoing {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	waiting := l.queue
	l.queue = nil
	return waiting
}

// retire forgets a link that has nothing to send.
func (ls *links) retire(l *link) bool {
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
func (ls *links) deliver(key linkKey, s stream, waiting []outgoing) stream {
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
func (ls *links) put(key linkKey, s stream, b framesOut) stream {
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

func (ls *links) dial(key linkKey, fresh bool) (stream, error) {
	ctx, cancel := context.WithTimeout(ls.ctx, max(ls.stale, time.Second))
	defer cancel()
	return ls.open(ctx, key.to, key.verb, fresh)
}

// collect encodes what fits into one write, without what is too old to be worth
// sending, and returns the rest.
func (ls *links) collect(key linkKey, waiting []outgoing) (b framesOut, rest []outgoing) {
	for i := range waiting {
		next := &waiting[i]
		if time.Since(next.at) > ls.stale {
			ls.dropped.Add(1)
			continue
		}
		frame, err := ls.encode(next.message)
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

// drain waits until nothing is queued, or ctx ends.
func (ls *links) drain(ctx context.Context) {
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
