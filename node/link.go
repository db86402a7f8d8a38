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

	ctx     context.Context
	mu      sync.Mutex
	kept    map[linkKey]*link
	running sync.WaitGroup

	busy          atomic.Int64 // messages queued or being written
	sent, dropped atomic.Uint64
}

type linkKey struct {
	to   feedring.PeerID
	verb feedring.Verb
}

type link struct {
	key   linkKey
	queue chan outgoing
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
	if ls.ctx.Err() != nil {
		return
	}
	l := ls.kept[key]
	if l == nil {
		l = &link{key: key, queue: make(chan outgoing, linkQueue)}
		ls.kept[key] = l
		ls.running.Go(func() { ls.write(l) })
	}
	select {
	case l.queue <- out:
		ls.busy.Add(1)
	default:
		ls.dropped.Add(1)
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
		case first := <-l.queue:
			s = ls.deliver(l, s, first)
		}
		idle.Reset(linkIdle)
	}
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

// deliver writes first and what waits behind it, on s or on a new stream. A
// kept stream may have died unnoticed: the write is tried once more on a new
// one.
func (ls *links) deliver(l *link, s stream, first outgoing) stream {
	batch, count := ls.collect(l, first)
	defer ls.busy.Add(-count)
	if len(batch) == 0 {
		return s
	}
	for try := 0; try < 2; try++ {
		if s == nil {
			var err error
			if s, err = ls.dial(l.key, first.fresh); err != nil {
				ls.log.Debug("message dropped", "to", l.key.to.Short(), "verb", l.key.verb, "err", err)
				ls.dropped.Add(1)
				return nil
			}
		}
		_ = s.SetWriteDeadline(time.Now().Add(linkWrite))
		if _, err := s.Write(batch); err == nil {
			return s
		}
		_ = s.Reset()
		s = nil
	}
	ls.dropped.Add(1)
	return nil
}

func (ls *links) dial(key linkKey, fresh bool) (stream, error) {
	ctx, cancel := context.WithTimeout(ls.ctx, max(ls.stale, time.Second))
	defer cancel()
	return ls.open(ctx, key.to, key.verb, fresh)
}

// collect encodes first and what waits behind it, without what is too old to
// be worth sending, and tells how many messages that was.
func (ls *links) collect(l *link, first outgoing) (batch []byte, count int64) {
	next := first
	for {
		count++
		if time.Since(next.at) <= ls.stale {
			frame, err := ls.encode(next.message)
			if err != nil {
				ls.log.Error("message cannot be encoded", "verb", l.key.verb, "err", err)
			} else {
				batch = append(batch, frame...)
				ls.sent.Add(1)
			}
		}
		if len(batch) >= linkBatch {
			return batch, count
		}
		select {
		case next = <-l.queue:
		default:
			return batch, count
		}
	}
}

// drain waits until nothing is queued, or ctx ends.
func (ls *links) drain(ctx context.Context) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for ls.busy.Load() > 0 {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
