package forks_test

import (
	"fmt"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/wiretest"
	"github.com/feedring/feedring/node/internal/forks"
)

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// forkAt is two entries of a publisher at one position, of now.
func forkAt(t testing.TB, by *wire.Sealer, epoch, sequence uint64) feedring.Fork {
	t.Helper()
	return forkSeen(t, by, epoch, sequence, time.Now())
}

// forkSeen is forkAt with the date of the entries.
func forkSeen(t testing.TB, by *wire.Sealer, epoch, sequence uint64, seen time.Time) feedring.Fork {
	t.Helper()
	var seals [2]*feedring.Seal
	for i := range seals {
		e := wiretest.SampleEntry(by.ID())
		e.Title, e.Seen, e.Position = fmt.Sprint(i), seen, feedring.Position{Epoch: epoch, Sequence: sequence}
		seals[i] = wiretest.SealEntry(t, by, e, [32]byte{})
	}
	fork, err := wire.ForkOf(seals[0], seals[1])
	if err != nil {
		t.Fatal(err)
	}
	return fork
}

func openStore(t testing.TB, dir string) *store.Store {
	t.Helper()
	s, err := store.Open(dir, store.Options{Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func openKeeper(t testing.TB, s *store.Store) *forks.Keeper {
	t.Helper()
	k, err := forks.Open(t.Context(), s, quiet)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func add(t testing.TB, k *forks.Keeper, fork feedring.Fork) bool {
	t.Helper()
	news, err := k.Add(t.Context(), fork)
	if err != nil {
		t.Fatal(err)
	}
	return news
}

// What comes after a fork does not count, over a restart, until another epoch; an earlier fork of the epoch replaces it.
func TestForksAreKept(t *testing.T) {
	dir, by := t.TempDir(), wiretest.NewSealer(t, 1)
	s := openStore(t, dir)
	k := openKeeper(t, s)
	at := func(sequence uint64) feedring.Position { return feedring.Position{Epoch: 5, Sequence: sequence} }
	fork := forkAt(t, by, 5, 9)
	if k.Any() || k.Known(fork) || k.Hides(fork.Feed, fork.At) || k.End(fork.Feed, at(11)) != at(11) {
		t.Error("a fork is known before there is one")
	}
	if !add(t, k, fork) || add(t, k, fork) || add(t, k, forkAt(t, by, 5, 10)) {
		t.Error("evidence is news once, and none of a later position is")
	}
	if !add(t, k, forkAt(t, by, 5, 7)) {
		t.Error("an earlier fork is no news")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openStore(t, dir)
	defer s.Close()
	for _, k := range []*forks.Keeper{k, openKeeper(t, s)} {
		for _, c := range []struct {
			at    feedring.Position
			hides bool
			end   feedring.Position
		}{{at(6), false, at(6)}, {at(7), true, at(6)}, {at(99), true, at(6)}, {feedring.Position{Epoch: 6, Sequence: 8}, false, feedring.Position{Epoch: 6, Sequence: 8}}} {
			if hides, end := k.Hides(fork.Feed, c.at), k.End(fork.Feed, c.at); hides != c.hides || end != c.end {
				t.Errorf("%v: hidden %v, through %v", c.at, hides, end)
			}
		}
	}
	k = openKeeper(t, s)
	if kept, ok := k.Evidence(fork.Feed, 5); !ok || kept.At != at(7) || wire.Verify(wiretest.Network, wire.KindEntry, kept.Entries[1]) != nil {
		t.Errorf("the evidence is %+v, %v", kept, ok)
	}
	if in := k.In(feedring.Theme("news").Group()); len(in) != 1 || in[0].At != at(7) || len(k.In(feedring.Theme("sport").Group())) > 0 {
		t.Errorf("in the group there are %v", in)
	}
}

// Of a log that is forked again and again sixteen forks are kept, and then nothing of it counts.
func TestManyForksOfOneLog(t *testing.T) {
	s := openStore(t, t.TempDir())
	defer s.Close()
	k, by, other := openKeeper(t, s), wiretest.NewSealer(t, 1), wiretest.NewSealer(t, 2)
	for epoch := range uint64(2 * forks.MaxOf) {
		if news := add(t, k, forkAt(t, by, epoch+1, 2)); news != (epoch < forks.MaxOf) {
			t.Errorf("fork %d: news %v", epoch+1, news)
		}
		if bars := k.Bars(forkAt(t, by, epoch+1, 2).Feed); bars != (epoch+1 >= forks.MaxOf) {
			t.Errorf("after %d forks barred: %v", epoch+1, bars)
		}
	}
	if fork := forkAt(t, other, 1, 2); !add(t, k, fork) || k.Bars(fork.Feed) {
		t.Error("another publisher pays for it")
	}
	kept := 0
	for _, err := range s.List(store.BucketFork) {
		if err != nil {
			t.Fatal(err)
		}
		kept++
	}
	if kept != forks.MaxOf+1 {
		t.Errorf("%d are on disk", kept)
	}
	fork := forkAt(t, other, 1, 2)
	for sequence := uint64(100); sequence > 1; sequence-- {
		add(t, k, forkAt(t, other, 7, sequence))
	}
	if kept, _ := k.Evidence(fork.Feed, 7); kept.At.Sequence < 80 {
		t.Errorf("one epoch's evidence was replaced until %v", kept.At)
	}
}

// A publisher whose disk was restored forked all of its logs once: each ends at its fork, and a later
// epoch counts.
func TestForksOfManyFeeds(t *testing.T) {
	s := openStore(t, t.TempDir())
	defer s.Close()
	k, by := openKeeper(t, s), wiretest.NewSealer(t, 1)
	for i := range 3 * forks.MaxOf {
		var seals [2]*feedring.Seal
		ref := feedring.FeedRef{}
		for j := range seals {
			e := wiretest.SampleEntry(by.ID())
			e.Feed, e.Title, e.Seen, e.Position = fmt.Sprintf("https://site.example/%d", i), fmt.Sprint(j), time.Now(), feedring.Position{Epoch: 1, Sequence: 2}
			e.ID = feedring.NewEntryID(e.Feed, e.Key, "", "")
			ref, seals[j] = e.Ref(), wiretest.SealEntry(t, by, e, [32]byte{})
		}
		fork, err := wire.ForkOf(seals[0], seals[1])
		if err != nil {
			t.Fatal(err)
		}
		if !add(t, k, fork) || k.Bars(ref) || k.Hides(ref, feedring.Position{Epoch: 2, Sequence: 1}) || !k.Hides(ref, feedring.Position{Epoch: 1, Sequence: 2}) {
			t.Fatalf("after %d forks of as many feeds: barred %v", i+1, k.Bars(ref))
		}
	}
}

// Evidence counts for thirty days from the date of its entries. Nobody lengthens that by sending it again, and what is
// replaced by evidence of an earlier position counts for as long as it did.
func TestEvidenceAges(t *testing.T) {
	const day = 24 * time.Hour
	s := openStore(t, t.TempDir())
	defer s.Close()
	k, by := openKeeper(t, s), wiretest.NewSealer(t, 1)
	began := time.Now()
	now := began
	k.SetClock(func() time.Time { return now })
	at := func(sequence uint64) feedring.Position { return feedring.Position{Epoch: 5, Sequence: sequence} }
	for name, seen := range map[string]time.Time{"too old": began.Add(-31 * day), "of a future that no log takes": began.Add(25 * time.Hour)} {
		if fork := forkSeen(t, by, 5, 9, seen); !k.Known(fork) || add(t, k, fork) || k.Any() {
			t.Errorf("evidence %s is taken", name)
		}
	}
	fork, earlier := forkSeen(t, by, 5, 9, began.Add(-20*day)), forkSeen(t, by, 5, 7, began.Add(-29*day))
	if !add(t, k, fork) || !add(t, k, earlier) {
		t.Fatal("evidence is no news")
	}
	changes := k.Changes()
	if now = began.Add(9 * day); !k.Hides(fork.Feed, at(7)) || k.Changes() != changes {
		t.Error("evidence that was replaced does not count any more")
	}
	now = began.Add(10*day + time.Minute)
	if k.Hides(fork.Feed, at(9)) || k.End(fork.Feed, at(9)) != at(9) || len(k.In(feedring.Theme("news").Group())) > 0 || k.Changes() == changes {
		t.Error("evidence of entries that are older than thirty days hides something")
	}
	if add(t, k, fork) || add(t, k, earlier) || k.Hides(fork.Feed, at(9)) {
		t.Error("evidence that was sent again counts again")
	}
	if !add(t, k, forkSeen(t, by, 5, 12, now)) || !k.Hides(fork.Feed, at(12)) || k.Hides(fork.Feed, at(11)) {
		t.Error("evidence of entries of now does not count")
	}
	for epoch := range uint64(forks.MaxOf) {
		add(t, k, forkSeen(t, by, 10+epoch, 1, now.Add(-time.Duration(epoch)*day)))
	}
	if !k.Bars(fork.Feed) {
		t.Error("a log with many forks is not barred")
	}
	if now = now.Add(16 * day); k.Bars(fork.Feed) {
		t.Error("a log is barred by forks that are too old")
	}
}
