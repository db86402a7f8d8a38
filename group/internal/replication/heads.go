package replication

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
	"github.com/feedring/feedring/group/internal/holdings"
)

// Head is how far this peer is with one feed of the group.
type Head struct {
	*holdings.Holding // in the ledger

	Advertised feedring.Position // the highest that any peer advertised
	Source     feedring.PeerID   // the peer that advertised it
	altSource  feedring.PeerID   // who advertised what earlier polls failed to fetch
	deferred   bool              // the last poll was of an altSource: it does not count as a try
	forwarders []feedring.PeerID // of the notify that advertised it, in large groups
	InFlight   bool              // a poll is under way
	taking     bool              // … or rather an answer that came with a notify is stored
	queued     bool              // a poll waits for others to end
	Tries      int               // failed polls since anybody advertised it
	Failures   int               // failed polls since one brought an entry, or its publisher an answer
	Backfill   feedring.Position // not whole before this is held; zero: whole
	copy       copyMark
}

// Unobtainable says that polls for what is advertised go on failing. Only the publisher could make them succeed.
func (h *Head) Unobtainable() bool { return h.Failures >= MaxFailures }

func (h *Head) behind() bool { return h.Pos.Compare(h.Advertised) < 0 }

// Head returns the state of ref; nil where it is none of the group's.
func (r *Replicator) Head(ref feedring.FeedRef) *Head {
	if h := r.Heads[ref]; h != nil {
		return h
	}
	row := r.group.Member(ref.Publisher).Row
	if row == nil || len(r.Heads) >= maxHeads || len(ref.URL) > catalogue.MaxURL {
		return nil
	}
	return r.open(ref, row)
}

// open begins to follow ref, whose publisher may be unknown yet: nil.
func (r *Replicator) open(ref feedring.FeedRef, publisher *catalogue.Row) *Head {
	h := &Head{Holding: r.ledger.Open(ref, publisher != nil && publisher.Lists(ref.URL))}
	r.Heads[ref] = h
	return h
}

// advance moves a head to what the store holds now, and ends a backfill that is whole.
func (r *Replicator) advance(ref feedring.FeedRef, h *Head, pos feedring.Position, hash [32]byte) {
	r.ledger.Advance(ref, pos, hash, r.group.Now())
	h.Advertised = maxPosition(h.Advertised, pos)
	if !h.Backfill.IsZero() && h.Pos.Compare(h.Backfill) >= 0 {
		r.endBackfill(h)
	}
}

func (r *Replicator) beginBackfill(h *Head, pos feedring.Position) {
	if h.Backfill.IsZero() {
		r.Backfills++
	}
	h.Backfill = pos
}

func (r *Replicator) endBackfill(h *Head) {
	h.Backfill = feedring.Position{}
	r.Backfills--
	r.changed = true
}

// Holding takes over what the store holds.
func (r *Replicator) Holding(heads []feedring.Head) {
	for _, t := range heads[:min(len(heads), maxHeads)] {
		if t.Feed.Publisher == r.cfg.Self {
			if o := r.Own[t.Feed.URL]; o != nil && (o.fromClock || t.Position.Epoch > o.Epoch) {
				r.setEpoch(t.Feed.URL, o, t.Position.Epoch)
			}
		}
		h := r.Heads[t.Feed]
		if h == nil {
			h = r.open(t.Feed, r.group.Member(t.Feed.Publisher).Row)
		}
		if t = r.fork(t.Feed).cut(t); t.Position.Compare(h.Pos) > 0 {
			r.advance(t.Feed, h, t.Position, t.Hash)
		}
	}
}

// All lists what is held, in order. The list must not be changed.
func (r *Replicator) All() []feedring.Head { return r.ledger.All() }

// After returns the next heads in order, as many as one message has room for, and whether there are more.
func (r *Replicator) After(ref feedring.FeedRef) (heads []feedring.Head, more bool) {
	return r.ledger.After(ref)
}

// Recent returns the heads that changed in the last three periods, and a digest of all others.
func (r *Replicator) Recent() ([]feedring.Head, uint64) {
	return r.ledger.Recent(r.group.Now().Add(-3 * r.cfg.Refresh))
}

