// Package holdings is how far one peer is with each feed of its group, and the
// digests by which two peers find out that they hold different things. It asks
// nobody for what is missing: that is the group's polls.
package holdings

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
	"github.com/feedring/feedring/group/internal/hash"
)

// MaxHeads bounds the heads in one message.
const MaxHeads = 1_000

// Holding is what is held of one feed. Only its Ledger changes it.
type Holding struct {
	Pos  feedring.Position // on disk
	Hash [32]byte          // of the entry there

	ref     feedring.FeedRef
	changed time.Time
	recent  bool   // in Ledger.recent
	listed  bool   // in its publisher's row: part of the digest
	sum     uint64 `state:"derived"` // of Pos
}

// Ledger is what is held of all feeds. Use NewLedger.
type Ledger struct {
	feeds  map[feedring.FeedRef]*Holding
	digest uint64          // sum over all that is listed
	recent []*Holding      // those that moved last at the end
	order  []*Holding      `state:"derived"` // feeds in order
	sorted []feedring.Head `state:"derived"` // see All; nil: to be made
	latest *latest         `state:"derived"` // see Recent; nil: to be made
}

// latest is an answer of Recent, which stays one while nothing moves and
// nothing of it grows old: each beacon and each answer to one tells it.
type latest struct {
	heads  []feedring.Head
	older  uint64
	oldest time.Time // when the first of recent changed
}

// NewLedger returns the ledger of one who holds nothing.
func NewLedger() Ledger { return Ledger{feeds: map[feedring.FeedRef]*Holding{}} }

// Clone returns an independent copy.
func (l *Ledger) Clone() Ledger {
	c := Ledger{feeds: make(map[feedring.FeedRef]*Holding, len(l.feeds)), digest: l.digest,
		recent: slices.Clone(l.recent), order: slices.Clone(l.order), sorted: l.sorted, latest: l.latest}
	for i, h := range c.order {
		copied := *h
		c.feeds[h.ref], c.order[i] = &copied, &copied
	}
	for i, h := range c.recent {
		c.recent[i] = c.feeds[h.ref]
	}
	return c
}

// Len is how many feeds the ledger knows.
func (l *Ledger) Len() int { return len(l.feeds) }

// Of returns what is held of a feed; nil where the ledger does not know it.
func (l *Ledger) Of(ref feedring.FeedRef) *Holding { return l.feeds[ref] }

// Open takes in a feed that the ledger does not know.
func (l *Ledger) Open(ref feedring.FeedRef, listed bool) *Holding {
	h := &Holding{ref: ref, listed: listed}
	l.feeds[ref] = h
	i, _ := l.find(ref)
	l.order = slices.Insert(l.order, i, h)
	return h
}

func (l *Ledger) find(ref feedring.FeedRef) (int, bool) {
	return slices.BinarySearchFunc(l.order, ref, func(h *Holding, ref feedring.FeedRef) int { return h.ref.Compare(ref) })
}

// HoldsAny reports whether an entry of a feed is held, whoever published it.
func (l *Ledger) HoldsAny(url string) bool {
	for i, _ := l.find(feedring.FeedRef{URL: url}); i < len(l.order) && l.order[i].ref.URL == url; i++ {
		if !l.order[i].Pos.IsZero() {
			return true
		}
	}
	return false
}

func sum(ref feedring.FeedRef, p feedring.Position) uint64 {
	return hash.Begin.Text(ref.URL).Text(string(ref.Publisher)).Number(p.Epoch).Number(p.Sequence).End()
}

// Relist follows a change of p's row: the digest covers the feeds that rows
// list, so that equal catalogues and stores give equal digests.
func (l *Ledger) Relist(p feedring.PeerID, old, row *catalogue.Row) {
	for _, r := range []*catalogue.Row{old, row} {
		if r.Left {
			continue
		}
		for _, f := range r.Feeds {
			l.list(feedring.FeedRef{URL: f.URL, Publisher: p}, r == row)
		}
	}
}

