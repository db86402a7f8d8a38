package replicate

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/node/internal/nodetest"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// spoil damages an entry on disk and has the store find it.
func spoil(t *testing.T, s *store.Store, dir string, ref feedring.FeedRef, p feedring.Position) {
	t.Helper()
	it, err := s.Get(ref, p)
	check(t, err)
	files, err := filepath.Glob(filepath.Join(dir, "*.seg"))
	check(t, err)
	for _, name := range files {
		body, err := os.ReadFile(name)
		check(t, err)
		if at := bytes.Index(body, it.Payload); at >= 0 {
			body[at+3]++
			check(t, os.WriteFile(name, body, 0o600))
		}
	}
	if _, err := s.Get(ref, p); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("a damaged entry: %v", err)
	}
	eventually(t, func() bool { return s.Damaged() > 0 })
}

func eventually(t *testing.T, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(time.Minute); !holds(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatal("not yet")
		}
	}
}

func openIn(t *testing.T) (*store.Store, string) {
	dir := t.TempDir()
	s, err := store.Open(dir, store.Options{Reserve: -1})
	check(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s, dir
}

// TestDamagedEntryIsPolledAgain damages an entry in the middle of a polled log: it
// comes back from the publisher, and what is new goes on coming.
func TestDamagedEntryIsPolledAgain(t *testing.T) {
	p := newPollers(t)
	s, dir := openIn(t)
	p.begin(s)
	p.publisher.append(t, testSpec, entries(1, 20)...)
	_, err := p.poll(time.Time{})
	check(t, err)
	want := log(t, p.publisher.Store, p.ref)
	hole := want[7].Position
	spoil(t, s, dir, p.ref, hole)
	eventually(t, func() bool { _, err := s.Get(p.ref, hole); return err == nil })
	// The list of holes is shortened only after the entry is committed.
	eventually(t, func() bool { _, holed := s.NextHole(p.ref, feedring.Position{}); return !holed })
	p.publisher.append(t, testSpec, entries(21, 22)...)
	_, err = p.poll(time.Time{})
	check(t, err)
	items := log(t, s, p.ref)
	nodetest.Chained(t, items)
	if len(items) != 22 {
		t.Errorf("%d entries", len(items))
	}
}

// TestOwnDamagedEntryComesFromAMember damages an entry that this peer published: a
// member that polled it gives it back.
func TestOwnDamagedEntryComesFromAMember(t *testing.T) {
	p := newPollers(t)
	s, dir := openIn(t)
	p.publisher.Store = s
	p.publisher.Publisher = writer(s, newSealer(t)).Publisher
	p.ref.Publisher = p.publisher.Self
	p.publisher.append(t, testSpec, entries(1, 10)...)
	want := log(t, s, p.ref)
	check(t, p.store.Append(t.Context(), want))
	p.holder, p.store = p.peer, s // from now on the publisher polls
	p.peer = newReplicator(t, s, p.publisher.Self, p, 0)
	p.peer.Machine.(*machine).members = []feedring.PeerID{p.publisher.Self, "member"}
	hole := want[4].Position
	spoil(t, s, dir, p.ref, hole)
	eventually(t, func() bool { _, err := s.Get(p.ref, hole); return err == nil })
	items := log(t, s, p.ref)
	nodetest.Chained(t, items)
	if len(items) != 10 {
		t.Errorf("%d entries", len(items))
	}
}

// TestWrongHolderIsAskedAtDoublingWaits has a holder that gives what is wrong instead
// of what was damaged: however often it is polled, it is asked for that after twice the
// time only, and another holder is asked at once.
func TestWrongHolderIsAskedAtDoublingWaits(t *testing.T) {
	p := newPollers(t)
	s, dir := openIn(t)
	p.begin(s)
	p.publisher.append(t, testSpec, entries(1, 10)...)
	_, err := p.poll(time.Time{})
	check(t, err)
	hole := log(t, s, p.ref)[4].Position
	p.twist = func(part *feedringv1.PollPart) {
		for _, it := range part.Items {
			it.Signature[5] ^= 1
		}
	}
	before := p.opened.Load()
	spoil(t, s, dir, p.ref, hole)
	asked := func() int32 { return p.opened.Load() - before }
	eventually(t, func() bool { return asked() == 1 })
	clock := &p.peer.Machine.(*machine).ahead
	for _, step := range []struct {
		pass time.Duration
		want int32
	}{{0, 1}, {mendFirst, 2}, {mendFirst, 2}, {mendFirst, 3}, {3 * mendFirst, 3}, {mendFirst, 4}} {
		clock.Add(int64(step.pass))
		for range 5 {
			p.peer.mend(p.ref, p.ref.Publisher)
		}
		if asked() != step.want {
			t.Errorf("asked %d times, want %d", asked(), step.want)
		}
	}
	p.twist = nil
	p.peer.mend(p.ref, "another")
	if _, err := s.Get(p.ref, hole); err != nil {
		t.Errorf("another holder has it: %v", err)
	}
}

// TestNothingIsServedAcrossAHole polls a holder that lost an entry: it gives what
// comes before, and after for whom is beyond, and nobody is suspected.
func TestNothingIsServedAcrossAHole(t *testing.T) {
	p := newPollers(t)
	s, dir := openIn(t)
	p.publisher.Store = s
	p.publisher.Publisher = writer(s, newSealer(t)).Publisher
	p.ref.Publisher = p.publisher.Self
	p.publisher.append(t, testSpec, entries(1, 10)...)
	before := log(t, s, p.ref)
	spoil(t, s, dir, p.ref, before[4].Position)
	for range 2 {
		_, err := p.poll(time.Time{})
		check(t, err)
		if items := log(t, p.store, p.ref); len(items) != 4 {
			t.Errorf("%d entries", len(items))
		}
	}
	check(t, p.store.Append(t.Context(), before[4:7]))
	_, err := p.poll(time.Time{})
	check(t, err)
	if items := log(t, p.store, p.ref); len(items) != 10 {
		t.Errorf("%d entries", len(items))
	}
}
