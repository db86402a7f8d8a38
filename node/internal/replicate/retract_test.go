package replicate

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/polls"
	"github.com/feedring/feedring/node/internal/nodetest"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// relayed polls from what the poller of p holds.
func relayed(t *testing.T, p *pollers) *pollers {
	late := newPollers(t)
	late.publisher, late.ref = writer(p.store, p.publisher.Sealer), p.ref
	return late
}

// sameLogs holds that two stores hold the same, byte for byte but for what no
// other peer needs.
func sameLogs(t *testing.T, a, b *store.Store, ref feedring.FeedRef, want string) {
	t.Helper()
	one, two := log(t, a, ref), log(t, b, ref)
	if shape(one) != want || shape(two) != want {
		t.Fatalf("%s and %s, not %s", shape(one), shape(two), want)
	}
	for i := range one {
		if one[i].Tombstone {
			one[i].Version = two[i].Version
		}
	}
	if !reflect.DeepEqual(one, two) {
		t.Errorf("different: %+v\n%+v", one, two)
	}
}

// TestPollGivesRetractionsInPlaceOfTombstones: who holds an entry drops it; who comes later, even from a
// holder, never gets it, and can check all the same that nothing is withheld.
func TestPollGivesRetractionsInPlaceOfTombstones(t *testing.T) {
	p := newPollers(t)
	p.publisher.append(t, testSpec, entries(1, 4)...)
	p.publisher.append(t, testSpec, changed(2, 2))
	_, err := p.poll(time.Time{})
	check(t, err)
	p.publisher.append(t, testSpec, retracted(1, 2)...)
	p.publisher.append(t, testSpec, entries(5, 5)...)
	_, err = p.poll(time.Now().Add(-time.Hour))
	check(t, err)
	sameLogs(t, p.publisher.Store, p.store, p.ref, "sseesrre")

	late := relayed(t, p)
	_, err = late.poll(time.Now().Add(-time.Hour))
	check(t, err)
	sameLogs(t, p.store, late.store, p.ref, "sseesrre")
	later := relayed(t, late) // and so on
	_, err = later.poll(time.Time{})
	check(t, err)
	sameLogs(t, p.store, later.store, p.ref, "sseesrre")
	found, _, err := later.store.Search(t.Context(), store.Search{})
	check(t, err)
	if len(found) != 3 {
		t.Errorf("%d entries are found", len(found))
	}
}

// TestPollFindsTheRetractionInALaterPart: the retraction is far behind what it takes back,
// in another part of the answer.
func TestPollFindsTheRetractionInALaterPart(t *testing.T) {
	p := newPollers(t)
	p.publisher.append(t, testSpec, entries(1, partItems+50)...)
	p.publisher.append(t, testSpec, retracted(3, 4, partItems)...)
	_, err := p.poll(time.Time{})
	check(t, err)
	if got := shape(log(t, p.store, p.ref)); got[:5] != "eesse" || got[partItems-1:partItems+1] != "se" || got[len(got)-4:] != "errr" {
		t.Errorf("the log is %s", got)
	}
}

func TestPollRefusesWrongStandIns(t *testing.T) {
	other := newSealer(t)
	for _, test := range []struct {
		name  string
		twist func(p *pollers, part *feedringv1.PollPart)
		want  error
		kept  string
	}{
		{"none", func(*pollers, *feedringv1.PollPart) {}, nil, "essere"},
		{"of what is not taken back", func(_ *pollers, part *feedringv1.PollPart) {
			part.Items[3] = part.Items[4] // withholds 14 by the retraction of 12
			polls.StandInTo(part, 3, feedring.Position{Epoch: epochOf(part), Sequence: 14})
		}, wire.ErrChain, "ess"},
		{"of two others", func(_ *pollers, part *feedringv1.PollPart) {
			part.Items = append(part.Items[:1:1], part.Items[2:]...) // 12 is left out, 13 as it is
			part.StandIns = part.StandIns[1:]
			part.StandIns[0].Item--
		}, wire.ErrChain, "e"},
		{"unmarked", func(_ *pollers, part *feedringv1.PollPart) { part.StandIns = nil }, wire.ErrChain, "e"},
		{"another's", func(_ *pollers, part *feedringv1.PollPart) {
			part.Items[1] = wire.SealTo(other.Seal(wire.KindEntry, part.Items[1].Payload))
		}, errForeign, "e"},
		{"forged", func(_ *pollers, part *feedringv1.PollPart) {
			part.Items[1].Payload = append([]byte{}, part.Items[1].Payload...)
			part.Items[1].Payload[len(part.Items[1].Payload)-8] ^= 1
		}, wire.ErrSignature, "e"},
		{"of another feed", func(p *pollers, part *feedringv1.PollPart) {
			e, _, err := wire.DecodeEntry(wire.SealFrom(part.Items[1]))
			var payload []byte
			if e.Feed += "/other"; err == nil {
				payload, err = wire.EncodeEntry(e, [32]byte{1})
			}
			if err != nil {
				panic(err)
			}
			part.Items[1] = wire.SealTo(p.publisher.Sealer.Seal(wire.KindEntry, payload))
		}, errForeign, "e"},
		{"of no item", func(_ *pollers, part *feedringv1.PollPart) { part.StandIns[0].Item = 99 }, wire.ErrMalformed, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newPollers(t)
			p.publisher.append(t, testSpec, entries(1, 10)...)
			_, err := p.poll(time.Time{}) // what is held is fresh, so that a hole shows
			check(t, err)
			p.publisher.append(t, testSpec, entries(11, 14)...)
			p.publisher.append(t, testSpec, retracted(12, 13)...)
			p.publisher.append(t, testSpec, entries(15, 15)...)
			p.twist = func(part *feedringv1.PollPart) {
				part.Items = append(part.Items[:4:4], part.Items[4], part.Items[6]) // one of the two retractions
				test.twist(p, part)
			}
			if test.name == "none" {
				p.twist = nil
				test.kept = "esserre"
			}
			if _, err := p.poll(time.Now().Add(-time.Hour)); !errors.Is(err, test.want) {
				t.Errorf("got %v", err)
			}
			if got := shape(log(t, p.store, p.ref))[10:]; got != test.kept {
				t.Errorf("kept %q, not %q", got, test.kept)
			}
		})
	}
}

