// Package polls is a poll and its answer as they travel: the request, what a
// part says beside its items, and how parts are packed.
package polls

import (
	"fmt"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/peerid"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// Request asks any holder for the entries of a feed.
type Request struct {
	Feed  feedring.FeedRef
	After feedring.Position
	Fresh time.Time // what was seen before is left out; zero: nothing
	// Dictionary names what the answer may be packed with, see Dictionary.Name;
	// empty: it comes as it is.
	Dictionary string
	Entry      feedring.EntryID // who else published it is asked; empty: no
}

const (
	maxPublishedBy = 16
	// MaxPublished is how many versions by others one answer shows.
	MaxPublished = 4
)

// maxDictionaryName is the longest name of a dictionary, in bytes: a later version may
// name them in another way, and is answered without.
const maxDictionaryName = 32

// RequestTo is a poll as it travels.
func RequestTo(p Request) *feedringv1.PollRequest {
	return &feedringv1.PollRequest{
		Feed: p.Feed.URL, Publisher: peerid.Bytes(p.Feed.Publisher), After: wire.PositionTo(p.After), FreshUnixMs: wire.TimeTo(p.Fresh),
		Dictionary: []byte(p.Dictionary), Entry: string(p.Entry),
	}
}

// RequestFrom is the inverse of RequestTo.
func RequestFrom(r *feedringv1.PollRequest) (Request, error) {
	var d wire.Decoder
	p := Request{
		Feed:  feedring.FeedRef{URL: d.Text("feed", r.GetFeed(), wire.MaxURL), Publisher: d.Peer("publisher", r.GetPublisher())},
		After: wire.PositionFrom(r.GetAfter()), Fresh: d.Time("fresh", r.GetFreshUnixMs()),
		Dictionary: d.Text("dictionary", string(r.GetDictionary()), maxDictionaryName),
		Entry:      feedring.EntryID(d.Text("entry", r.GetEntry(), 32)),
	}
	if p.Feed.URL == "" {
		d.Malformed("feed", "empty")
	}
	if d.Err() != nil {
		return Request{}, fmt.Errorf("poll: %w", d.Err())
	}
	return p, nil
}

// PublishedByTo says in a part who else published the entry that was asked about.
func PublishedByTo(part *feedringv1.PollPart, others []feedring.PeerID) {
	for _, id := range others[:min(len(others), maxPublishedBy)] {
		part.PublishedBy = append(part.PublishedBy, peerid.Bytes(id))
	}
}

// PublishedByFrom is the inverse of PublishedByTo.
func PublishedByFrom(part *feedringv1.PollPart) ([]feedring.PeerID, error) {
	var d wire.Decoder
	return d.Peers("published by", part.GetPublishedBy(), maxPublishedBy), d.Err()
}

// DroppedTo says in a part up to when the holder dropped what comes before it,
// rounded up; zero: nothing that was asked for.
func DroppedTo(part *feedringv1.PollPart, at time.Time) {
	if !at.IsZero() {
		part.DroppedUnixMs = wire.TimeTo(at.Add(time.Millisecond - 1))
	}
}

// DroppedFrom is the inverse of DroppedTo.
func DroppedFrom(part *feedringv1.PollPart) (time.Time, error) {
	var d wire.Decoder
	at := d.Time("dropped", part.GetDroppedUnixMs())
	return at, d.Err()
}
