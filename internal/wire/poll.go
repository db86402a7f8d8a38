package wire

import (
	"fmt"
	"time"

	"github.com/feedring/feedring"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// PollTo asks for the entries of ref after a position, without those that were
// seen before fresh.
func PollTo(ref feedring.FeedRef, after feedring.Position, fresh time.Time) *feedringv1.PollRequest {
	return &feedringv1.PollRequest{
		Feed: ref.URL, Publisher: PeerBytes(ref.Publisher), After: PositionTo(after), FreshUnixMs: TimeTo(fresh),
	}
}

// PollFrom is the inverse of PollTo.
func PollFrom(r *feedringv1.PollRequest) (ref feedring.FeedRef, after feedring.Position, fresh time.Time, err error) {
	var d Decoder
	ref = feedring.FeedRef{URL: d.Text("feed", r.GetFeed(), maxURL), Publisher: d.Peer("publisher", r.GetPublisher())}
	after, fresh = PositionFrom(r.GetAfter()), d.Time("fresh", r.GetFreshUnixMs())
	if ref.URL == "" {
		d.Malformed("feed", "empty")
	}
	if d.Err() != nil {
		return feedring.FeedRef{}, feedring.Position{}, time.Time{}, fmt.Errorf("poll: %w", d.Err())
	}
	return ref, after, fresh, nil
}
