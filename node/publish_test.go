package node

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/node/internal/sealed"
)

// chained checks a log: signatures, chain, sequence, and seen times.
func chained(t *testing.T, items []store.Item) {
	t.Helper()
	verifier := wire.NewVerifier(testNetwork)
	var last store.Item
	for _, it := range items {
		e, previous, err := verifier.Entry(&feedring.Seal{Signer: it.Ref.Publisher, Payload: it.Payload, Signature: it.Signature})
		check(t, err)
		next := last.Position.Sequence + 1
		if e.Position.Epoch != last.Position.Epoch {
			next, last.Hash = 1, [32]byte{}
		}
		if e.Position.Sequence != next || previous != last.Hash {
			t.Errorf("%v does not follow %v", e.Position, last.Position)
		}
		if e.Seen.Before(last.Seen.Truncate(time.Millisecond)) || e.Published.After(e.Seen) {
			t.Errorf("%v: published %s, seen %s after %s", e.Position, e.Published, e.Seen, last.Seen)
		}
		last = it
	}
}

func TestPublisherChainsAndNeverFallsInTime(t *testing.T) {
	s, sealer := openStore(t), newSealer(t)
	ref := feedring.FeedRef{URL: testURL, Publisher: sealer.ID()}
	p := writer(s, sealer)
	p.append(t, testSpec, entries(1, 3)...)
	p.now = func() time.Time { return time.Now().Add(-24 * time.Hour) } // restarted, the clock set back
	p.append(t, testSpec, entries(4, 5)...)
	_, err := p.write(t.Context(), &batch{spec: testSpec, entries: entries(6, 7)},
		feedring.Position{Epoch: s.Heads()[0].Last.Epoch + 10, Sequence: 1})
	check(t, err)
	p.now = time.Now
	p.append(t, testSpec, entries(8, 8)...)
	all := log(t, s, ref)
	if len(all) != 8 {
		t.Fatalf("%d entries", len(all))
	}
	chained(t, all)
}

func TestPublisherRefusesWrongPositions(t *testing.T) {
	s, sealer := openStore(t), newSealer(t)
	p := writer(s, sealer)
	p.append(t, testSpec, entries(1, 3)...)
	at := s.Heads()[0].Last
	for _, first := range []feedring.Position{
		at, {Epoch: at.Epoch, Sequence: at.Sequence + 2}, {Epoch: at.Epoch - 1, Sequence: 1}, {Epoch: at.Epoch + 1, Sequence: 2},
	} {
		head, err := p.write(t.Context(), &batch{spec: testSpec, entries: entries(4, 4)}, first)
		if !errors.Is(err, errMisplaced) || head.Position != at {
			t.Errorf("%v: head %v, %v", first, head.Position, err)
		}
	}
	_ = s.Close()
	head, err := p.write(t.Context(), &batch{spec: testSpec, entries: entries(4, 4)}, feedring.Position{Epoch: at.Epoch, Sequence: 4})
	if err == nil || head.Position != at {
		t.Errorf("a closed store: head %v, %v", head.Position, err)
	}
}

func TestPublisherPublishesOnce(t *testing.T) {
	s, sealer := openStore(t), newSealer(t)
	ref := feedring.FeedRef{URL: testURL, Publisher: sealer.ID()}
	p := writer(s, sealer)
	p.append(t, testSpec, entries(1, 3)...)

	found := entries(1, 4) // what was noted of the first look is lost
	found[1].Title = "changed meanwhile"
	found[2].Published = time.Time{} // the origin gives no date: that of the look
	p.append(t, testSpec, found...)
	all := log(t, s, ref)
	if len(all) != 5 || all[3].ID != found[1].ID || all[3].Version != 2 || all[4].ID != found[3].ID {
		t.Fatalf("%d entries: %+v", len(all), all[3:])
	}

	next := anEntry(1) // nothing is lost: the next version is news, whatever changed in it
	next.Version = 2
	p.append(t, testSpec, next)
	p.append(t, testSpec, found...)
	if all = log(t, s, ref); len(all) != 6 || all[5].Version != 2 {
		t.Fatalf("%d entries", len(all))
	}
	chained(t, all)

	moved := testSpec // another group has none of it
	moved.Theme = "sport"
	_, err := p.write(t.Context(), &batch{spec: moved, entries: entries(1, 3)}, feedring.Position{Epoch: all[0].Position.Epoch + 1, Sequence: 1})
	check(t, err)
	if all = log(t, s, ref); len(all) != 9 || all[8].Version != 1 {
		t.Errorf("%d entries", len(all))
	}
}

func TestPublisherGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []group.Input
		p := &publisher{
			waiting: make(map[uint64]*batch),
			tell:    func(_ feedring.GroupID, in group.Input) { asked = append(asked, in) },
		}
		if err := p.publish(t.Context(), testSpec, entries(1, 2)); !errors.Is(err, errNotPlaced) {
			t.Errorf("no positions: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := p.publish(ctx, testSpec, entries(1, 2)); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
		if len(asked) != 2 || asked[0].(group.Publish).Entries != 2 || len(p.waiting) != 0 {
			t.Errorf("asked %v, waiting %d", asked, len(p.waiting))
		}
	})
}

