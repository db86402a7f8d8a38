package replicate

import (
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/node/internal/forks"
	"github.com/feedring/feedring/node/internal/nodetest"
	"github.com/feedring/feedring/node/internal/sealed"
)

// branches are two histories of one publisher: a peer holds the first, and polls who has the other.
type branches struct {
	*pollers
	other *testWriter
}

// newBranches signs the same entries to both histories, and then one more that they do not share.
func newBranches(t *testing.T, same int) *branches {
	p := newPollers(t)
	b := &branches{p, writer(openStore(t), p.publisher.Sealer)}
	p.publisher.clock.At = time.Now().Add(-time.Minute).Truncate(time.Millisecond)
	b.other.clock.At = p.publisher.clock.At
	for i, w := range []*testWriter{p.publisher, b.other} {
		first := w.NextPrivate(testSpec)
		first.Epoch = 1000
		_, err := w.Write(t.Context(), testSpec, entries(1, same), first)
		check(t, err)
		w.append(t, testSpec, anEntry(1000+i))
	}
	_, err := p.poll(time.Time{})
	check(t, err)
	p.publisher = b.other // whom the peer polls from now on
	p.peer.Machine = &machine{told: make(chan group.Input, 16)}
	p.peer.Forks, err = forks.Open(t.Context(), p.store, nodetest.Quiet)
	check(t, err)
	return b
}

// forked is the next fork of which the peer's machine is told.
func (b *branches) forked() group.Forked {
	b.t.Helper()
	for {
		select {
		case in := <-b.peer.Machine.(*machine).told:
			if f, ok := in.(group.Forked); ok {
				return f
			}
		case <-time.After(10 * time.Second):
			b.t.Fatal("the machine is told of no fork")
		}
	}
}

// positions are those that the peer serves.
func (b *branches) positions() (served []feedring.Position, head feedring.Position) {
	b.t.Helper()
	part, _, _, err := b.peer.pollPart(b.ref, feedring.Position{}, time.Time{}, false)
	check(b.t, err)
	for _, item := range part.GetItems() {
		e, _, err := b.peer.Verifier.Entry(wire.SealFrom(item))
		check(b.t, err)
		served = append(served, e.Position)
	}
	return served, feedring.Position{Epoch: part.GetHead().GetEpoch(), Sequence: part.GetHead().GetSequence()}
}

// An answer that does not follow what is held is evidence. From then on nothing from the fork on is served or stored, and
// the next epoch goes on.
func TestPollFindsAFork(t *testing.T) {
	b := newBranches(t, 2)
	b.other.append(t, testSpec, anEntry(2000))
	b.peer.Fetch(group.Fetch{Group: testTheme.Group(), Feed: b.ref, From: b.ref.Publisher, After: b.store.LogHead(b.ref).Position})
	third := feedring.Position{Epoch: 1000, Sequence: 3}
	if f := b.forked(); f.Feed != b.ref || f.At != third || f.Known || f.Last == [32]byte{} {
		t.Errorf("the machine is told %+v", f)
	}
	if served, head := b.positions(); len(served) != 2 || head.Sequence != 2 {
		t.Errorf("%v are served, through %v", served, head)
	}
	held := len(log(t, b.store, b.ref))
	if _, err := b.poll(time.Time{}); err != nil || len(log(t, b.store, b.ref)) != held {
		t.Errorf("a poll of what comes after the fork: %v, %d entries", err, len(log(t, b.store, b.ref)))
	}
	_, err := b.other.Write(t.Context(), testSpec, entries(3000, 3001), feedring.Position{Epoch: 1001, Sequence: 1})
	check(t, err)
	_, err = b.poll(time.Time{})
	check(t, err)
	if served, head := b.positions(); len(served) != 4 || head != (feedring.Position{Epoch: 1001, Sequence: 2}) {
		t.Errorf("with the next epoch %v are served, through %v", served, head)
	}
	if _, again := (<-told(b.peer, b)).(group.Forked); !again {
		t.Error("a membership that begins is told of no fork")
	}
}

// told is what the machine of a peer is told when a membership begins.
func told(r *Replicator, b *branches) <-chan group.Input {
	m := &machine{told: make(chan group.Input, 16)}
	r.Machine = m
	r.Entered(testTheme.Group())
	return m.told
}

