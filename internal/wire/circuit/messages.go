package circuit

import (
	"fmt"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/peerid"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// MaxNames is how many peers a relay names.
const MaxNames = 16

// RequestTo asks for a circuit to end, or with "" for names of peers.
func RequestTo(end feedring.PeerID) *feedringv1.PassRequest {
	return &feedringv1.PassRequest{End: peerid.Bytes(end)}
}

// RequestFrom is the inverse of RequestTo.
func RequestFrom(r *feedringv1.PassRequest) (end feedring.PeerID, err error) {
	var d wire.Decoder
	end = d.Maybe("end", r.GetEnd())
	if d.Err() != nil {
		return "", fmt.Errorf("circuit: %w", d.Err())
	}
	return end, nil
}

// ReplyTo is what a relay answers: names, or that there is a circuit.
func ReplyTo(names []feedring.PeerInfo) *feedringv1.PassReply {
	var e wire.Encoder
	return &feedringv1.PassReply{Peers: wire.Each(names, func(p *feedring.PeerInfo) *feedringv1.PeerInfo { return e.Info(*p) })}
}

// RefusalTo is why a relay opens no circuit.
func RefusalTo(kind feedringv1.ErrorKind, text string) *feedringv1.PassReply {
	return &feedringv1.PassReply{Error: wire.ErrorTo(kind, text)}
}

// ReplyFrom returns the names in a reply, which there may be beside a refusal, a
// *wire.RemoteError.
func ReplyFrom(r *feedringv1.PassReply) ([]feedring.PeerInfo, error) {
	var d wire.Decoder
	var names []feedring.PeerInfo
	if d.Within("peers", len(r.GetPeers()), MaxNames) {
		names = wire.Each(r.GetPeers(), func(p **feedringv1.PeerInfo) feedring.PeerInfo { return d.Info("peer", *p) })
	}
	if d.Err() != nil {
		return nil, fmt.Errorf("relay: %w", d.Err())
	}
	if r.GetError() != nil {
		return names, wire.ErrorFrom(r.GetError())
	}
	return names, nil
}