// list counts a feed into the digest, or out of it.
func (l *Ledger) list(ref feedring.FeedRef, listed bool) {
	h := l.feeds[ref]
	if h == nil || h.listed == listed {
		return
	}
	h.listed, l.latest = listed, nil
	if h.Pos.IsZero() {
		return
	}
	if listed {
		l.digest += h.sum
	} else {
		l.digest -= h.sum
	}
}

// Advance moves a feed that the ledger knows to what the store holds now.
func (l *Ledger) Advance(ref feedring.FeedRef, pos feedring.Position, hash [32]byte, now time.Time) {
	h := l.feeds[ref]
	if h.listed && !h.Pos.IsZero() {
		l.digest -= h.sum
	}
	h.sum = sum(ref, pos)
	if h.listed && !pos.IsZero() {
		l.digest += h.sum
	}
	h.Pos, h.Hash, h.changed, l.sorted, l.latest = pos, hash, now, nil, nil
	if !h.recent {
		h.recent = true
		l.recent = append(l.recent, h)
	}
}

// Recent returns the heads that changed since a time, as many as one message
// has room for, and a digest of all others. The list must not be changed.
func (l *Ledger) Recent(since time.Time) (heads []feedring.Head, older uint64) {
	if l.latest == nil || len(l.recent) > 0 && l.latest.oldest.Before(since) {
		l.latest = l.look(since)
	}
	return l.latest.heads, l.latest.older
}

func (l *Ledger) look(since time.Time) *latest {
	is := &latest{older: l.digest}
	kept := l.recent[:0]
	for _, h := range l.recent {
		if h.changed.Before(since) {
			h.recent = false
			continue
		}
		if len(kept) == 0 || h.changed.Before(is.oldest) {
			is.oldest = h.changed
		}
		kept = append(kept, h)
	}
	clear(l.recent[len(kept):])
	l.recent = kept
	size := 0
	for _, h := range slices.Backward(l.recent) {
		if !h.listed || h.Pos.IsZero() {
			continue
		}
		head := h.head()
		if size += headSize(&head); size > catalogue.MaxBytes || len(is.heads) == MaxHeads {
			break
		}
		if is.heads == nil {
			is.heads = make([]feedring.Head, 0, min(len(l.recent), MaxHeads))
		}
		is.heads = append(is.heads, head)
		is.older -= h.sum
	}
	return is
}

// Older is the digest of all but the feeds of told, whatever is held of those.
func (l *Ledger) Older(told []feedring.Head) uint64 {
	older := l.digest
	for _, t := range told {
		if h := l.feeds[t.Feed]; h != nil && h.listed && !h.Pos.IsZero() {
			older -= h.sum
		}
	}
	return older
}

// After returns the next heads in order, as many as one message has room for,
// and whether there are more.
func (l *Ledger) After(after feedring.FeedRef) (heads []feedring.Head, more bool) {
	size := 0
	first, here := l.find(after)
	if here {
		first++
	}
	for _, h := range l.order[first:] {
		if !h.listed || h.Pos.IsZero() {
			continue
		}
		if len(heads) == MaxHeads || size > catalogue.MaxBytes {
			return heads, true
		}
		heads = append(heads, h.head())
		size += headSize(&heads[len(heads)-1])
	}
	return heads, false
}

// All lists what is held, in order. The list stays as it is when a head moves,
// and must not be changed.
func (l *Ledger) All() []feedring.Head {
	if l.sorted == nil {
		l.sorted = make([]feedring.Head, 0, len(l.order))
		for _, h := range l.order {
			if !h.Pos.IsZero() {
				l.sorted = append(l.sorted, h.head())
			}
		}
	}
	return l.sorted
}

func (h *Holding) head() feedring.Head {
	return feedring.Head{Feed: h.ref, Position: h.Pos, Hash: h.Hash}
}

func headSize(h *feedring.Head) int { return len(h.Feed.URL) + 4*catalogue.Part }

// Full says that a list of heads was cut: the sender may have had more. Both
// sides find the same.
func Full(heads []feedring.Head) bool {
	size := 0
	for i := range heads {
		size += headSize(&heads[i])
	}
	return len(heads) >= MaxHeads || size > catalogue.MaxBytes
}
