package wire_test

import (
	"bufio"
	"bytes"
	"reflect"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/info"
	"github.com/feedring/feedring/internal/wire/polls"
	"github.com/feedring/feedring/internal/wire/wiretest"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

func FuzzDecodeEntry(f *testing.F) {
	s := wiretest.NewSealer(f, 1)
	f.Add(wiretest.SealEntry(f, s, wiretest.SampleEntry(s.ID()), [32]byte{1}).Payload)
	f.Add(wiretest.SealEntry(f, s, sampleRetraction(s.ID()), [32]byte{1}).Payload)
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, payload []byte) {
		e, previous, err := wire.DecodeEntry(&feedring.Seal{Signer: s.ID(), Payload: payload, Signature: make([]byte, 64)})
		if err != nil {
			return
		}
		if e.Key != "" && !e.ID.IsOf(e.Feed, e.Key) {
			t.Errorf("the id %s is not that of %q and %q", e.ID, e.Feed, e.Key)
		}
		if _, err := wire.EncodeEntry(e, previous); err != nil {
			t.Errorf("what was decoded cannot be encoded: %v", err)
		}
	})
}

// FuzzDecodeTicket checks that a ticket that was read says the same when it is
// written again.
func FuzzDecodeTicket(f *testing.F) {
	s := wiretest.NewSealer(f, 1)
	f.Add(s.Ticket(sampleTicket(s.ID(), s.ID())).Payload)
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, payload []byte) {
		told, err := wire.DecodeTicket(&feedring.Seal{Signer: s.ID(), Payload: payload, Signature: make([]byte, 64)})
		if err != nil {
			return
		}
		again, err := wire.DecodeTicket(s.Ticket(told))
		told.Seal, again.Seal = nil, nil
		if err != nil || !reflect.DeepEqual(told, again) {
			t.Errorf("%+v became %+v, %v", told, again, err)
		}
	})
}

func FuzzFrame(f *testing.F) {
	frame, err := wire.AppendFrame(nil, &feedringv1.Sealed{Payload: []byte("x")})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(append(frame, frame...))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, b []byte) {
		r, read := bufio.NewReader(bytes.NewReader(b)), 0
		for {
			body, err := wire.ReadFrame(r)
			if err != nil {
				return
			}
			if read += 1 + len(body); read > len(b) {
				t.Fatalf("%d bytes out of %d", read, len(b))
			}
		}
	})
}

// FuzzRequests feeds the requests and answers that clients and peers exchange.
func FuzzRequests(f *testing.F) {
	s := wiretest.NewSealer(f, 1)
	ticket := sampleTicket(s.ID(), s.ID())
	ticket.Seal = s.Ticket(ticket)
	final := feedring.Final{Status: feedring.Answered, Grants: []feedring.Grant{{Theme: "news", Ticket: ticket, Hints: sampleHints()}}}
	for kind, m := range []proto.Message{
		wire.AskTo(wire.Ask{}), wire.AskReplyTo(final), wire.AttachTo(wire.Attach{Ticket: ticket}), wire.MarkTo(feedring.Cursor{{URL: "x", Publisher: s.ID()}: {}}),
		polls.RequestTo(polls.Request{Feed: feedring.FeedRef{URL: "x", Publisher: s.ID()}, Fresh: wiretest.Noon, Dictionary: "12345678"}),
		info.CatalogueTo(feedring.Catalogue{Peers: []feedring.CataloguePeer{{Peer: s.ID()}}}), info.RingTo([]feedring.RingGroup{{Manager: s.ID()}}),
	} {
		b, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(byte(kind), b)
	}
	told, err := proto.Marshal(wire.SummaryTo(false, sampleHints().Copies))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(byte(3), told)
	f.Fuzz(func(_ *testing.T, kind byte, b []byte) { decodeRequest(kind, b) })
}

func decodeRequest(kind byte, b []byte) {
	decode := []func(){
		func() {
			unmarshal(b, &feedringv1.AskRequest{}, func(m *feedringv1.AskRequest) { _, _ = wire.AskFrom(m) })
		},
		func() {
			unmarshal(b, &feedringv1.AskReply{}, func(m *feedringv1.AskReply) { _, _ = wire.AskReplyFrom(m) })
		},
		func() {
			unmarshal(b, &feedringv1.AttachRequest{}, func(m *feedringv1.AttachRequest) { _, _ = wire.AttachFrom(m) })
		},
		func() {
			unmarshal(b, &feedringv1.AttachReply{}, func(m *feedringv1.AttachReply) { _, _ = wire.FrameFrom(m) })
		},
		func() {
			unmarshal(b, &feedringv1.PollRequest{}, func(m *feedringv1.PollRequest) { _, _ = polls.RequestFrom(m) })
		},
		func() {
			unmarshal(b, &feedringv1.InfoReply{}, func(m *feedringv1.InfoReply) { _, _ = info.CatalogueFrom(m) })
		},
		func() {
			unmarshal(b, &feedringv1.InfoReply{}, func(m *feedringv1.InfoReply) { _, _ = info.RingFrom(m) })
		},
	}
	decode[int(kind)%len(decode)]()
}

func unmarshal[M proto.Message](b []byte, m M, use func(M)) {
	if wire.Unmarshal(b, m) == nil {
		use(m)
	}
}
