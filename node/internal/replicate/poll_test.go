package replicate

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/node/internal/nodetest"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

func TestPollStoresTheWholeLog(t *testing.T) {
	p := newPollers(t)
	p.publisher.append(t, testSpec, entries(1, 500)...)
	p.peer.Fetch(group.Fetch{Group: testTheme.Group(), Feed: p.ref, From: p.ref.Publisher})
	got, want := (<-p.peer.Machine.(*machine).told).(group.Fetched), p.publisher.Store.LogHead(p.ref)
	if got.Failed || got.Head != want || got.Known.Position != want.Position {
		t.Errorf("stored %+v, not %+v", got, want)
	}
	nodetest.Chained(t, log(t, p.store, p.ref))
	p.publisher.append(t, testSpec, entries(501, 503)...)
	_, err := p.poll(time.Time{})
	check(t, err)
	if items := log(t, p.store, p.ref); len(items) != 503 {
		t.Errorf("%d entries", len(items))
	}
}

func TestPollLeavesOutWhatIsNotFresh(t *testing.T) {
	p := newPollers(t)
	old := time.Now().Add(-48 * time.Hour)
	p.publisher.clock.At = old
	for n := range 40 { // more than an answer has parts, were old entries to count
		p.publisher.append(t, testSpec, entries(1000*n, 1000*n+400)...)
	}
	known, err := p.poll(time.Now().Add(-24 * time.Hour))
	check(t, err)
	if want := p.publisher.Store.LogHead(p.ref).Position; known.Position != want || len(log(t, p.store, p.ref)) != 0 {
		t.Errorf("nothing is fresh: told %v, not %v", known.Position, want)
	}
	*p.publisher.clock = nodetest.Clock{}
	p.publisher.append(t, testSpec, entries(100_001, 100_003)...)
	_, err = p.poll(time.Now().Add(-24 * time.Hour))
	check(t, err)
	if items := log(t, p.store, p.ref); len(items) != 3 {
		t.Errorf("%d fresh entries", len(items))
	}
}

// TestPollOfAMovedFeedGivesItsGroupOnly polls a feed that was private, and of another group, before.
func TestPollOfAMovedFeedGivesItsGroupOnly(t *testing.T) {
	p := newPollers(t)
	private, sport := testSpec, testSpec
	private.Theme, sport.Theme = "", "sport"
	p.publisher.append(t, private, entries(1, 3)...)
	if known, err := p.poll(time.Time{}); err != nil || !known.Position.IsZero() || len(log(t, p.store, p.ref)) > 0 {
		t.Errorf("a private feed was served: %v, %v", known.Position, err)
	}
	for _, spec := range []feedring.FeedSpec{sport, testSpec} {
		first := feedring.Position{Epoch: p.publisher.Store.LogHead(p.ref).Position.Epoch + 1, Sequence: 1}
		_, err := p.publisher.Write(t.Context(), spec, entries(1, 4), first)
		check(t, err)
	}
	_, err := p.poll(time.Time{})
	check(t, err)
	items := log(t, p.store, p.ref)
	for _, it := range items {
		if it.Theme != testTheme || it.Private {
			t.Errorf("polled an entry of %q, private %t", it.Theme, it.Private)
		}
	}
	if len(items) != 4 {
		t.Errorf("%d entries", len(items))
	}
}

