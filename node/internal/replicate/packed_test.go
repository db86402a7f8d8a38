package replicate

import (
	"bufio"
	"bytes"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/polls"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// TestPollIsPackedByTheEntryBefore asks for one entry as peers of now and of before ask.
func TestPollIsPackedByTheEntryBefore(t *testing.T) {
	p := newPollers(t)
	p.publisher.append(t, testSpec, entries(1, 2)...)
	_, err := p.poll(time.Time{})
	check(t, err)
	p.publisher.append(t, testSpec, entries(3, 3)...)
	after := p.store.LogHead(p.ref).Position
	words := dictionaryAt(p.store, p.ref, after)
	r := p.served()
	var lengths []int
	for _, test := range []struct {
		name, dictionary string
		packed, bare     bool
	}{
		{"with the entry before", words.Name(), true, false},
		{"with an entry that is not here", "12345678", true, true},
		{"a peer of before", "", false, false},
	} {
		answer, err := polled(t, r, polls.Request{Feed: p.ref, After: after, Dictionary: test.dictionary})
		check(t, err)
		frame, err := wire.ReadFrame(bufio.NewReader(bytes.NewReader(answer)))
		check(t, err)
		var part feedringv1.PollPart
		check(t, wire.Unmarshal(frame, &part))
		if packed := len(part.Packed) > 0; packed != test.packed || part.Bare != test.bare {
			t.Errorf("%s: packed %t, bare %t", test.name, packed, part.Bare)
		}
		check(t, r.packer.Unpack(&part, words))
		if len(part.Items) != 1 {
			t.Errorf("%s: %d entries", test.name, len(part.Items))
		}
		lengths = append(lengths, len(answer))
	}
	if lengths[0] >= lengths[1] || lengths[1] >= lengths[2] {
		t.Errorf("answers of %d bytes: the better they are packed, the shorter", lengths)
	}
}

// TestDictionaryOfATombstoneHasAnotherName: of a version that was taken back one has the text, the
// other what is left of it.
func TestDictionaryOfATombstoneHasAnotherName(t *testing.T) {
	p := newPollers(t)
	p.publisher.append(t, testSpec, entries(1, 3)...)
	_, err := p.poll(time.Time{})
	check(t, err)
	own := p.publisher.Store
	after := own.LogHead(p.ref).Position
	it, err := own.Get(p.ref, after)
	check(t, err)
	taker := store.Item{
		Ref: p.ref, Position: feedring.Position{Epoch: after.Epoch, Sequence: after.Sequence + 1}, ID: it.ID, Version: 2,
		Theme: it.Theme, Provider: it.Provider, Published: it.Published, Seen: it.Seen, Payload: []byte("it is taken back"),
		Retraction: true, Takes: []feedring.Taken{{Position: after, Hash: it.Hash, Seen: it.Seen}},
	}
	check(t, own.Append(t.Context(), []store.Item{taker}))
	if here, there := dictionaryAt(own, p.ref, after), dictionaryAt(p.store, p.ref, after); here.Name() == there.Name() {
		t.Error("different bytes have one name")
	}
}
