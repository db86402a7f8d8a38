package wire

import (
	"fmt"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/wire/peerid"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// Encoder turns words into protobuf and keeps the first thing that was wrong,
// so that a conversion reads as a list of fields. The zero value is ready.
type Encoder struct {
	err error
	// The last peer: lists name the same one again and again, and the text form
	// is slow to read.
	last feedring.PeerID
	raw  []byte
}

// Err is the first error.
func (e *Encoder) Err() error { return e.err }

// Fail notes an error.
func (e *Encoder) Fail(err error) {
	if e.err == nil {
		e.err = err
	}
}

// Peer is PeerBytes, where an id that is neither empty nor a peer's is an error.
func (e *Encoder) Peer(id feedring.PeerID) []byte {
	if id == "" {
		return nil
	}
	if id == e.last {
		return e.raw
	}
	raw := peerid.Bytes(id)
	if raw == nil {
		e.Fail(fmt.Errorf("peer id %q: %w", cutText(string(id), 80), ErrMalformed))
	}
	e.last, e.raw = id, raw
	return raw
}

// Peers is Peer for many.
func (e *Encoder) Peers(ids []feedring.PeerID) [][]byte {
	return Each(ids, func(id *feedring.PeerID) []byte { return e.Peer(*id) })
}

// Info is a peer with its addresses, nil for nobody.
func (e *Encoder) Info(p feedring.PeerInfo) *feedringv1.PeerInfo {
	if p.ID == "" && len(p.Addrs) == 0 {
		return nil
	}
	return &feedringv1.PeerInfo{Id: e.Peer(p.ID), Addrs: p.Addrs}
}

// Term is a term, nil for the zero one.
func (e *Encoder) Term(t feedring.Term) *feedringv1.Term {
	if t.IsZero() {
		return nil
	}
	return &feedringv1.Term{Number: t.Number, Claimant: e.Peer(t.Claimant)}
}

// Ref is a feed's name, nil for the zero one.
func (e *Encoder) Ref(r feedring.FeedRef) *feedringv1.FeedRef {
	if r == (feedring.FeedRef{}) {
		return nil
	}
	return &feedringv1.FeedRef{Url: r.URL, Publisher: e.Peer(r.Publisher)}
}

// Head is a head.
func (e *Encoder) Head(h *feedring.Head) *feedringv1.Head {
	return &feedringv1.Head{
		Url: h.Feed.URL, Publisher: e.Peer(h.Feed.Publisher),
		Epoch: h.Position.Epoch, Sequence: h.Position.Sequence, Hash: hashTo(h.Hash),
	}
}

// Heads is Head for many.
func (e *Encoder) Heads(heads []feedring.Head) []*feedringv1.Head { return Each(heads, e.Head) }

// Feed is a feed of a row.
func (e *Encoder) Feed(f *feedring.Feed) *feedringv1.Feed {
	return &feedringv1.Feed{Url: f.URL, Title: cutText(f.Title, maxTitle), Provider: string(f.Provider), Epoch: f.Epoch, Carried: f.Carried}
}

// Feeds is Feed for many.
func (e *Encoder) Feeds(feeds []feedring.Feed) []*feedringv1.Feed { return Each(feeds, e.Feed) }

func hashTo(h [32]byte) []byte {
	if h == ([32]byte{}) {
		return nil
	}
	return h[:]
}

// Each converts a list, nil for an empty one.
func Each[A, B any](from []A, convert func(*A) B) []B {
	if len(from) == 0 {
		return nil
	}
	to := make([]B, len(from))
	for i := range from {
		to[i] = convert(&from[i])
	}
	return to
}
