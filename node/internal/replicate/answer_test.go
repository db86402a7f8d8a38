package replicate

import (
	"bufio"
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/polls"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// take gives the peer an answer as the machine does, and returns what the machine is told.
func (p *pollers) take(answer []byte, fresh time.Time) group.Fetched {
	p.t.Helper()
	told := p.peer.Machine.(*machine).told
	p.peer.Fetch(group.Fetch{
		Group: testTheme.Group(), Feed: p.ref, From: p.ref.Publisher, After: p.store.LogHead(p.ref).Position, Fresh: fresh, Answer: answer,
	})
	return (<-told).(group.Fetched)
}

// answerAfter publishes an entry, and returns what goes to the members with its notify.
func (p *pollers) answerAfter(entry ...feedring.Entry) []byte {
	p.t.Helper()
	after := p.publisher.Store.LogHead(p.ref).Position
	p.publisher.append(p.t, testSpec, entry...)
	return p.served().Answer(p.ref, after)
}

// What travels with a notify is byte for byte what a poll is answered, and is stored as that is.
func TestAnswerIsThatOfAPoll(t *testing.T) {
	p := newPollers(t)
	for n := range 3 {
		after := p.store.LogHead(p.ref).Position
		answer := p.answerAfter(entries(n, n)...)
		polled, err := polled(t, p.served(), polls.Request{Feed: p.ref, After: after, Dictionary: dictionaryAt(p.store, p.ref, after).Name()})
		check(t, err)
		frame, err := wire.ReadFrame(bufio.NewReader(bytes.NewReader(polled)))
		check(t, err)
		if !bytes.Equal(frame, answer) {
			t.Errorf("entry %d: %x polled, %x notified", n, frame, answer)
		}
		got, want := p.take(answer, time.Now().Add(-time.Hour)), p.publisher.Store.LogHead(p.ref)
		if got.Failed || got.Head != want || got.Known != want {
			t.Errorf("entry %d: %+v, not %+v", n, got, want)
		}
	}
	if items := log(t, p.store, p.ref); len(items) != 3 {
		t.Errorf("%d entries", len(items))
	}
}

// Members have pruned what is not fresh any more: an entry that follows such a one is packed without it, and a member
// that never had it unpacks it too.
func TestAnswerAfterAnOldEntryIsPackedWithoutIt(t *testing.T) {
	p := newPollers(t)
	p.publisher.clock.Ahead = -13 * time.Hour
	p.publisher.append(t, testSpec, entries(1, 2)...)
	if known, err := p.poll(time.Now().Add(-time.Hour)); err != nil || known.Position.Sequence != 2 || len(log(t, p.store, p.ref)) > 0 {
		t.Fatalf("%v, %v", known, err)
	}
	p.publisher.clock.Ahead = 0
	answer := p.answerAfter(entries(3, 3)...)
	var part feedringv1.PollPart
	check(t, proto.Unmarshal(answer, &part))
	if !part.Bare || len(part.Packed) == 0 {
		t.Errorf("%d bytes are packed, bare: %v", len(part.Packed), part.Bare)
	}
	if got := p.take(answer, time.Now().Add(-time.Hour)); got.Failed || got.Head.Position.Sequence != 3 {
		t.Errorf("%+v", got)
	}
}

// An entry that is too long, and a private one, travel with no notify.
func TestNoAnswerTravels(t *testing.T) {
	p := newPollers(t)
	long := anEntry(1)
	for n := range 3000 {
		long.ContentHTML += string(feedring.NewEntryID("x", string(rune('a'+n%26))+strings.Repeat("y", n%9), "", "")) + " "
	}
	if answer := p.answerAfter(long); answer != nil {
		t.Errorf("a long entry: %d bytes", len(answer))
	}
	if answer := p.answerAfter(entries(2, 150)...); answer != nil {
		t.Errorf("many entries: %d bytes", len(answer))
	}
	if answer := p.answerAfter(); answer != nil {
		t.Errorf("nothing new: %d bytes", len(answer))
	}
	after := p.publisher.Store.LogHead(p.ref).Position
	private := testSpec
	private.Theme = ""
	p.publisher.append(t, private, entries(200, 200)...)
	if answer := p.served().Answer(p.ref, after); answer != nil {
		t.Errorf("a private entry: %d bytes", len(answer))
	}
}

// A hostile answer is told to the machine as one that failed, and stores nothing.
func TestHostileAnswersStoreNothing(t *testing.T) {
	other := newSealer(t)
	for name, test := range map[string]struct {
		twist func(p *pollers, part *feedringv1.PollPart)
		want  error
	}{
		"a wrong signature": {func(_ *pollers, part *feedringv1.PollPart) { part.Items[0].Signature[5] ^= 1 }, wire.ErrSignature},
		"another signer": {func(_ *pollers, part *feedringv1.PollPart) {
			part.Items[0] = wire.SealTo(other.Seal(wire.KindEntry, part.Items[0].Payload))
		}, errForeign},
		"a hole":        {func(_ *pollers, part *feedringv1.PollPart) { part.Items = part.Items[1:] }, wire.ErrChain},
		"another chain": {func(p *pollers, part *feedringv1.PollPart) { part.Items[0] = p.rechained(part.Items[0]) }, wire.ErrChain},
		"another feed": {func(p *pollers, part *feedringv1.PollPart) {
			spec := testSpec
			spec.URL = "https://other.example/"
			p.publisher.append(p.t, spec, entries(1, 1)...)
			foreign, _, _, err := p.served().pollPart(feedring.FeedRef{URL: spec.URL, Publisher: p.ref.Publisher}, feedring.Position{}, time.Time{}, false)
			check(p.t, err)
			part.Items = foreign.Items
		}, errForeign},
		"a foreign retraction": {func(_ *pollers, part *feedringv1.PollPart) { part.Retractions = part.Items[:1] }, errForeign},
		"stand-ins for nothing": {func(_ *pollers, part *feedringv1.PollPart) {
			polls.StandInTo(part, 5, feedring.Position{Epoch: 1, Sequence: 1})
		}, wire.ErrMalformed},
		"packed as of no message": {func(_ *pollers, part *feedringv1.PollPart) { part.Packed = []byte{0xff, 0xff} }, wire.ErrMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPollers(t)
			p.publisher.append(t, testSpec, entries(1, 3)...)
			_, err := p.poll(time.Time{})
			check(t, err)
			p.publisher.append(t, testSpec, entries(4, 5)...)
			held := p.store.LogHead(p.ref)
			part, _, _, err := p.served().pollPart(p.ref, held.Position, time.Time{}, true)
			check(t, err)
			test.twist(p, part)
			answer, err := proto.Marshal(part)
			check(t, err)
			o := group.Fetch{Group: testTheme.Group(), Feed: p.ref, From: p.ref.Publisher, After: held.Position, Answer: answer, Fresh: time.Now().Add(-time.Hour)}
			if _, err := p.peer.take(o); !errors.Is(err, test.want) {
				t.Errorf("got %v", err)
			}
			got := p.take(answer, time.Now().Add(-time.Hour))
			if !got.Failed || got.Head != held || p.store.LogHead(p.ref) != held || len(log(t, p.store, p.ref)) != 3 {
				t.Errorf("the machine is told %+v, and %d entries are held", got, len(log(t, p.store, p.ref)))
			}
		})
	}
}

