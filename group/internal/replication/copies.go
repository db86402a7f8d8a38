package replication

import (
	"sort"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
)

// Copies of what is no longer fresh (FeedEx 3.6): a peer may choose to keep the
// entries of its group for longer, and serves them where their publisher does
// not. Its row says that it does. How far each copy reaches it says when it is
// asked: one mark for all would be raised by a gap in any.

// Copy says how far the copy of a feed reaches.
type Copy struct {
	Feed  feedring.FeedRef
	Since time.Time // every entry seen later is here; zero: every entry of the log
	// Provider is of its newest entry; empty: it has none.
	Provider feedring.Provider
}

// copyMark is what a Copy says in a head.
type copyMark struct {
	known    bool
	since    time.Time
	provider feedring.Provider
}

// OnCopies takes over how far copies reach, and lists the publishers whose feeds have another provider than before.
func (r *Replicator) OnCopies(copies []Copy) (changed []feedring.PeerID) {
	for _, c := range copies {
		if c.Feed.Publisher == r.cfg.Self || !r.cfg.keeper() {
			continue
		}
		if h := r.Head(c.Feed); h != nil {
			if h.copy.provider != c.Provider {
				changed = append(changed, c.Feed.Publisher)
			}
			h.copy = copyMark{known: true, since: c.Since, provider: c.Provider}
		}
	}
	return changed
}

// Orphans lists the copies of feeds whose publisher has left or is forgotten, as many as a row has room for.
func (r *Replicator) Orphans() []catalogue.Gone {
	var all []catalogue.Gone
	for ref, h := range r.Heads {
		if row := r.group.Member(ref.Publisher).Row; h.copy.provider != "" && (row == nil || row.Left) {
			all = append(all, catalogue.Gone{Ref: ref, Provider: h.copy.provider})
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Ref.Compare(all[j].Ref) < 0 })
	return catalogue.FitGone(all)
}

// HoldsAny reports whether an entry of a feed is held, whoever published it.
func (r *Replicator) HoldsAny(url string) bool { return r.ledger.HoldsAny(url) }

// Whole lists those of feeds of which this peer has everything since a time,
// as far as anybody told. It publishes none of them.
func (r *Replicator) Whole(feeds []feedring.FeedRef, since time.Time) (whole []feedring.FeedRef) {
	for _, ref := range feeds {
		h := r.Heads[ref]
		if h != nil && h.copy.known && !h.copy.since.After(since) && h.Backfill.IsZero() && !h.behind() {
			whole = append(whole, ref)
		}
	}
	return whole
}
