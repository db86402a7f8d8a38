package wire

import (
	"fmt"
	"time"

	"github.com/feedring/feedring"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// Frame is one frame of what a provider sends: exactly one of its fields is
// set, none for a mere sign of life.
type Frame struct {
	Item    *Item
	Mark    feedring.Cursor // everything through here was shown
	Caught  *int            // the first answer is whole, of so many entries
	Stemmed bool            // with Caught: the provider chose by stems
	Hints   *feedring.Hints // with Caught: which entries they are, instead of them; nil: they came
	Refused *RefusedError
}

// Item is one entry that matches, still sealed: open it with Verifier.Entry.
type Item struct {
	Seal      *feedring.Seal
	VouchedBy string // a site; told by the provider, not signed
	// Arrived is when the provider got an entry that is dated ahead; told by the
	// provider, not signed. Zero: its date stands.
	Arrived time.Time
}

// RefusedError is a provider's refusal.
type RefusedError struct {
	Kind   feedringv1.RefusedKind
	Reason string
	Feeds  []feedring.FeedRef // that are behind; nil: the provider does not say
}

// Error names one feed: a line is for one thing.
func (e *RefusedError) Error() string {
	switch more := len(e.Feeds) - 1; {
	case more < 0:
		return e.Reason
	case more == 0:
		return e.Reason + ": " + e.Feeds[0].URL
	default:
		return fmt.Sprintf("%s: %s and %d more", e.Reason, e.Feeds[0].URL, more)
	}
}

// MaxSite is the longest host of a site in a frame, in bytes: as long as a name of
// DNS may be.
const MaxSite = 253

// FrameFrom reads a frame of a provider. A frame of a kind that this version
// does not know reads as a sign of life.
func FrameFrom(r *feedringv1.AttachReply) (Frame, error) {
	var d Decoder
	var f Frame
	switch frame := r.GetFrame().(type) {
	case *feedringv1.AttachReply_Item:
		f.Item = &Item{Seal: SealFrom(frame.Item.GetEntry()), VouchedBy: d.Text("vouched by", frame.Item.GetVouchedBy(), MaxSite),
			Arrived: d.Time("arrived", frame.Item.GetArrivedUnixMs())}
		if f.Item.Seal == nil {
			d.Malformed("item", "no entry")
		}
	case *feedringv1.AttachReply_Mark:
		f.Mark = d.cursor(frame.Mark.GetCursor())
	case *feedringv1.AttachReply_Caught:
		entries := d.Count("entries", frame.Caught.GetEntries())
		f.Caught, f.Stemmed, f.Hints = &entries, frame.Caught.GetStemmed(), d.hints(frame.Caught.GetHints())
	case *feedringv1.AttachReply_Refused:
		f.Refused = d.refused(frame.Refused)
	}
	if d.Err() != nil {
		return Frame{}, fmt.Errorf("frame: %w", d.Err())
	}
	return f, nil
}

func (d *Decoder) refused(r *feedringv1.Refused) *RefusedError {
	e := &RefusedError{Kind: r.GetKind(), Reason: cutText(r.GetReason(), maxErrorText)}
	if d.Within("feeds behind", len(r.GetFeeds()), maxCursor) {
		e.Feeds = Each(r.GetFeeds(), func(ref **feedringv1.FeedRef) feedring.FeedRef { return d.Ref("feed behind", *ref) })
	}
	return e
}