// rechained is an entry that its publisher sealed as following another one.
func (p *pollers) rechained(item *feedringv1.Sealed) *feedringv1.Sealed {
	e, _, err := wire.DecodeEntry(wire.SealFrom(item))
	check(p.t, err)
	payload, err := wire.EncodeEntry(e, [32]byte{1})
	check(p.t, err)
	return wire.SealTo(p.publisher.Sealer.Seal(wire.KindEntry, payload))
}

// An answer that came before is not stored twice.
func TestRepeatedAnswerStoresNothingMore(t *testing.T) {
	p := newPollers(t)
	answer := p.answerAfter(entries(1, 1)...)
	first, second := p.take(answer, time.Time{}), p.take(answer, time.Time{})
	if first.Failed || second.Head != first.Head || len(log(t, p.store, p.ref)) != 1 {
		t.Errorf("first %+v, then %+v", first, second)
	}
}

// FuzzAnswer gives a peer answers that were packed by anybody: what its log holds stays chained, and grows by nothing
// that the publisher did not sign.
func FuzzAnswer(f *testing.F) {
	sealer := newSealer(f)
	w := writer(openStore(f), sealer)
	ref := feedring.FeedRef{URL: testURL, Publisher: sealer.ID()}
	holder := newReplicator(f, w.Store, sealer.ID(), nil, 0)
	w.append(f, testSpec, entries(1, 2)...)
	before := w.Store.LogHead(ref).Position
	f.Add(holder.Answer(ref, feedring.Position{}))
	w.append(f, testSpec, entries(3, 3)...)
	f.Add(holder.Answer(ref, before))
	signed := len(log(f, w.Store, ref))
	taker := newReplicator(f, openStore(f), "taker", nil, 0)
	f.Fuzz(func(t *testing.T, answer []byte) {
		if len(answer) == 0 || len(answer) > group.MaxAnswer {
			return
		}
		held := taker.Store.LogHead(ref)
		_, err := taker.take(group.Fetch{Group: testTheme.Group(), Feed: ref, From: ref.Publisher, After: held.Position, Answer: answer})
		now := taker.Store.LogHead(ref)
		if err != nil && now != held && now.Position.Compare(held.Position) <= 0 {
			t.Fatalf("%v, and %v became %v", err, held, now)
		}
		if n := len(log(t, taker.Store, ref)); n > signed {
			t.Fatalf("%d entries of %d", n, signed)
		}
	})
}