// A head with another hash than that of the entry held has its teller polled, which brings evidence of the first entry
// that differs. One who was asked in vain is not asked again at once.
func TestOtherHashesAreAskedFor(t *testing.T) {
	b := newBranches(t, 3)
	other := b.other.Store.LogHead(b.ref)
	b.peer.Compare(group.Compare{Group: testTheme.Group(), Head: b.store.LogHead(b.ref), From: "teller"})
	b.peer.Compare(group.Compare{Group: testTheme.Group(), Head: other, From: "teller"})
	if f := b.forked(); f.At != other.Position {
		t.Errorf("the fork is at %v", f.At)
	}
	if polls := b.opened.Load(); polls != 2 { // one filled the store
		t.Errorf("%d polls", polls-1)
	}

	b = newBranches(t, 3)
	b.holder = newReplicator(t, b.store, "honest", nil, 0)
	for range 3 {
		lie := b.store.LogHead(b.ref)
		lie.Hash[0] ^= 1
		b.peer.compare(group.Compare{Group: testTheme.Group(), Head: lie, From: "liar"})
	}
	if polls := b.opened.Load(); polls != 2 || b.peer.Forks.Any() {
		t.Errorf("a liar was polled %d times, and a fork found: %v", polls-1, b.peer.Forks.Any())
	}
}

// What this peer published after its own fork is found anew at the origin, and published again in the next epoch.
func TestOwnForkIsPublishedAgain(t *testing.T) {
	b := newBranches(t, 1)
	k, err := forks.Open(t.Context(), b.other.Store, nodetest.Quiet)
	check(t, err)
	b.other.Forks = k
	before := len(log(t, b.other.Store, b.ref))
	write := func() int {
		t.Helper()
		next := feedring.Position{Epoch: b.other.Store.LogHead(b.ref).Position.Epoch + 1, Sequence: 1}
		_, err := b.other.Write(t.Context(), testSpec, []feedring.Entry{entries(1, 1)[0], anEntry(1001)}, next)
		check(t, err)
		return len(log(t, b.other.Store, b.ref)) - before
	}
	if more := write(); more != 0 {
		t.Errorf("%d entries are published twice", more)
	}
	b.peer.Compare(group.Compare{Group: testTheme.Group(), Head: b.other.Store.LogHead(b.ref), From: "teller"})
	b.forked()
	fork, _ := b.peer.Forks.Evidence(b.ref, 1000)
	if _, err := k.Add(t.Context(), fork); err != nil {
		t.Fatal(err)
	}
	if more := write(); more != 1 {
		t.Errorf("%d entries are published again, not the one after the fork", more)
	}
	if more := write(); more != 1 {
		t.Errorf("%d are published again later", more-1)
	}
}

// A retraction after a fork stands in the place of what it took back before: who comes later stores what follows there.
func TestRetractionAfterAForkStandsIn(t *testing.T) {
	p := newPollers(t)
	p.publisher.append(t, testSpec, entries(1, 3)...)
	p.publisher.append(t, testSpec, retracted(1)...)
	_, err := p.poll(time.Time{})
	check(t, err)
	held := log(t, p.store, p.ref)
	late := relayed(t, p)
	late.peer.Forks, err = forks.Open(t.Context(), late.store, nodetest.Quiet)
	check(t, err)
	w := writer(openStore(t), p.publisher.Sealer)
	w.clock.At = time.Now()
	first := held[0].Position
	for range 2 { // the other history
		_, err = w.Write(t.Context(), testSpec, []feedring.Entry{anEntry(1000 + int(first.Sequence)), anEntry(2000 + int(first.Sequence))}, first)
		check(t, err)
		first.Sequence += 2
	}
	other := log(t, w.Store, p.ref)
	fork, err := wire.ForkOf(sealed.Seal(&held[3]), sealed.Seal(&other[3]))
	check(t, err)
	fork.At = held[3].Position // where only the retraction differs
	_, err = late.peer.Forks.Add(t.Context(), fork)
	check(t, err)
	if _, err = late.poll(time.Now().Add(-time.Hour)); err != nil {
		t.Errorf("who comes later: %v", err)
	}
	if got := log(t, late.store, p.ref); len(got) != 3 {
		t.Errorf("%d places are stored", len(got))
	}
}