// Admitted begins the membership with the heads of the manager. Whoever admits this peer may have lost all, so the
// heads of this peer's own feeds count as moved now: nobody else tells them.
func (r *Replicator) Admitted(heads []feedring.Head, manager feedring.PeerID) {
	for _, h := range heads {
		r.markMissing(h, manager)
	}
	for _, h := range r.ledger.All() {
		if h.Feed.Publisher == r.cfg.Self {
			r.ledger.Advance(h.Feed, h.Position, h.Hash, r.group.Now())
		}
	}
}

// Sync begins the walk through the manager's heads that its admission had no room for.
func (r *Replicator) Sync(manager feedring.PeerID, after feedring.FeedRef) {
	r.syncing = true
	r.askHeads(manager, after)
}

// Syncing says that this walk goes on.
func (r *Replicator) Syncing() bool { return r.syncing }

// OnTold takes the heads that a member tells since they changed, and compares the others by their digest. teller passed
// them on.
func (r *Replicator) OnTold(heads []feedring.Head, older uint64, of, teller feedring.PeerID) {
	for _, h := range heads {
		r.OnAdvertised(h, teller)
	}
	r.compareOlder(of, heads, older)
}

// compareOlder compares the heads that a member did not tell by their digest. Entries under way make digests differ for
// a moment. If they go on to differ, the member is asked for all heads, and later a random one too: the member may
// know as little.
func (r *Replicator) compareOlder(with feedring.PeerID, told []feedring.Head, theirs uint64) {
	mine, row, now := r.ledger.Older(told), r.group.Member(with).Row, r.group.Now()
	if row == nil {
		return
	}
	if mine == theirs {
		delete(r.differAs, with)
		return
	}
	since, differed := r.differAs[with]
	if !differed {
		since = now
		r.differAs[with] = now
	}
	patience := r.cfg.Refresh / 3 / 2
	if r.Backfills > 0 || len(row.Backfilling) > 0 {
		patience = r.cfg.Refresh // a backfill that takes longer may never end, and hides what else is missing
	}
	if now.Sub(since) < patience || now.Sub(r.askedAt) < r.cfg.Refresh {
		return
	}
	r.askHeads(with, feedring.FeedRef{})
	if others := r.group.Present(); r.group.Manager() != r.cfg.Self && now.Sub(since) > r.cfg.Refresh && len(others) > 0 {
		if other := r.anyOf(others); other != with {
			r.askHeads(other, feedring.FeedRef{})
		}
	}
}

func (r *Replicator) anyOf(peers []feedring.PeerID) feedring.PeerID {
	return peers[r.group.Jitter(time.Duration(len(peers)))]
}

func (r *Replicator) askHeads(of feedring.PeerID, after feedring.FeedRef) {
	r.askedAt = r.group.Now()
	r.group.AskHeads(of, after)
}

// OnHeads takes a range of a member's heads, and reports whether it was the last one.
func (r *Replicator) OnHeads(heads []feedring.Head, more bool, from feedring.PeerID) (last bool) {
	for _, t := range heads {
		if r.syncing {
			r.markMissing(t, from)
		} else {
			r.OnAdvertised(t, from)
		}
	}
	if more && len(heads) > 0 {
		r.askHeads(from, heads[len(heads)-1].Feed)
		return false
	}
	r.syncing = false
	return true
}

// ExceptionsChanged says that Exceptions may be others than when they were last listed.
func (r *Replicator) ExceptionsChanged() bool { return r.changed }

// Exceptions lists the feeds that are backfilled, in order, and whether any of it still may be had. One publisher
// causes few: nobody crowds out the exceptions of others.
func (r *Replicator) Exceptions() (refs []feedring.FeedRef, waits bool) {
	r.changed = false
	if r.Backfills == 0 {
		return nil, false
	}
	of := map[feedring.PeerID]int{}
	for ref, h := range r.Heads {
		if h.Backfill.IsZero() {
			continue
		}
		waits = waits || !h.Unobtainable()
		if of[ref.Publisher]++; of[ref.Publisher] <= maxExceptionsOf {
			refs = append(refs, ref)
		}
	}
	refs = slices.DeleteFunc(refs, func(ref feedring.FeedRef) bool { return of[ref.Publisher] > maxExceptionsOf })
	for p, n := range of {
		if n > maxExceptionsOf {
			refs = append(refs, catalogue.AllOf(p))
		}
	}
	slices.SortFunc(refs, feedring.FeedRef.Compare)
	return refs, waits
}

func maxPosition(a, b feedring.Position) feedring.Position {
	if a.Compare(b) < 0 {
		return b
	}
	return a
}