// TestPublisherIsToldOfNoPositions: it waits no longer.
func TestPublisherIsToldOfNoPositions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for full, want := range map[bool]error{false: errNotInRow, true: errManyWait} {
			p := &publisher{waiting: make(map[uint64]*batch)}
			p.tell = func(g feedring.GroupID, in group.Input) {
				p.unplaced(group.Unplaced{Group: g, Batch: in.(group.Publish).Batch, Full: full})
			}
			began := time.Now()
			if err := p.publish(t.Context(), testSpec, entries(1, 2)); !errors.Is(err, want) || time.Since(began) > 0 || len(p.waiting) > 0 {
				t.Errorf("full %v: %v after %s", full, err, time.Since(began))
			}
			p.unplaced(group.Unplaced{Batch: 99}) // its caller is gone
		}
	})
}

func TestPublisherAnswersEachAppend(t *testing.T) {
	s, sealer := openStore(t), newSealer(t)
	ref := feedring.FeedRef{URL: testURL, Publisher: sealer.ID()}
	told := make(chan group.Input, 8)
	p := writer(s, sealer)
	p.spawn = spawn(t)
	p.tell = func(_ feedring.GroupID, in group.Input) { told <- in }
	first := feedring.Position{Epoch: 5, Sequence: 1}
	published := make(chan error, 1)
	go func() { published <- p.publish(t.Context(), testSpec, entries(1, 2)) }()
	ask := (<-told).(group.Publish)
	p.assign(group.Append{Batch: ask.Batch, Feed: ref, First: first})
	if a := (<-told).(group.Appended); a.Failed || a.Batch != ask.Batch || a.Head.Position != (feedring.Position{Epoch: 5, Sequence: 2}) {
		t.Errorf("told %+v", a)
	}
	check(t, <-published)
	p.assign(group.Append{Batch: 99, Feed: ref, First: feedring.Position{Epoch: 5, Sequence: 3}}) // its caller is gone
	if a := (<-told).(group.Appended); !a.Failed || a.Batch != 99 || a.Head.Position.Sequence != 2 || a.Head.Hash == [32]byte{} {
		t.Errorf("told %+v", a)
	}
}

// TestPublisherShares: nothing of what is not shared is signed, and a change in
// what is not shared is no new version.
func TestPublisherShares(t *testing.T) {
	s, sealer := openStore(t), newSealer(t)
	p := writer(s, sealer)
	p.share = feedring.ShareTitle
	one := anEntry(1)
	one.Summary, one.ContentHTML = "confidential", "<p>confidential</p>"
	p.append(t, testSpec, one)
	one.Version, one.ContentHTML = 2, "<p>still confidential</p>"
	p.append(t, testSpec, one)
	one.Version, one.Title = 3, "said aloud"
	p.append(t, testSpec, one)

	summary, private := testSpec, testSpec // as these feeds say
	summary.URL, summary.Share = testURL+"/summary", feedring.ShareSummary
	private.URL, private.Theme = testURL+"/private", ""
	p.append(t, summary, one)
	p.append(t, private, one)
	for url, want := range map[string][]string{
		testURL: {"", ""}, summary.URL: {"confidential"}, private.URL: {"confidential<p>still confidential</p>"},
	} {
		items := log(t, s, feedring.FeedRef{URL: url, Publisher: sealer.ID()})
		if len(items) != len(want) {
			t.Fatalf("%s: %d versions", url, len(items))
		}
		for i, it := range items {
			e, _, err := wire.DecodeEntry(sealed.Seal(&it))
			check(t, err)
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
	s := openStore(t)
	p := writer(s, newSealer(t))
	e := anEntry(1)
	e.Published, e.Updated = time.Now().Add(-time.Hour), time.Time{}
	p.append(t, testSpec, e)
	for version := uint32(2); version <= 4; version++ {
		e.Version, e.Title = version, e.Title+"!"
		p.append(t, testSpec, e)
	}
	given := time.Now().Add(time.Minute).UTC().Truncate(time.Second) // by another clock
	e.Version, e.Title, e.Updated = 5, "given", given
	p.append(t, testSpec, e)
	var before time.Time
	for i, it := range log(t, s, feedring.FeedRef{URL: testURL, Publisher: p.self}) {
		found, _, err := wire.DecodeEntry(sealed.Seal(&it))
		check(t, err)
		if !found.Published.Equal(e.Published.Truncate(time.Second)) || i > 0 && !found.Updated.After(before) || i == 0 && !found.Updated.IsZero() {
			t.Errorf("version %d: published %s, updated %s after %s", found.Version, found.Published, found.Updated, before)
		}
		before = found.Updated
	}
	if !before.Equal(given) {
		t.Errorf("the date of the feed became %s", before)
	}
}
