package wire

import (
	"bytes"
	"fmt"
	"math"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/wire/peerid"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// Limits of what is in messages.
const (
	MaxAddrs    = 32
	maxAddr     = 512    // bytes
	MaxPeers    = 10_000 // of one list
	MaxHeads    = 50_000
	MaxURL      = 2048
	maxTitle    = 4 << 10
	maxProvider = 253
)

// Decoder turns protobuf into words and keeps the first thing that was wrong,
// with the name of its field, so that a conversion reads as a list of fields.
// Every field has a limit. The zero value is ready.
type Decoder struct {
	err  error
	raw  []byte // the last peer, see Encoder
	last feedring.PeerID
}

// Err is the first error; it wraps ErrMalformed or ErrTooLarge.
func (d *Decoder) Err() error { return d.err }

// Fail notes an error.
func (d *Decoder) Fail(err error) {
	if d.err == nil && err != nil {
		d.err = err
	}
}

// Malformed notes that a field breaks a rule.
func (d *Decoder) Malformed(field, rule string) {
	if d.err == nil {
		d.err = fmt.Errorf("%s: %w: %s", field, ErrMalformed, rule)
	}
}

// Within reports whether a list or text of n is within most, and notes where not.
func (d *Decoder) Within(field string, n, most int) bool {
	if n > most && d.err == nil {
		d.err = fmt.Errorf("%s: %w: %d, at most %d", field, ErrTooLarge, n, most)
	}
	return n <= most && d.err == nil
}

// Peer reads a peer id that must be there.
func (d *Decoder) Peer(field string, b []byte) feedring.PeerID {
	if d.last != "" && bytes.Equal(b, d.raw) {
		return d.last
	}
	id, ok := peerid.FromBytes(b)
	if !ok {
		d.Malformed(field, "no peer id")
	}
	d.last, d.raw = id, b
	return id
}

// Maybe reads a peer id that may be absent: nobody.
func (d *Decoder) Maybe(field string, b []byte) feedring.PeerID {
	if len(b) == 0 {
		return ""
	}
	return d.Peer(field, b)
}

// Peers reads a list of peer ids.
func (d *Decoder) Peers(field string, list [][]byte, most int) []feedring.PeerID {
	if !d.Within(field, len(list), most) {
		return nil
	}
	return Each(list, func(b *[]byte) feedring.PeerID { return d.Peer(field, *b) })
}

// Group reads a group id that must be there.
func (d *Decoder) Group(field string, b []byte) (g feedring.GroupID) {
	if copy(g[:], b) != len(g) || len(b) != len(g) {
		d.Malformed(field, "a group id has 16 bytes")
	}
	return g
}

// Groups reads a list of group ids.
func (d *Decoder) Groups(field string, list [][]byte, most int) []feedring.GroupID {
	if !d.Within(field, len(list), most) {
		return nil
	}
	return Each(list, func(b *[]byte) feedring.GroupID { return d.Group(field, *b) })
}

// Query reads a query id.
func (d *Decoder) Query(field string, b []byte) (q feedring.QueryID) {
	if copy(q[:], b) != len(q) || len(b) != len(q) {
		d.Malformed(field, "a query id has 16 bytes")
	}
	return q
}

// Hash reads a hash; an absent one is zero.
func (d *Decoder) Hash(field string, b []byte) (h [32]byte) {
	if len(b) != 0 && len(b) != len(h) {
		d.Malformed(field, "a hash has 32 bytes")
	}
	copy(h[:], b)
	return h
}

// Text reads a text of at most most bytes.
func (d *Decoder) Text(field, s string, most int) string {
	d.Within(field, len(s), most)
	return s
}

// Texts reads a list of texts.
func (d *Decoder) Texts(field string, list []string, most, longest int) []string {
	if !d.Within(field, len(list), most) || len(list) == 0 {
		return nil
	}
	for _, s := range list {
		d.Within(field, len(s), longest)
	}
	return list
}

// Theme reads a theme; empty is allowed. That it is canonical is not checked:
// the next version may know more aliases.
func (d *Decoder) Theme(field, s string) feedring.Theme {
	if d.Within(field, len(s), feedring.MaxTheme) && !plain(s) {
		d.Malformed(field, "only letters a-z, digits and hyphens")
	}
	return feedring.Theme(s)
}

// Time reads an instant.
func (d *Decoder) Time(field string, ms int64) time.Time {
	t, ok := timeFrom(ms)
	if !ok {
		d.Malformed(field, "no date")
	}
	return t
}

// Span reads a duration that is not negative.
func (d *Decoder) Span(field string, ms int64) time.Duration {
	if ms < 0 || ms > maxSpan {
		d.Malformed(field, "between 0 and a year")
		return 0
	}
	return time.Duration(ms) * time.Millisecond
}

// Count reads a number of things.
func (d *Decoder) Count(field string, n uint32) int {
	if n > math.MaxInt32 {
		d.Malformed(field, "too large a number")
		return 0
	}
	return int(n)
}

// Info reads a peer with its addresses; absent: nobody.
func (d *Decoder) Info(field string, p *feedringv1.PeerInfo) feedring.PeerInfo {
	return feedring.PeerInfo{ID: d.Maybe(field, p.GetId()), Addrs: d.Addrs(field+" addrs", p.GetAddrs())}
}

// Addrs reads multiaddresses. Whether they can be read is for who dials.
func (d *Decoder) Addrs(field string, list []string) []string {
	return d.Texts(field, list, MaxAddrs, maxAddr)
}

// Term reads a term; absent: the zero one.
func (d *Decoder) Term(field string, t *feedringv1.Term) feedring.Term {
	return feedring.Term{Number: t.GetNumber(), Claimant: d.Maybe(field+" claimant", t.GetClaimant())}
}

// Ref reads a feed's name; absent: the zero one.
func (d *Decoder) Ref(field string, r *feedringv1.FeedRef) feedring.FeedRef {
	return feedring.FeedRef{URL: d.Text(field+" url", r.GetUrl(), MaxURL), Publisher: d.Maybe(field+" publisher", r.GetPublisher())}
}

// Head reads a head that must be there.
func (d *Decoder) Head(field string, h *feedringv1.Head) feedring.Head {
	return feedring.Head{
		Feed:     feedring.FeedRef{URL: d.Text(field+" url", h.GetUrl(), MaxURL), Publisher: d.Peer(field+" publisher", h.GetPublisher())},
		Position: feedring.Position{Epoch: h.GetEpoch(), Sequence: h.GetSequence()},
		Hash:     d.Hash(field+" hash", h.GetHash()),
	}
}

// Heads reads a list of heads.
func (d *Decoder) Heads(field string, list []*feedringv1.Head) []feedring.Head {
	if !d.Within(field, len(list), MaxHeads) {
		return nil
	}
	return Each(list, func(h **feedringv1.Head) feedring.Head { return d.Head(field, *h) })
}

// Feed reads a feed of a row.
func (d *Decoder) Feed(field string, f *feedringv1.Feed) feedring.Feed {
	return feedring.Feed{
		URL: d.Text(field+" url", f.GetUrl(), MaxURL), Title: d.Text(field+" title", f.GetTitle(), maxTitle),
		Provider: feedring.Provider(d.Text(field+" provider", f.GetProvider(), maxProvider)), Epoch: f.GetEpoch(), Carried: f.GetCarried(),
	}
}

// Feeds reads the feeds of a row.
func (d *Decoder) Feeds(field string, list []*feedringv1.Feed) []feedring.Feed {
	if !d.Within(field, len(list), feedring.MaxFeeds) {
		return nil
	}
	return Each(list, func(f **feedringv1.Feed) feedring.Feed { return d.Feed(field, *f) })
}
