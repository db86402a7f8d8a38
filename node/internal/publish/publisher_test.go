package publish

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/node/internal/nodetest"
	"github.com/feedring/feedring/node/internal/sealed"
)

// testWriter stores entries of one feed without a machine.
type testWriter struct {
	*Publisher
	clock *nodetest.Clock
}

func writer(s *store.Store, sealer *wire.Sealer) *testWriter {
	clock := &nodetest.Clock{}
	return &testWriter{New(Config{Self: sealer.ID(), Store: s, Sealer: sealer, Clock: clock}), clock}
}

// append stores entries where the log of spec stands.
func (w *testWriter) append(t testing.TB, spec feedring.FeedSpec, entries ...feedring.Entry) {
	t.Helper()
	if _, err := w.Write(t.Context(), spec, entries, w.NextPrivate(spec)); err != nil {
		t.Fatal(err)
	}
}

func TestPublisherChainsAndNeverFallsInTime(t *testing.T) {
	s, sealer := nodetest.OpenStore(t), nodetest.NewSealer(t)
	ref := feedring.FeedRef{URL: nodetest.URL, Publisher: sealer.ID()}
	p := writer(s, sealer)
	p.append(t, nodetest.Spec, nodetest.Entries(1, 3)...)
	p.clock.Ahead = -24 * time.Hour // restarted, the clock set back
	p.append(t, nodetest.Spec, nodetest.Entries(4, 5)...)
	_, err := p.Write(t.Context(), nodetest.Spec, nodetest.Entries(6, 7),
		feedring.Position{Epoch: s.Heads()[0].Last.Epoch + 10, Sequence: 1})
	nodetest.Check(t, err)
	p.clock.Ahead = 0
	p.append(t, nodetest.Spec, nodetest.Entries(8, 8)...)
	all := nodetest.Log(t, s, ref)
	if len(all) != 8 {
		t.Fatalf("%d entries", len(all))
	}
	nodetest.Chained(t, all)
}

func TestPublisherRefusesWrongPositions(t *testing.T) {
	s, sealer := nodetest.OpenStore(t), nodetest.NewSealer(t)
	p := writer(s, sealer)
	p.append(t, nodetest.Spec, nodetest.Entries(1, 3)...)
	at := s.Heads()[0].Last
	for _, first := range []feedring.Position{
		at, {Epoch: at.Epoch, Sequence: at.Sequence + 2}, {Epoch: at.Epoch - 1, Sequence: 1}, {Epoch: at.Epoch + 1, Sequence: 2},
	} {
		head, err := p.Write(t.Context(), nodetest.Spec, nodetest.Entries(4, 4), first)
		if !errors.Is(err, errMisplaced) || head.Position != at {
			t.Errorf("%v: head %v, %v", first, head.Position, err)
		}
	}
	_ = s.Close()
	head, err := p.Write(t.Context(), nodetest.Spec, nodetest.Entries(4, 4), feedring.Position{Epoch: at.Epoch, Sequence: 4})
	if err == nil || head.Position != at {
		t.Errorf("a closed store: head %v, %v", head.Position, err)
	}
}

func TestPublisherPublishesOnce(t *testing.T) {
	s, sealer := nodetest.OpenStore(t), nodetest.NewSealer(t)
	ref := feedring.FeedRef{URL: nodetest.URL, Publisher: sealer.ID()}
	p := writer(s, sealer)
	p.append(t, nodetest.Spec, nodetest.Entries(1, 3)...)

	found := nodetest.Entries(1, 4) // what was noted of the first look is lost
	found[1].Title = "changed meanwhile"
	found[2].Published = time.Time{} // the origin gives no date: that of the look
	p.append(t, nodetest.Spec, found...)
	all := nodetest.Log(t, s, ref)
	if len(all) != 5 || all[3].ID != found[1].ID || all[3].Version != 2 || all[4].ID != found[3].ID {
		t.Fatalf("%d entries: %+v", len(all), all[3:])
	}

	next := nodetest.Entry(1) // nothing is lost: the next version is news, whatever changed in it
	next.Version = 2
	p.append(t, nodetest.Spec, next)
	p.append(t, nodetest.Spec, found...)
	if all = nodetest.Log(t, s, ref); len(all) != 6 || all[5].Version != 2 {
		t.Fatalf("%d entries", len(all))
	}
	nodetest.Chained(t, all)

	moved := nodetest.Spec // another group has none of it
	moved.Theme = "sport"
	_, err := p.Write(t.Context(), moved, nodetest.Entries(1, 3), feedring.Position{Epoch: all[0].Position.Epoch + 1, Sequence: 1})
	nodetest.Check(t, err)
	if all = nodetest.Log(t, s, ref); len(all) != 9 || all[8].Version != 1 {
		t.Errorf("%d entries", len(all))
	}
}

