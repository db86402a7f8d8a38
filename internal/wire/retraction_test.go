package wire_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/polls"
	"github.com/feedring/feedring/internal/wire/wiretest"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

func sampleRetraction(publisher feedring.PeerID) *feedring.Entry {
	e := wiretest.SampleEntry(publisher)
	return &feedring.Entry{
		ID: e.ID, Feed: e.Feed, Provider: e.Provider, Theme: e.Theme, Publisher: e.Publisher, Published: e.Published,
		Seen: e.Seen.Add(time.Hour), Position: feedring.Position{Epoch: 1000, Sequence: 9}, Version: 3, Retracted: true,
		Takes: []feedring.Taken{
			{Position: feedring.Position{Epoch: 1000, Sequence: 1}, Hash: [32]byte{1}, Seen: e.Seen},
			{Position: feedring.Position{Epoch: 1000, Sequence: 4}, Hash: [32]byte{4}, Seen: e.Seen.Add(time.Minute)},
		},
	}
}

func TestRetractionComesBack(t *testing.T) {
	s := wiretest.NewSealer(t, 1)
	e := sampleRetraction(s.ID())
	got, previous, err := wire.NewVerifier(wiretest.Network).Entry(wiretest.SealEntry(t, s, e, [32]byte{8}))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, e) || previous != [32]byte{8} {
		t.Errorf("got %+v after %x\nwant %+v", got, previous, e)
	}
}

func TestRetractionThatCannotBe(t *testing.T) {
	s := wiretest.NewSealer(t, 1)
	for name, spoil := range map[string]func(*feedring.Entry){
		"of nothing":         func(e *feedring.Entry) { e.Takes = nil },
		"of an entry":        func(e *feedring.Entry) { e.Retracted = false },
		"first version":      func(e *feedring.Entry) { e.Version = 1 },
		"text":               func(e *feedring.Entry) { e.ContentHTML = "<p>still here</p>" },
		"title":              func(e *feedring.Entry) { e.Title = "still here" },
		"tags":               func(e *feedring.Entry) { e.Tags = []string{"still here"} },
		"itself":             func(e *feedring.Entry) { e.Takes[1].Position = e.Position },
		"what comes later":   func(e *feedring.Entry) { e.Takes[1].Position.Epoch++ },
		"seen later":         func(e *feedring.Entry) { e.Takes[1].Seen = e.Seen.Add(time.Second) },
		"no order":           func(e *feedring.Entry) { e.Takes[0], e.Takes[1] = e.Takes[1], e.Takes[0] },
		"the same twice":     func(e *feedring.Entry) { e.Takes[1] = e.Takes[0] },
		"no hash":            func(e *feedring.Entry) { e.Takes[0].Hash = [32]byte{} },
		"no position":        func(e *feedring.Entry) { e.Takes[0].Position = feedring.Position{} },
		"too many":           func(e *feedring.Entry) { e.Takes = append(e.Takes, make([]feedring.Taken, feedring.MaxTaken)...) },
		"a date of its own":  func(e *feedring.Entry) { e.Updated = e.Published },
		"another attachment": func(e *feedring.Entry) { e.Attachments = wiretest.SampleEntry(s.ID()).Attachments },
	} {
		e := sampleRetraction(s.ID())
		spoil(e)
		if _, err := wire.EncodeEntry(e, [32]byte{}); !errors.Is(err, wire.ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCheckPlace(t *testing.T) {
	s := wiretest.NewSealer(t, 1)
	e := sampleRetraction(s.ID())
	pos := func(sequence uint64) feedring.Position { return feedring.Position{Epoch: 1000, Sequence: sequence} }
	other := feedring.FeedRef{URL: "https://example.org/other.xml", Publisher: s.ID()}
	for name, test := range map[string]struct {
		feed     feedring.FeedRef
		held, at uint64
		jump, ok bool
	}{
		"the next":                 {e.Ref(), 3, 4, false, true},
		"the first":                {e.Ref(), 0, 1, false, true},
		"a hole":                   {e.Ref(), 2, 4, false, false},
		"a jump":                   {e.Ref(), 2, 4, true, true},
		"back":                     {e.Ref(), 7, 4, true, false},
		"of another feed":          {other, 3, 4, false, false},
		"another feed, and a jump": {other, 2, 4, true, false},
	} {
		last := feedring.Head{Feed: test.feed, Hash: [32]byte{77}}
		if test.held > 0 {
			last.Position = pos(test.held)
		}
		if err := wire.CheckPlace(last, e, pos(test.at), test.jump); (err == nil) != test.ok || err != nil && !errors.Is(err, wire.ErrChain) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTakenAt(t *testing.T) {
	e := sampleRetraction(wiretest.NewSealer(t, 1).ID())
	if taken, err := wire.TakenAt(e, e.Takes[1].Position); err != nil || taken != e.Takes[1] {
		t.Errorf("%+v, %v", taken, err)
	}
	for _, kept := range []uint64{2, 9} { // it is no stand-in for itself
		if _, err := wire.TakenAt(e, feedring.Position{Epoch: 1000, Sequence: kept}); !errors.Is(err, wire.ErrChain) {
			t.Errorf("%d: %v", kept, err)
		}
	}
}

func TestStandIns(t *testing.T) {
	at := feedring.Position{Epoch: 1000, Sequence: 4}
	part := &feedringv1.PollPart{Items: make([]*feedringv1.Sealed, 3)}
	polls.StandInTo(part, 2, at)
	if got, err := polls.StandInsFrom(part); err != nil || len(got) != 1 || got[2] != at {
		t.Errorf("%v, %v", got, err)
	}
	for name, wrong := range map[string][]*feedringv1.StandIn{
		"no such item": {{Item: 3, Position: wire.PositionTo(at)}},
		"no position":  {{Item: 1}},
		"too many":     {part.StandIns[0], part.StandIns[0], part.StandIns[0], part.StandIns[0]},
	} {
		part.StandIns = wrong
		if _, err := polls.StandInsFrom(part); !errors.Is(err, wire.ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
