// Package suspect finds connections whose other end is dead, and closes them.
package suspect

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/multiformats/go-multistream"
)

const (
	proofWithin  = time.Second     // for a connection to show that its other end lives
	suspectAgain = 2 * time.Second // one peer is not asked more often
	maxSuspects  = 1024
)

// Tasks run in the background, until the host closes.
type Tasks interface {
	Run(func(context.Context))
}

// Suspects remembers when peers were asked for a sign of life. All methods may be
// called at the same time.
type Suspects struct {
	verb  protocol.ID // that every host of the network speaks
	tasks Tasks
	log   *slog.Logger

	mu    sync.Mutex
	asked map[peer.ID]suspicion
}

// New returns Suspects of which none was asked.
func New(verb protocol.ID, tasks Tasks, log *slog.Logger) *Suspects {
	return &Suspects{verb: verb, tasks: tasks, log: log, asked: make(map[peer.ID]suspicion)}
}

type suspicion struct {
	at    time.Time
	again bool // to be asked once more when it may be
}

// Ask asks the other end of every connection to a peer for a sign of life, and closes
// those that give none, in the background. QUIC notices a dead peer after 42 s only, and
// a peer that was killed and came back at another port leaves a connection that takes
// everything and brings nothing: libp2p would go on choosing it, since it has the most
// streams. It is cheap to call often: who was asked a moment ago, and may have died
// since, is asked once more a little later.
func (s *Suspects) Ask(net network.Network, id peer.ID) {
	wait, ask := s.mayAsk(id, time.Now())
	switch {
	case !ask:
	case wait > 0:
		s.tasks.Run(func(ctx context.Context) {
			select {
			case <-ctx.Done():
			case <-time.After(wait):
				s.Ask(net, id)
			}
		})
	default:
		for _, c := range net.ConnsToPeer(id) {
			s.tasks.Run(func(ctx context.Context) { s.prove(ctx, c) })
		}
	}
}

// prove closes c unless its other end answers.
func (s *Suspects) prove(ctx context.Context, c network.Conn) {
	within, cancel := context.WithTimeout(ctx, proofWithin)
	defer cancel()
	if s.answers(within, c) || ctx.Err() != nil {
		return
	}
	s.log.Debug("connection is dead: closed", "peer", c.RemotePeer(), "addr", c.RemoteMultiaddr())
	_ = c.Close()
}

// answers opens a stream on this very connection and waits for the other end
// to agree on a protocol: any agreement or refusal is a sign of life.
func (s *Suspects) answers(ctx context.Context, c network.Conn) bool {
	stream, err := c.NewStream(network.WithAllowLimitedConn(ctx, "feedring"))
	if err != nil {
		return false
	}
	defer func() { _ = stream.Reset() }()
	deadline, _ := ctx.Deadline()
	if err := stream.SetDeadline(deadline); err != nil {
		return false
	}
	err = multistream.SelectProtoOrFail(s.verb, stream)
	_, refused := err.(multistream.ErrNotSupported[protocol.ID])
	return err == nil || refused
}

// mayAsk reports whether a peer is to be asked, and how long from now.
func (s *Suspects) mayAsk(id peer.ID, now time.Time) (wait time.Duration, ask bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last, known := s.asked[id]
	if wait = last.at.Add(suspectAgain).Sub(now); known && wait > 0 {
		ask = !last.again
		s.asked[id] = suspicion{last.at, true}
		return wait, ask
	}
	if len(s.asked) >= maxSuspects {
		clear(s.asked)
	}
	s.asked[id] = suspicion{at: now}
	return 0, true
}