func TestPublisherGivesUp(t *testing.T) {
	s := nodetest.OpenStore(t)
	full, err := store.Open(t.TempDir(), store.Options{Reserve: 1 << 60})
	nodetest.Check(t, err)
	t.Cleanup(func() { _ = full.Close() })
	synctest.Test(t, func(t *testing.T) {
		var asked []group.Input
		p := New(Config{Store: s, Loop: nodetest.Tell(func(_ feedring.GroupID, in group.Input) { asked = append(asked, in) })})
		if err := p.Publish(t.Context(), nodetest.Spec, nodetest.Entries(1, 2)); !errors.Is(err, ErrNotPlaced) {
			t.Errorf("no positions: %v", err)
		}
		p.Store = full
		if err := p.Publish(t.Context(), nodetest.Spec, nodetest.Entries(1, 2)); !errors.Is(err, store.ErrFull) {
			t.Errorf("no positions, as the disk is full: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := p.Publish(ctx, nodetest.Spec, nodetest.Entries(1, 2)); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
		if len(asked) != 3 || asked[0].(group.Publish).Entries != 2 || len(p.waiting) != 0 {
			t.Errorf("asked %v, waiting %d", asked, len(p.waiting))
		}
	})
}

// TestPublisherIsToldOfNoPositions: it waits no longer.
func TestPublisherIsToldOfNoPositions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for full, want := range map[bool]error{false: errNotInRow, true: errManyWait} {
			p := New(Config{})
			p.Loop = nodetest.Tell(func(g feedring.GroupID, in group.Input) {
				p.Unplaced(group.Unplaced{Group: g, Batch: in.(group.Publish).Batch, Full: full})
			})
			began := time.Now()
			if err := p.Publish(t.Context(), nodetest.Spec, nodetest.Entries(1, 2)); !errors.Is(err, want) || time.Since(began) > 0 || len(p.waiting) > 0 {
				t.Errorf("full %v: %v after %s", full, err, time.Since(began))
			}
			p.Unplaced(group.Unplaced{Batch: 99}) // its caller is gone
		}
	})
}

// answered is what a poll is answered.
type answered string

func (a answered) Answer(ref feedring.FeedRef, after feedring.Position) []byte {
	return fmt.Appendf(nil, "%s of %s after %d", a, ref.URL, after.Sequence)
}

func TestPublisherAnswersEachAppend(t *testing.T) {
	s, sealer := nodetest.OpenStore(t), nodetest.NewSealer(t)
	ref := feedring.FeedRef{URL: nodetest.URL, Publisher: sealer.ID()}
	told := make(chan group.Input, 8)
	p := writer(s, sealer)
	p.Tasks, p.Answers = nodetest.Tasks(t), answered("all")
	p.Loop = nodetest.Tell(func(_ feedring.GroupID, in group.Input) { told <- in })
	first := feedring.Position{Epoch: 5, Sequence: 1}
	published := make(chan error, 1)
	go func() { published <- p.Publish(t.Context(), nodetest.Spec, nodetest.Entries(1, 2)) }()
	ask := (<-told).(group.Publish)
	p.Assign(group.Append{Batch: ask.Batch, Feed: ref, First: first})
	if a := (<-told).(group.Appended); a.Failed || a.Batch != ask.Batch || a.Head.Position != (feedring.Position{Epoch: 5, Sequence: 2}) {
		t.Errorf("told %+v", a)
	} else if !a.After.IsZero() || string(a.Answer) != "all of "+ref.URL+" after 0" {
		t.Errorf("the members are sent %q, after %v", a.Answer, a.After)
	}
	nodetest.Check(t, <-published)
	p.Assign(group.Append{Batch: 99, Feed: ref, First: feedring.Position{Epoch: 5, Sequence: 3}}) // its caller is gone
	if a := (<-told).(group.Appended); !a.Failed || a.Batch != 99 || a.Head.Position.Sequence != 2 || a.Head.Hash == [32]byte{} || len(a.Answer) > 0 {
		t.Errorf("told %+v", a)
	}
}

