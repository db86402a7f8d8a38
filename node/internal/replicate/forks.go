package replicate

import (
	"errors"
	"fmt"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/node/internal/forks"
	"github.com/feedring/feedring/node/internal/sealed"
)

// comparedBefore is how far before a head another peer's entries are compared with those held.
const comparedBefore = 200

// Links send messages to other peers.
type Links interface {
	Send(to feedring.PeerID, m feedring.Message, fresh bool)
}

// Feeds are this peer's own.
type Feeds interface {
	// Again has the next fetch of a feed find everything anew.
	Again(url string)
}

// errCut skips an entry that comes after a fork.
var errCut = errors.New("the entry comes after a fork")

// forkedError is an entry that contradicts one that is held.
type forkedError struct{ fork feedring.Fork }

func (f *forkedError) Error() string {
	return fmt.Sprintf("the publisher signed another entry at %d/%d", f.fork.At.Epoch, f.fork.At.Sequence)
}

// cut reports whether what stands at a position of a log does not count.
func (r *Replicator) cut(ref feedring.FeedRef, at feedring.Position) bool {
	return r.Forks != nil && r.Forks.Hides(ref, at)
}

// end is how far a log counts that is held through a position.
func (r *Replicator) end(ref feedring.FeedRef, held feedring.Position) feedring.Position {
	if r.Forks == nil {
		return held
	}
	return r.Forks.End(ref, held)
}

// contradicts compares an entry, its signature checked, with what is held at its position and before it. Of what was
// retracted nobody has the entry any more, so that it is no evidence.
func (r *Replicator) contradicts(last feedring.Head, seal *feedring.Seal, e *feedring.Entry, previous [32]byte) error {
	at := e.Position
	next := at.Epoch == last.Position.Epoch && at.Sequence == last.Position.Sequence+1
	if r.Forks == nil || next && (previous == last.Hash || last.Hash == [32]byte{}) || !next && at.Compare(last.Position) > 0 {
		return nil
	}
	for _, held := range []feedring.Position{{Epoch: at.Epoch, Sequence: at.Sequence - 1}, at} {
		it, err := r.Store.Get(e.Ref(), held)
		if err != nil || it.Tombstone || it.Private {
			continue
		}
		if fork, err := wire.ForkOf(sealed.Seal(&it), seal); err == nil && !r.Forks.Known(fork) {
			return &forkedError{fork}
		}
	}
	return nil
}

// Compare does group.Compare.
func (r *Replicator) Compare(o group.Compare) {
	if r.Forks != nil {
		r.Tasks.Run(func() { r.compare(o) })
	}
}

// compare asks who told a head for its entries, if the one at that position is another than is held. One who was asked in
// vain is left alone for a while.
func (r *Replicator) compare(o group.Compare) {
	held, err := r.Store.Get(o.Head.Feed, o.Head.Position)
	if err != nil || held.Hash == o.Head.Hash || held.Private || !r.compared.ask(holder{peer: o.From}, feedring.Position{}, r.Machine.Now()) {
		return
	}
	select {
	case r.places <- struct{}{}:
		defer func() { <-r.places }()
	case <-r.ctx.Done():
		return
	}
	after := o.Head.Position
	after.Sequence -= min(after.Sequence, comparedBefore)
	_, err = r.poll(group.Fetch{Group: o.Group, Feed: o.Head.Feed, From: o.From, After: after, Proof: true})
	if r.found(o.Group, err) {
		r.compared.forgive(holder{peer: o.From})
	} else if err != nil && r.ctx.Err() == nil {
		r.Log.Debug("comparing entries with another peer's failed", "feed", o.Head.Feed.URL, "from", o.From.Short(), "err", err)
	}
}

// found keeps the evidence that a poll brought, if it did.
func (r *Replicator) found(g feedring.GroupID, err error) bool {
	var f *forkedError
	if !errors.As(err, &f) {
		return false
	}
	r.keep(g, f.fork, "")
	return true
}

// Learn does group.Learn.
func (r *Replicator) Learn(o group.Learn) {
	if r.Forks != nil {
		r.Tasks.Run(func() { r.keep(o.Group, o.Fork, o.From) })
	}
}

// keep puts evidence on disk, and only then tells the machine, which tells others. What this peer published after the
// fork is published again in the next epoch, as far as its origin still has it.
func (r *Replicator) keep(g feedring.GroupID, fork feedring.Fork, from feedring.PeerID) {
	news, err := r.Forks.Add(r.ctx, fork)
	if err != nil && r.ctx.Err() == nil {
		r.Log.Warn("evidence of a fork was not kept", "feed", fork.Feed.URL, "publisher", fork.Feed.Publisher.Short(), "err", err)
	}
	if !news {
		return
	}
	kept, ok := r.Forks.At(fork.Feed, fork.At.Epoch)
	if !ok {
		return // others took its place already
	}
	in := r.forkedAt(kept)
	in.From = from
	r.Machine.Tell(g, in)
	if fork.Feed.Publisher == r.Self && r.Own != nil {
		r.Own.Again(fork.Feed.URL)
	}
}

func (r *Replicator) forkedAt(f forks.Fork) group.Forked {
	in := group.Forked{Feed: f.Feed, At: f.At, Until: f.Until}
	if it, err := r.Store.Get(f.Feed, feedring.Position{Epoch: f.At.Epoch, Sequence: f.At.Sequence - 1}); err == nil {
		in.Last = it.Hash
	}
	return in
}

// Show does group.Show.
func (r *Replicator) Show(o group.Show) {
	if r.Forks == nil {
		return
	}
	r.Tasks.Run(func() {
		fork, ok := r.Forks.Evidence(o.Feed, o.At.Epoch)
		for _, to := range o.To {
			if ok {
				r.Links.Send(to, group.Evidence{Header: group.Header{Group: o.Group}, Fork: fork}, false)
			}
		}
	})
}

// tellForks tells the membership of a group what is known of forks there.
func (r *Replicator) tellForks(g feedring.GroupID) {
	if r.Forks == nil {
		return
	}
	for _, f := range r.Forks.In(g) {
		in := r.forkedAt(f)
		in.Known = true
		r.Machine.Tell(g, in)
	}
}
