package replication

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/feedring/feedring"
)

// A publisher that signs two histories of a feed, each for some of the members, is found out by what these tell each
// other: their heads carry hashes. Two entries that contradict each other are evidence that anybody can check. From then
// on the log ends here before them, until its publisher begins a later epoch.

// Inputs and outputs.
type (
	// Forked says that there is evidence on disk that a log is forked, and where it ends therefore. Known: it was
	// there before, and nobody is told.
	Forked struct {
		Feed  feedring.FeedRef
		At    feedring.Position // where the histories part
		Until time.Time         // when the evidence is too old
		Last  [32]byte          // hash of the entry before; zero where it is not known
		From  feedring.PeerID   // who showed it; empty: this peer found it
		Known bool
	}
	// Compare compares a head that another peer told with what the store holds at its position. If they differ, it asks
	// that peer for its entries, and Forked may follow.
	Compare struct {
		Group feedring.GroupID
		Head  feedring.Head
		From  feedring.PeerID
	}
	// Learn keeps evidence that another peer showed, its signatures checked; Forked follows.
	Learn struct {
		Group feedring.GroupID
		Fork  feedring.Fork
		From  feedring.PeerID
	}
	// Show sends the evidence that a log is forked at a position to peers.
	Show struct {
		Group feedring.GroupID
		Feed  feedring.FeedRef
		At    feedring.Position
		To    []feedring.PeerID
	}
)

func (Forked) IsInput()   {}
func (Compare) IsOutput() {}
func (Learn) IsOutput()   {}
func (Show) IsOutput()    {}

// fork is where a log ends, and until when.
type fork struct {
	at    feedring.Position
	until time.Time
}

// shown is evidence that a peer was sent.
type shown struct {
	of feedring.FeedRef
	to feedring.PeerID
}

// fork returns where a log ends; nil: nowhere, or the evidence is too old.
func (r *Replicator) fork(ref feedring.FeedRef) *fork {
	if f := r.forks[ref]; f != nil && r.group.Now().Before(f.until) {
		return f
	}
	return nil
}

// noteFork ends a log. What is too old is forgotten, and of too many forks the one that ends first.
func (r *Replicator) noteFork(ref feedring.FeedRef, f *fork) {
	now := r.group.Now()
	maps.DeleteFunc(r.forks, func(_ feedring.FeedRef, f *fork) bool { return !now.Before(f.until) })
	if r.forks[ref] == nil && len(r.forks) >= maxForks {
		delete(r.forks, slices.MinFunc(slices.Collect(maps.Keys(r.forks)), func(a, b feedring.FeedRef) int {
			return cmp.Or(r.forks[a].until.Compare(r.forks[b].until), a.Compare(b))
		}))
	}
	r.forks[ref] = f
}

// cut is what counts of a head: nothing from the fork on.
func (f *fork) cut(t feedring.Head) feedring.Head {
	if f == nil || t.Position.Epoch != f.at.Epoch || t.Position.Sequence < f.at.Sequence {
		return t
	}
	return feedring.Head{Feed: t.Feed, Position: feedring.Position{Epoch: f.at.Epoch, Sequence: f.at.Sequence - 1}}
}

// known reports whether a fork was found there or before.
func (f *fork) known(at feedring.Position) bool {
	return f != nil && (f.at.Epoch > at.Epoch || f.at.Epoch == at.Epoch && f.at.Sequence <= at.Sequence)
}

// counts is what counts of a head that a member tells. Who tells of what comes after a fork is shown the evidence. A
// head that may have another hash than the entry held is compared by the driver, which knows what the machine does not.
func (r *Replicator) counts(t feedring.Head, from feedring.PeerID) feedring.Position {
	f, h := r.fork(t.Feed), r.Heads[t.Feed]
	if from == r.cfg.Self || r.group.Member(from).Row == nil {
		return f.cut(t).Position
	}
	if c := f.cut(t); c.Position != t.Position {
		r.show(t.Feed, f, []feedring.PeerID{from})
		return c.Position
	}
	if h != nil && t.Hash != [32]byte{} && t.Position.Epoch == h.Pos.Epoch && t.Position.Compare(h.Pos) <= 0 &&
		(t.Position != h.Pos || h.Hash != [32]byte{} && t.Hash != h.Hash) {
		r.group.Emit(Compare{Group: r.cfg.Group, Head: t, From: from})
	}
	return t.Position
}