// TestPublisherShares: nothing of what is not shared is signed, and a change in
// what is not shared is no new version.
func TestPublisherShares(t *testing.T) {
	s, sealer := nodetest.OpenStore(t), nodetest.NewSealer(t)
	p := writer(s, sealer)
	p.Share = feedring.ShareTitle
	one := nodetest.Entry(1)
	one.Summary, one.ContentHTML = "confidential", "<p>confidential</p>"
	p.append(t, nodetest.Spec, one)
	one.Version, one.ContentHTML = 2, "<p>still confidential</p>"
	p.append(t, nodetest.Spec, one)
	one.Version, one.Title = 3, "said aloud"
	p.append(t, nodetest.Spec, one)

	summary, private := nodetest.Spec, nodetest.Spec // as these feeds say
	summary.URL, summary.Share = nodetest.URL+"/summary", feedring.ShareSummary
	private.URL, private.Theme = nodetest.URL+"/private", ""
	p.append(t, summary, one)
	p.append(t, private, one)
	for url, want := range map[string][]string{
		nodetest.URL: {"", ""}, summary.URL: {"confidential"}, private.URL: {"confidential<p>still confidential</p>"},
	} {
		items := nodetest.Log(t, s, feedring.FeedRef{URL: url, Publisher: sealer.ID()})
		if len(items) != len(want) {
			t.Fatalf("%s: %d versions", url, len(items))
		}
		for i, it := range items {
			e, _, err := wire.DecodeEntry(sealed.Seal(&it))
			nodetest.Check(t, err)
			if got := e.Summary + e.ContentHTML; got != want[i] || e.Truncated != (url != private.URL) {
				t.Errorf("%s: version %d tells %q, truncated %v", url, i, got, e.Truncated)
			}
			if strings.Contains(string(it.Text), "confidential") != (want[i] != "") {
				t.Errorf("%s: version %d is found by %q", url, i, it.Text)
			}
		}
	}
}

// A correction whose feed gives no later date gets one, each a later one; a date that
// the feed gives stays.
func TestCorrectionsGetALaterDate(t *testing.T) {
	s := nodetest.OpenStore(t)
	p := writer(s, nodetest.NewSealer(t))
	e := nodetest.Entry(1)
	e.Published, e.Updated = time.Now().Add(-time.Hour), time.Time{}
	p.append(t, nodetest.Spec, e)
	for version := uint32(2); version <= 4; version++ {
		e.Version, e.Title = version, e.Title+"!"
		p.append(t, nodetest.Spec, e)
	}
	given := time.Now().Add(time.Minute).UTC().Truncate(time.Second) // by another clock
	e.Version, e.Title, e.Updated = 5, "given", given
	p.append(t, nodetest.Spec, e)
	var before time.Time
	for i, it := range nodetest.Log(t, s, feedring.FeedRef{URL: nodetest.URL, Publisher: p.Self}) {
		found, _, err := wire.DecodeEntry(sealed.Seal(&it))
		nodetest.Check(t, err)
		if !found.Published.Equal(e.Published.Truncate(time.Second)) || i > 0 && !found.Updated.After(before) || i == 0 && !found.Updated.IsZero() {
			t.Errorf("version %d: published %s, updated %s after %s", found.Version, found.Published, found.Updated, before)
		}
		before = found.Updated
	}
	if !before.Equal(given) {
		t.Errorf("the date of the feed became %s", before)
	}
}