func TestPollRefusesWrongEntries(t *testing.T) {
	other := newSealer(t)
	for _, test := range []struct {
		name  string
		twist func(p *pollers, part *feedringv1.PollPart)
		want  error
		kept  int
	}{
		{"a wrong signature", func(_ *pollers, part *feedringv1.PollPart) {
			part.Items[3].Signature[5] ^= 1
		}, wire.ErrSignature, 3},
		{"another signer", func(_ *pollers, part *feedringv1.PollPart) {
			seal := other.Seal(wire.KindEntry, part.Items[2].Payload)
			part.Items[2] = wire.SealTo(seal)
		}, errForeign, 2},
		{"a hole", func(_ *pollers, part *feedringv1.PollPart) {
			part.Items = append(part.Items[:5:5], part.Items[6:]...)
		}, wire.ErrChain, 5},
		{"a broken chain", func(p *pollers, part *feedringv1.PollPart) {
			e, _, err := wire.DecodeEntry(wire.SealFrom(part.Items[4]))
			if err == nil {
				var payload []byte
				payload, err = wire.EncodeEntry(e, [32]byte{1})
				part.Items[4] = wire.SealTo(p.publisher.Sealer.Seal(wire.KindEntry, payload))
			}
			if err != nil {
				panic(err)
			}
		}, wire.ErrChain, 4},
		{"the same twice", func(_ *pollers, part *feedringv1.PollPart) {
			part.Items = append(part.Items[:2:2], part.Items[1:]...)
		}, nil, 10},
		{"many empty parts", func(_ *pollers, part *feedringv1.PollPart) {
			part.Items, part.More = nil, true
		}, io.EOF, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newPollers(t)
			p.publisher.append(t, testSpec, entries(1, 10)...)
			// What is held is fresh, so that a hole shows.
			_, err := p.poll(time.Time{})
			check(t, err)
			p.publisher.append(t, testSpec, entries(11, 20)...)
			p.twist = func(part *feedringv1.PollPart) { test.twist(p, part) }
			if _, err := p.poll(time.Now().Add(-time.Hour)); !errors.Is(err, test.want) {
				t.Errorf("got %v", err)
			}
			if items := log(t, p.store, p.ref); len(items) != 10+test.kept {
				t.Errorf("%d entries kept, not %d", len(items)-10, test.kept)
			}
		})
	}
}

// TestPollOfANewEpochStartsWithItsFirstEntry polls a publisher that lost its store. Its new epoch counts
// from the first entry on, unless what is held is past freshness itself.
func TestPollOfANewEpochStartsWithItsFirstEntry(t *testing.T) {
	for _, test := range []struct {
		name string
		age  time.Duration // of what is held
		drop int
		want error
		kept int
	}{
		{"whole", 0, 0, nil, 13},
		{"without its beginning", 0, 1, wire.ErrChain, 10},
		{"without its beginning, past freshness", 48 * time.Hour, 1, nil, 12},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newPollers(t)
			p.publisher.clock.Ahead = -test.age
			p.publisher.append(t, testSpec, entries(1, 10)...)
			_, err := p.poll(time.Time{})
			check(t, err)
			*p.publisher.clock = nodetest.Clock{}
			first := feedring.Position{Epoch: p.publisher.Store.LogHead(p.ref).Position.Epoch + 1, Sequence: 1}
			_, err = p.publisher.Write(t.Context(), testSpec, entries(101, 103), first)
			check(t, err)
			p.twist = func(part *feedringv1.PollPart) { part.Items = part.Items[test.drop:] }
			if _, err := p.poll(time.Now().Add(-24 * time.Hour)); !errors.Is(err, test.want) {
				t.Errorf("got %v", err)
			}
			if items := log(t, p.store, p.ref); len(items) != test.kept {
				t.Errorf("%d entries kept, not %d", len(items), test.kept)
			}
		})
	}
}

func TestPollRefusesTheFuture(t *testing.T) {
	p := newPollers(t)
	p.publisher.append(t, testSpec, entries(1, 2)...)
	p.publisher.clock.Ahead = 2 * maxAhead
	p.publisher.append(t, testSpec, entries(3, 4)...)
	if _, err := p.poll(time.Time{}); !errors.Is(err, errAhead) {
		t.Errorf("got %v", err)
	}
	if items := log(t, p.store, p.ref); len(items) != 2 {
		t.Errorf("%d entries", len(items))
	}
}

func TestPollRefusesEntriesOfAnotherGroup(t *testing.T) {
	p := newPollers(t)
	p.publisher.append(t, testSpec, entries(1, 2)...)
	_, err := p.peer.poll(group.Fetch{Group: feedring.Theme("sport").Group(), Feed: p.ref, From: p.ref.Publisher})
	if !errors.Is(err, errForeign) {
		t.Errorf("got %v", err)
	}
}
