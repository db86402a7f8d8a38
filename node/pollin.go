package node

import (
	"errors"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/wire"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

const (
	pollRead  = 10 * time.Second
	partItems = 200
	partBytes = 1 << 20
)

var errPrivateFeed = errors.New("no such feed")

// servePoll answers another peer's poll, in parts. Any holder may answer: the
// entries carry their publisher's signature.
func (n *Node) servePoll(_ feedring.PeerID, s *wire.Stream) error {
	var req feedringv1.PollRequest
	if err := s.Receive(&req, pollRead); err != nil {
		return err
	}
	ref, after, fresh, err := wire.PollFrom(&req)
	if err != nil {
		return err
	}
	h, ok := n.store.Head(ref)
	if ok && h.Private {
		return errPrivateFeed
	}
	for range pollParts {
		part, last, more, err := n.pollPart(ref, after, fresh)
		if err != nil {
			return err
		}
		if err := s.Send(part, pollWithin); err != nil {
			return err
		}
		if !more {
			return nil
		}
		after = last
	}
	return nil
}

// pollPart reads one part: what is stored of ref after a position, without what
// was seen before fresh. What is left out makes no parts: a long history before
// it must not use up the answer. The log of a feed that moved here from another
// theme, or was private, holds what is not of this group.
// Where nothing is fresh, the newest entry is sent: it proves how far the log goes.
func (n *Node) pollPart(ref feedring.FeedRef, after feedring.Position, fresh time.Time) (*feedringv1.PollPart, feedring.Position, bool, error) {
	part := &feedringv1.PollPart{}
	var newest *feedringv1.Sealed
	for {
		items, err := n.store.Scan(n.ctx, ref, after, partItems, partBytes)
		if err != nil {
			return nil, after, false, err
		}
		h, _ := n.store.Head(ref)
		for i := range items {
			it := &items[i]
			after = it.Position
			if it.Private || it.Theme != h.Theme {
				continue
			}
			newest = wire.SealTo(&feedring.Seal{Signer: ref.Publisher, Payload: it.Payload, Signature: it.Signature})
			if it.Seen.After(fresh) {
				part.Items = append(part.Items, newest)
			}
		}
		part.Head, part.More = wire.PositionTo(h.Last), len(items) > 0 && after.Compare(h.Last) < 0
		if len(part.Items) == 0 && !part.More && newest != nil {
			part.Items = append(part.Items, newest)
		}
		if len(part.Items) > 0 || !part.More {
			return part, after, part.More, nil
		}
	}
}