func TestPublisherTakesBackForGood(t *testing.T) {
	s, sealer := nodetest.OpenStore(t), nodetest.NewSealer(t)
	ref := feedring.FeedRef{URL: nodetest.URL, Publisher: sealer.ID()}
	p := writer(s, sealer)
	p.append(t, nodetest.Spec, nodetest.Entries(1, 3)...)
	p.append(t, nodetest.Spec, nodetest.Changed(2, 2))
	p.append(t, nodetest.Spec, nodetest.Retractions(2, 77)...) // 77 was never there
	p.append(t, nodetest.Spec, nodetest.Retractions(2)...)     // again: nothing is left to be taken back
	p.append(t, nodetest.Spec, nodetest.Entries(1, 3)...)      // its origin still has it
	p.append(t, nodetest.Spec, nodetest.Changed(2, 3), nodetest.Changed(2, 9))
	p.append(t, nodetest.Spec, nodetest.Entries(4, 4)...)
	all := nodetest.Log(t, s, ref)
	if got := nodetest.Shape(all); got != "esesre" {
		t.Fatalf("the log is %s", got)
	}
	e, previous, err := wire.NewVerifier(nodetest.Network).Entry(&feedring.Seal{Signer: ref.Publisher, Payload: all[4].Payload, Signature: all[4].Signature})
	nodetest.Check(t, err)
	want := []feedring.Taken{
		{Position: all[1].Position, Hash: all[1].Hash, Seen: all[1].Seen}, {Position: all[3].Position, Hash: all[3].Hash, Seen: all[3].Seen},
	}
	if !e.Retracted || e.Version != 3 || !reflect.DeepEqual(e.Takes, want) || previous != all[3].Hash || e.Position != all[4].Position {
		t.Errorf("retraction %+v after %x", e, previous)
	}
	moved := nodetest.Spec // nor in another group
	moved.Theme = "sport"
	_, err = p.Write(t.Context(), moved, nodetest.Entries(1, 3), feedring.Position{Epoch: all[0].Position.Epoch + 1, Sequence: 1})
	nodetest.Check(t, err)
	if got := nodetest.Shape(nodetest.Log(t, s, ref)); got != "esesreee" {
		t.Errorf("the log is %s", got)
	}
}

func TestPublisherTakesVeryManyVersionsBack(t *testing.T) {
	s, sealer := nodetest.OpenStore(t), nodetest.NewSealer(t)
	p := writer(s, sealer)
	for n := range uint32(feedring.MaxTaken + 5) {
		e := nodetest.Changed(1, n+1)
		e.Title = time.Duration(n).String()
		p.append(t, nodetest.Spec, e)
	}
	p.append(t, nodetest.Spec, nodetest.Retractions(1)...)
	items := nodetest.Log(t, s, feedring.FeedRef{URL: nodetest.URL, Publisher: sealer.ID()})
	for i := range items {
		if items[i].Tombstone != (i < feedring.MaxTaken+5) {
			t.Errorf("%d is a tombstone: %v", i, items[i].Tombstone)
		}
	}
	if n := len(items); n != feedring.MaxTaken+5+2 || !items[n-1].Retraction || !items[n-2].Retraction || items[n-1].Version <= items[n-2].Version {
		t.Errorf("%d items, the last are %+v", n, items[n-2:])
	}
}

// forkedAt is a log that ends before a position.
type forkedAt feedring.Position

func (f forkedAt) Hides(_ feedring.FeedRef, at feedring.Position) bool {
	return at.Epoch == f.Epoch && at.Sequence >= f.Sequence
}
func (f forkedAt) Of(feedring.FeedRef) []feedring.Position {
	return []feedring.Position{feedring.Position(f)}
}

// What a publisher retracted after its fork, it retracts again in the next epoch, once: nobody obeys the first retraction,
// and the origin tells of none.
func TestRetractionsAfterAForkAreMadeAnew(t *testing.T) {
	s, sealer := nodetest.OpenStore(t), nodetest.NewSealer(t)
	ref := feedring.FeedRef{URL: nodetest.URL, Publisher: sealer.ID()}
	p := writer(s, sealer)
	p.append(t, nodetest.Spec, nodetest.Entries(1, 3)...)
	p.append(t, nodetest.Spec, nodetest.Retractions(1)...)
	p.append(t, nodetest.Spec, nodetest.Retractions(2)...)
	all := nodetest.Log(t, s, ref)
	p.Forks = forkedAt(all[4].Position)
	p.clock.Ahead = time.Hour
	next := feedring.Position{Epoch: all[0].Position.Epoch + 1, Sequence: 1}
	for range 2 {
		_, err := p.Write(t.Context(), nodetest.Spec, nodetest.Entries(2, 4), next)
		nodetest.Check(t, err)
		next.Sequence = p.NextPrivate(nodetest.Spec).Sequence
	}
	all = nodetest.Log(t, s, ref)
	if got := nodetest.Shape(all); got != "sserrre" {
		t.Fatalf("the log is %s", got)
	}
	before, _, err := wire.DecodeEntry(sealed.Seal(&all[4]))
	nodetest.Check(t, err)
	again, _, err := wire.NewVerifier(nodetest.Network).Entry(sealed.Seal(&all[5]))
	nodetest.Check(t, err)
	if again.ID != before.ID || !again.Retracted || !reflect.DeepEqual(again.Takes, before.Takes) || again.Version <= before.Version || !again.Seen.After(before.Seen) {
		t.Errorf("after %+v the next epoch has %+v", before, again)
	}
}
