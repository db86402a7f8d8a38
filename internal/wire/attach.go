package wire

import (
	"fmt"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/wire/peerid"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// maxCursor is the largest cursor, in feeds. A larger one does not fit into a
// message.
const maxCursor = 30_000

// Attach is what a client asks of a provider.
type Attach struct {
	Ticket  feedring.Ticket
	Query   feedring.Query
	Cursor  feedring.Cursor // go on from here instead of a first answer; nil: from the start
	Follow  bool
	Updates bool // new versions of entries too
	Own     bool // the provider's own feeds only
	Summary bool // not the entries of the first answer, but which they are
}

// AttachTo is a client's first frame. The ticket must be sealed, as it came. A
// provider that cannot stem is asked for everything, as Stemmed says.
func AttachTo(a Attach) *feedringv1.AttachRequest {
	var stemmed *feedringv1.Stemmed
	if a.Query.Stem {
		stemmed = &feedringv1.Stemmed{Words: a.Query.Words, Limit: CountTo(a.Query.Limit)}
		a.Query.Words, a.Query.Limit = "", feedring.MaxLimit
	}
	return &feedringv1.AttachRequest{
		Stemmed: stemmed,
		Ticket:  SealTo(a.Ticket.Seal), Theme: string(a.Query.Theme),
		Provider: cutText(a.Query.Provider, maxProvider), Words: a.Query.Words,
		SinceUnixMs: TimeTo(a.Query.Since), UntilUnixMs: TimeTo(a.Query.Until), Limit: CountTo(a.Query.Limit),
		Cursor: cursorTo(a.Cursor), Resume: a.Cursor != nil,
		Follow: a.Follow, Updates: a.Updates, Own: a.Own, Vouched: a.Query.Vouched,
		Summary: a.Summary,
	}
}

// AttachFrom is the inverse of AttachTo. It does not check the ticket's
// signature: see VerifyTicket.
func AttachFrom(r *feedringv1.AttachRequest) (Attach, error) {
	ticket, err := DecodeTicket(SealFrom(r.GetTicket()))
	if err != nil {
		return Attach{}, err
	}
	var d Decoder
	a := Attach{
		Ticket: ticket, Follow: r.GetFollow(), Updates: r.GetUpdates(), Own: r.GetOwn(), Summary: r.GetSummary() && !r.GetFollow(),
		Query: feedring.Query{
			Theme:    d.Theme("theme", r.GetTheme()),
			Provider: d.Text("provider", r.GetProvider(), maxProvider),
			Words:    d.Text("words", r.GetWords(), feedring.MaxExpression),
			Since:    d.Time("since", r.GetSinceUnixMs()),
			Until:    d.Time("until", r.GetUntilUnixMs()),
			Limit:    d.Count("limit", r.GetLimit()),
			Vouched:  r.GetVouched(),
		},
	}
	if s := r.GetStemmed(); s != nil {
		a.Query.Stem = true
		a.Query.Words, a.Query.Limit = d.Text("words", s.GetWords(), feedring.MaxExpression), d.Count("limit", s.GetLimit())
	}
	if r.GetResume() || len(r.GetCursor()) > 0 {
		a.Cursor = d.cursor(r.GetCursor())
	}
	if d.Err() != nil {
		return Attach{}, fmt.Errorf("query: %w", d.Err())
	}
	return a, nil
}

// RenewTo is the frame by which a follower keeps its lease.
func RenewTo() *feedringv1.Renew { return &feedringv1.Renew{} }

// ItemTo is a frame with one sealed entry, which its provider dates as shown and whose
// publisher a site names; empty: none. The bytes are shared.
func ItemTo(publisher feedring.PeerID, payload, signature []byte, shown time.Time, vouchedBy string) *feedringv1.AttachReply {
	item := &feedringv1.Item{
		Entry:     &feedringv1.Sealed{Payload: payload, Signature: signature, Signer: peerid.Bytes(publisher)},
		VouchedBy: vouchedBy,
	}
	if shown.Before(publishedOf(payload)) {
		item.ArrivedUnixMs = TimeTo(shown)
	}
	return &feedringv1.AttachReply{Frame: &feedringv1.AttachReply_Item{Item: item}}
}

// MarkTo is a frame that says how far everything was shown.
func MarkTo(c feedring.Cursor) *feedringv1.AttachReply {
	return &feedringv1.AttachReply{Frame: &feedringv1.AttachReply_Mark{Mark: &feedringv1.Mark{Cursor: cursorTo(c)}}}
}

// CaughtTo is a frame that says that the first answer, of so many entries, is
// whole. stemmed says that they were chosen as Query.Stem asks.
func CaughtTo(entries int, stemmed bool) *feedringv1.AttachReply {
	return &feedringv1.AttachReply{Frame: &feedringv1.AttachReply_Caught{
		Caught: &feedringv1.Caught{Entries: CountTo(entries), Stemmed: stemmed},
	}}
}

// SummaryTo is CaughtTo for who asked for a summary. copies are the entries, newest first.
func SummaryTo(stemmed bool, copies []feedring.Hint) *feedringv1.AttachReply {
	return &feedringv1.AttachReply{Frame: &feedringv1.AttachReply_Caught{
		Caught: &feedringv1.Caught{Entries: CountTo(len(copies)), Stemmed: stemmed, Hints: hintsTo(&feedring.Hints{Copies: copies})},
	}}
}

// AliveTo is a frame without news.
func AliveTo() *feedringv1.AttachReply {
	return &feedringv1.AttachReply{Frame: &feedringv1.AttachReply_Alive{Alive: &feedringv1.KeepAlive{}}}
}

// RefusedTo is a frame that ends a stream without an answer. feeds are those
// that are behind, where that is the reason.
func RefusedTo(kind feedringv1.RefusedKind, reason string, feeds ...feedring.FeedRef) *feedringv1.AttachReply {
	refused := &feedringv1.Refused{Kind: kind, Reason: cutText(reason, maxErrorText)}
	for _, ref := range feeds {
		refused.Feeds = append(refused.Feeds, &feedringv1.FeedRef{Url: ref.URL, Publisher: peerid.Bytes(ref.Publisher)})
	}
	return &feedringv1.AttachReply{Frame: &feedringv1.AttachReply_Refused{Refused: refused}}
}

func cursorTo(c feedring.Cursor) []*feedringv1.CursorItem {
	if len(c) == 0 {
		return nil
	}
	items := make([]*feedringv1.CursorItem, 0, len(c))
	for ref, at := range c {
		items = append(items, &feedringv1.CursorItem{
			Url: ref.URL, Publisher: peerid.Bytes(ref.Publisher), Epoch: at.Epoch, Sequence: at.Sequence,
		})
	}
	return items
}

// cursor reads a cursor; it is never nil.
func (d *Decoder) cursor(items []*feedringv1.CursorItem) feedring.Cursor {
	if !d.Within("cursor", len(items), maxCursor) {
		return feedring.Cursor{}
	}
	c := make(feedring.Cursor, len(items))
	for _, it := range items {
		ref := feedring.FeedRef{URL: d.Text("cursor url", it.GetUrl(), MaxURL), Publisher: d.Peer("cursor publisher", it.GetPublisher())}
		c[ref] = feedring.Position{Epoch: it.GetEpoch(), Sequence: it.GetSequence()}
	}
	return c
}
