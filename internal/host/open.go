package host

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	"github.com/multiformats/go-multistream"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/host/addr"
	"github.com/feedring/feedring/internal/wire"
)

// The ways in which a stream cannot be opened. Where ctx ended, its error is
// in the chain too.
var (
	ErrUnreachable = errors.New("peer cannot be reached")
	ErrForeign     = errors.New("peer is of another network or version")
	ErrBusy        = errors.New("too many streams or connections")
)

const (
	lookAgain  = 30 * time.Second // the address book is not asked for one peer more often
	maxLooked  = 4096
	lookWithin = 5 * time.Second
)

// guards is small state of opening and protecting.
type guards struct {
	mu     sync.Mutex
	looked map[peer.ID]time.Time // when the address book was asked
	tags   map[string][]peer.ID  // who is protected
}

// Open opens a stream to a peer for one verb, and connects first where no
// connection stands: at the addresses known, else at those in the address
// book. It blocks until ctx ends, at most ten seconds. fresh forgets that
// earlier dials failed, for probes that must not wait for libp2p's back-off.
//
// The first write may travel together with the choice of the protocol, so a
// peer that does not speak verb may show only at the first read. A connection
// whose other end is dead opens streams all the same: set deadlines.
func (h *Host) Open(ctx context.Context, to feedring.PeerID, verb feedring.Verb, fresh bool) (network.Stream, error) {
	id, err := peer.Decode(string(to))
	if err != nil {
		return nil, fmt.Errorf("%w: %q is no peer id", ErrUnreachable, addr.Clip(string(to)))
	}
	if fresh {
		h.clearBackoff(id)
		h.Suspect(to)
	}
	if verb != wire.VerbHello {
		if err := h.greet(ctx, id); err != nil {
			return nil, fmt.Errorf("%s to %s: %w", verb, to.Short(), err)
		}
	}
	return h.open(ctx, id, verb)
}

// open is Open without a hello.
func (h *Host) open(ctx context.Context, id peer.ID, verb feedring.Verb) (network.Stream, error) {
	if !h.connected(id) && len(h.dialable(id)) == 0 {
		h.look(ctx, id)
	}
	ctx = network.WithAllowLimitedConn(ctx, "feedring")
	s, err := h.lib.NewStream(ctx, id, h.protocol(verb))
	if err != nil && !h.connected(id) && ctx.Err() == nil && h.look(ctx, id) {
		h.clearBackoff(id)
		s, err = h.lib.NewStream(ctx, id, h.protocol(verb))
	}
	if err != nil {
		return nil, fmt.Errorf("%s to %s: %w", verb, feedring.PeerID(id.String()).Short(), h.classify(id, err))
	}
	h.members.Gained(id, "")
	return stream{s}, nil
}

// stream is a stream whose Close does not fail: QUIC calls it an error if the
// other end closed first, as one does that has said all. Who must know that
// something arrived waits for an answer.
type stream struct{ network.Stream }

// Close closes both directions.
func (s stream) Close() error {
	_ = s.Stream.Close()
	return nil
}

// Handle serves verb with f, which owns the stream and runs on a goroutine of
// its own. The other end is proven: Conn().RemotePeer() of the stream. On a network
// with a charter whoever is not admitted is served the verb hello only.
func (h *Host) Handle(verb feedring.Verb, f func(network.Stream)) {
	h.lib.SetStreamHandler(h.protocol(verb), func(s network.Stream) {
		if verb != wire.VerbHello && !h.admits(s.Conn().RemotePeer()) {
			_ = s.Reset()
			return
		}
		h.members.Gained(s.Conn().RemotePeer(), "")
		f(stream{s})
	})
}

func (h *Host) clearBackoff(id peer.ID) {
	if s, ok := h.lib.Network().(interface{ Backoff() *swarm.DialBackoff }); ok {
		s.Backoff().Clear(id)
	}
}

// look asks the address book where id is, and reports whether that gave an
// address that was not known.
func (h *Host) look(ctx context.Context, id peer.ID) bool {
	if !h.mayLook(id) {
		return false
	}
	before := h.dialable(id)
	ctx, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	info, err := h.dht.FindPeer(ctx, id)
	if err != nil {
		return false
	}
	h.remember(id, info.Addrs, learnTTL)
	return len(h.dialable(id)) > len(before)
}

func (h *Host) mayLook(id peer.ID) bool {
	if h.dht == nil || h.dht.RoutingTable().Size() == 0 {
		return false
	}
	h.guards.mu.Lock()
	defer h.guards.mu.Unlock()
	now := time.Now()
	if at, ok := h.guards.looked[id]; ok && now.Sub(at) < lookAgain {
		return false
	}
	if len(h.guards.looked) >= maxLooked {
		clear(h.guards.looked)
	}
	h.guards.looked[id] = now
	return true
}

// classify puts the kind of a failure in front of it. What a peer said of its
// network explains more than how its connection was lost.
func (h *Host) classify(id peer.ID, err error) error {
	if e := h.foreign(id); e != nil {
		return e
	}
	var refused *network.StreamError
	var unspoken multistream.ErrNotSupported[protocol.ID]
	switch {
	case errors.As(err, &unspoken):
		return fmt.Errorf("%w: %w", ErrForeign, err)
	case errors.Is(err, network.ErrResourceLimitExceeded),
		errors.As(err, &refused) && refused.ErrorCode == network.StreamResourceLimitExceeded:
		return fmt.Errorf("%w: %w", ErrBusy, err)
	default:
		return fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
}

// Protect keeps the connections to exactly these peers, for this tag, when
// connections are trimmed. Call it with no peers to release a tag.
func (h *Host) Protect(tag string, peers []feedring.PeerID) {
	var ids []peer.ID
	for _, p := range peers {
		if id, err := peer.Decode(string(p)); err == nil {
			ids = append(ids, id)
		}
	}
	h.guards.mu.Lock()
	defer h.guards.mu.Unlock()
	for _, id := range h.guards.tags[tag] {
		h.lib.ConnManager().Unprotect(id, tag)
	}
	for _, id := range ids {
		h.lib.ConnManager().Protect(id, tag)
	}
	if len(ids) == 0 {
		delete(h.guards.tags, tag)
		return
	}
	h.guards.tags[tag] = ids
}