// show sends evidence to those who were sent none in this period, as long as there is room to note whom.
func (r *Replicator) show(ref feedring.FeedRef, f *fork, to []feedring.PeerID) {
	now, due := r.group.Now(), make([]feedring.PeerID, 0, len(to))
	old := func(at time.Time) bool { return now.Sub(at) >= r.cfg.Refresh }
	if old(r.clearedAt) {
		r.clearedAt = now
		maps.DeleteFunc(r.shown, func(_ shown, at time.Time) bool { return old(at) })
	}
	for _, p := range to {
		at, before := r.shown[shown{ref, p}]
		if p != r.cfg.Self && (before && old(at) || !before && len(r.shown) < maxShown) {
			r.shown[shown{ref, p}] = now
			due = append(due, p)
		}
	}
	if len(due) > 0 {
		r.group.Emit(Show{Group: r.cfg.Group, Feed: ref, At: f.at, To: due})
	}
}

// OnEvidence takes evidence of a member about a feed of the group, if it is news.
func (r *Replicator) OnEvidence(f feedring.Fork, from feedring.PeerID) {
	if r.group.Member(from).Row != nil && r.Head(f.Feed) != nil && !r.fork(f.Feed).known(f.At) {
		r.group.Emit(Learn{Group: r.cfg.Group, Fork: f, From: from})
	}
}

// OnForked ends a log before a fork, and passes the evidence on once. The publisher itself, whose disk was put back or
// copied, goes on in another epoch.
func (r *Replicator) OnForked(in Forked) {
	if r.fork(in.Feed).known(in.At) {
		return
	}
	h := r.Heads[in.Feed]
	if h == nil {
		h = r.open(in.Feed, r.group.Member(in.Feed.Publisher).Row)
	}
	f := &fork{at: in.At, until: in.Until}
	r.noteFork(in.Feed, f)
	if in.From != "" {
		r.shown[shown{in.Feed, in.From}] = r.group.Now()
	}
	end := f.cut(feedring.Head{Position: in.At})
	if c := f.cut(feedring.Head{Position: h.Pos}); c.Position != h.Pos || in.At.Sequence == 1 && h.Pos.Compare(end.Position) < 0 {
		r.ledger.Advance(in.Feed, end.Position, in.Last, r.group.Now())
	}
	h.Advertised = maxPosition(h.Pos, f.cut(feedring.Head{Position: h.Advertised}).Position)
	if o := r.Own[in.Feed.URL]; o != nil && in.Feed.Publisher == r.cfg.Self && o.Epoch <= in.At.Epoch {
		r.goAboveLog(in.Feed.URL, o, in.At)
		r.publishNext(o)
	}
	if !in.Known {
		r.show(in.Feed, f, slices.Concat(r.group.Neighbours(), []feedring.PeerID{in.Feed.Publisher}))
	}
}

// Forked reports whether a publisher has a feed that ends before a fork: it did not begin another epoch yet.
func (r *Replicator) Forked(publisher feedring.PeerID) bool {
	for ref := range r.forks {
		f := r.fork(ref)
		if ref.Publisher != publisher || f == nil {
			continue
		}
		row := r.group.Member(publisher).Row
		ended := row != nil && slices.ContainsFunc(row.Feeds, func(feed feedring.Feed) bool { return feed.URL == ref.URL && feed.Epoch > f.at.Epoch })
		if !ended {
			return true
		}
	}
	return false
}
