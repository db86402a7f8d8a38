package host

import (
	"context"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/multiformats/go-multistream"

	"github.com/feedring/feedring"
)

const (
	proofWithin  = time.Second     // for a connection to show that its other end lives
	suspectAgain = 2 * time.Second // one peer is not asked more often
	maxSuspects  = 1024
)

// suspects remembers when peers were asked for a sign of life.
type suspects struct {
	mu    sync.Mutex
	asked map[peer.ID]suspicion
}

type suspicion struct {
	at    time.Time
	again bool // to be asked once more when it may be
}

// Suspect asks the other end of every connection to a peer for a sign of life,
// and closes those that give none, in the background. QUIC notices a dead peer
// after 42 s only, and a peer that was killed and came back at another port
// leaves a connection that takes everything and brings nothing: libp2p would go
// on choosing it, since it has the most streams. It is cheap to call often: who was
// asked a moment ago, and may have died since, is asked once more a little later.
func (h *Host) Suspect(to feedring.PeerID) {
	id, err := peer.Decode(string(to))
	if err != nil {
		return
	}
	wait, ask := h.suspects.mayAsk(id, time.Now())
	switch {
	case !ask:
	case wait > 0:
		h.background(func() {
			select {
			case <-h.ctx.Done():
			case <-time.After(wait):
				h.Suspect(to)
			}
		})
	default:
		for _, c := range h.lib.Network().ConnsToPeer(id) {
			h.background(func() { h.prove(c) })
		}
	}
}

// prove closes c unless its other end answers.
func (h *Host) prove(c network.Conn) {
	ctx, cancel := context.WithTimeout(h.ctx, proofWithin)
	defer cancel()
	if h.answers(ctx, c) || h.ctx.Err() != nil {
		return
	}
	h.log.Debug("connection is dead: closed", "peer", c.RemotePeer(), "addr", c.RemoteMultiaddr())
	_ = c.Close()
}

// answers opens a stream on this very connection and waits for the other end
// to agree on a protocol: any agreement or refusal is a sign of life.
func (h *Host) answers(ctx context.Context, c network.Conn) bool {
	s, err := c.NewStream(network.WithAllowLimitedConn(ctx, "feedring"))
	if err != nil {
		return false
	}
	defer func() { _ = s.Reset() }()
	deadline, _ := ctx.Deadline()
	if err := s.SetDeadline(deadline); err != nil {
		return false
	}
	err = multistream.SelectProtoOrFail(h.protocol(presence), s)
	_, refused := err.(multistream.ErrNotSupported[protocol.ID])
	return err == nil || refused
}

// mayAsk reports whether a peer is to be asked, and how long from now.
func (s *suspects) mayAsk(id peer.ID, now time.Time) (wait time.Duration, ask bool) {
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

// newcomer suspects the older connections of a peer that connects once more:
// it may have started anew.
func (h *Host) newcomer(_ network.Network, c network.Conn) {
	h.awaitHello(c)
	if len(h.lib.Network().ConnsToPeer(c.RemotePeer())) > 1 {
		h.Suspect(feedring.PeerID(c.RemotePeer().String()))
	}
}