func epochOf(part *feedringv1.PollPart) uint64 { return part.GetHead().GetEpoch() }

// TestPollTakesTheRetractionOfAnUnknownEntry: what it takes back was never here, or is past
// freshness. It is a place in the log like any other.
func TestPollTakesTheRetractionOfAnUnknownEntry(t *testing.T) {
	p := newPollers(t)
	old := time.Now().Add(-48 * time.Hour)
	p.publisher.clock.At = old
	p.publisher.append(t, testSpec, entries(1, 3)...)
	*p.publisher.clock = nodetest.Clock{}
	p.publisher.append(t, testSpec, retracted(2)...)
	p.publisher.append(t, testSpec, entries(4, 4)...)
	_, err := p.poll(time.Now().Add(-24 * time.Hour))
	check(t, err)
	if got := shape(log(t, p.store, p.ref)); got != "re" {
		t.Errorf("the log is %s", got)
	}
	_, err = p.poll(time.Now().Add(-24 * time.Hour))
	check(t, err)
}

// TestPollGivesRetractionsFromBeforeFreshness: a peer that was away for longer than freshness has
// what was taken back meanwhile taken back, though it is given none of the
// entries of that time, by the publisher or by a cache that has pruned them, too.
func TestPollGivesRetractionsFromBeforeFreshness(t *testing.T) {
	const day = 24 * time.Hour
	p := newPollers(t)
	p.publisher.clock.At = time.Now().Add(-5 * day)
	p.publisher.append(t, testSpec, entries(1, 3)...)
	_, err := p.poll(time.Time{})
	check(t, err)
	cache := relayed(t, p)
	_, err = cache.poll(time.Time{})
	check(t, err)
	far := relayed(t, cache)
	_, err = far.poll(time.Time{})
	check(t, err)

	p.publisher.clock.At = time.Now().Add(-3 * day)
	p.publisher.append(t, testSpec, retracted(2)...)
	_, err = p.poll(time.Now().Add(-4 * day)) // is there all the time
	check(t, err)
	p.publisher.clock.At = time.Now()
	p.publisher.append(t, testSpec, entries(4, 4)...)
	for _, back := range []*pollers{p, cache, far} {
		_, err = back.poll(time.Now().Add(-day))
		check(t, err)
		_, err = back.store.Prune(t.Context(), time.Now().Add(-day), func(feedring.FeedRef) bool { return false })
		check(t, err)
		if got := shape(log(t, back.store, p.ref)); got != "e" {
			t.Errorf("the log is %s", got)
		}
		kept, err := back.store.Retractions(p.ref, feedring.Position{}, 10)
		check(t, err)
		if len(kept) != 1 || kept[0].ID != anEntry(2).ID {
			t.Errorf("%d retractions are passed on", len(kept))
		}
	}
}

// TestPollAppliesLateRetractions: what a peer that is back still holds goes.
func TestPollAppliesLateRetractions(t *testing.T) {
	const day = 24 * time.Hour
	p := newPollers(t)
	told := p.peer.Lists.(*counter)
	p.publisher.clock.At = time.Now().Add(-5 * day)
	p.publisher.append(t, testSpec, entries(1, 3)...)
	_, err := p.poll(time.Time{})
	check(t, err)
	p.publisher.clock.At = time.Now().Add(-3 * day)
	p.publisher.append(t, testSpec, retracted(2)...)
	_, err = p.poll(time.Now().Add(-day))
	check(t, err)
	if got := shape(log(t, p.store, p.ref)); got != "ese" || *told != 1 {
		t.Errorf("the log is %s, told %d times", got, *told)
	}
	if _, found, err := p.store.Latest(p.ref, anEntry(2).ID); found || err != nil {
		t.Errorf("it is still found: %v", err)
	}
	found, _, err := p.store.Search(t.Context(), store.Search{})
	check(t, err)
	if len(found) != 2 {
		t.Errorf("%d are found", len(found))
	}
	p.twist = func(part *feedringv1.PollPart) { part.Retractions[0].Payload[30] ^= 1 }
	if _, err := p.poll(time.Now().Add(-day)); !errors.Is(err, wire.ErrSignature) {
		t.Errorf("forged: %v", err)
	}
	p.twist = func(part *feedringv1.PollPart) { part.Retractions = append(part.Retractions, part.Items[0]) }
	*p.publisher.clock = nodetest.Clock{}
	p.publisher.append(t, testSpec, entries(4, 4)...)
	if _, err := p.poll(time.Now().Add(-day)); !errors.Is(err, errForeign) {
		t.Errorf("no retraction: %v", err)
	}
}
