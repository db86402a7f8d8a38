package node

import (
	"errors"
	"io"

	"github.com/libp2p/go-libp2p/core/network"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/node/codec"
)

// receiveIdle ends a kept stream on which nothing came: the other side's link
// ends before.
const receiveIdle = 2 * linkIdle

// handler serves one stream from one peer.
type handler func(from feedring.PeerID, s *wire.Stream) error

// served is every verb that other programs may open a stream for, beside those
// of the machine.
func (n *Node) served() map[feedring.Verb]handler {
	return map[feedring.Verb]handler{
		wire.VerbAsk:    n.serveAsk,
		wire.VerbAttach: n.serveAttach,
		wire.VerbPoll:   n.servePoll,
		wire.VerbInfo:   n.serveInfo,

		wire.VerbPresence: n.servePresence,
	}
}

// listen registers all handlers.
func (n *Node) listen() {
	for verb, handle := range n.served() {
		n.host.Handle(verb, n.handled(verb, handle))
	}
	for _, verb := range codec.Verbs() {
		n.host.Handle(verb, n.handled(verb, n.receive(verb)))
	}
}

// handled runs a handler and ends its stream: in good order, or with a reset
// where something was wrong or too many are open.
func (n *Node) handled(verb feedring.Verb, handle handler) func(network.Stream) {
	return func(s network.Stream) {
		if !n.background(func() {
			from := feedring.PeerID(s.Conn().RemotePeer().String())
			if n.limits.take(n.ctx, from, verb) != nil {
				_ = s.Reset()
				return
			}
			defer n.limits.give(from, verb)
			err := handle(from, wire.NewStream(s))
			if err == nil || errors.Is(err, io.EOF) {
				_ = s.Close()
				return
			}
			n.log.Debug("stream ended", "verb", verb, "from", from.Short(), "err", err)
			_ = s.Reset()
		}) {
			_ = s.Reset()
		}
	}
}

// receive hands the messages of one verb to the machine, in their order, and no
// faster than one peer may send.
func (n *Node) receive(verb feedring.Verb) handler {
	return func(from feedring.PeerID, s *wire.Stream) error {
		pace := n.limits.pace(from)
		defer n.limits.unpace(pace)
		for {
			if err := pace.Wait(n.ctx); err != nil {
				return err
			}
			frame, err := s.ReceiveFrame(receiveIdle)
			if err != nil {
				return err
			}
			m, err := codec.Decode(n.verifier, verb, frame)
			if err != nil {
				n.refused.Add(1)
				return err
			}
			n.heard()
			if !n.loop.Post(peer.Receive{From: from, Message: m}) {
				return nil
			}
		}
	}
}
