package codec_test

import (
	"errors"
	"fmt"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/peerid"
	"github.com/feedring/feedring/node/codec"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
	"github.com/feedring/feedring/ring"
)

// sealedMessages is the verbs of the messages that carry statements, and their
// forms.
func sealedMessages() map[feedring.Verb]proto.Message {
	return map[feedring.Verb]proto.Message{
		group.Join{}.Verb(): &feedringv1.Join{}, group.Admitted{}.Verb(): &feedringv1.Admitted{}, group.Leave{}.Verb(): &feedringv1.Leave{},
		group.Beacon{}.Verb(): &feedringv1.Beacon{}, group.Refresh{}.Verb(): &feedringv1.Refresh{}, group.Rows{}.Verb(): &feedringv1.Rows{},
		group.Alive{}.Verb(): &feedringv1.Alive{}, group.Objection{}.Verb(): &feedringv1.Objection{},
		group.Confirmation{}.Verb(): &feedringv1.Confirmation{}, group.Stale{}.Verb(): &feedringv1.Stale{}, group.Placed{}.Verb(): &feedringv1.Placed{},
		ring.Rows{}.Verb(): &feedringv1.RingRows{}, peer.Final{}.Verb(): &feedringv1.FinalAnswer{},
	}
}

// TestForgedStatements spoils each statement of each message in turn.
func TestForgedStatements(t *testing.T) {
	mk, self, v := newMaker(t, 2), newSealer(t, 1), wire.NewVerifier(network)
	mk.full = true
	forms := sealedMessages()
	for _, kind := range messages {
		p, ok := forms[kind.Verb()]
		if !ok {
			continue
		}
		b := encode(t, self, mk.like(kind))
		if _, err := codec.Decode(wire.NewVerifier("elsewhere"), kind.Verb(), b); !errors.Is(err, wire.ErrSignature) {
			t.Errorf("%T on another network: %v", kind, err)
		}
		if err := proto.Unmarshal(b, p); err != nil {
			t.Fatal(err)
		}
		statements := find(p.ProtoReflect())
		if len(statements) == 0 {
			t.Errorf("%T has no statement", kind)
		}
		for _, s := range statements {
			for name, spoil := range map[string]func(*feedringv1.Sealed){
				"signature": func(s *feedringv1.Sealed) { s.Signature[5] ^= 1 },
				"payload":   func(s *feedringv1.Sealed) { s.Payload[len(s.Payload)-1] ^= 1 },
				"signer":    func(s *feedringv1.Sealed) { s.Signer = peerid.Bytes(mk.peers[1]) },
				"no signer": func(s *feedringv1.Sealed) { s.Signer = nil },
			} {
				good := proto.Clone(s).(*feedringv1.Sealed)
				spoil(s)
				if err := decode(t, v, kind.Verb(), p); !errors.Is(err, wire.ErrSignature) && !errors.Is(err, wire.ErrMalformed) {
					t.Errorf("%T, %s: %v", kind, name, err)
				}
				proto.Reset(s)
				proto.Merge(s, good)
			}
		}
		if err := decode(t, v, kind.Verb(), p); err != nil {
			t.Errorf("%T as it was: %v", kind, err)
		}
	}
}

func decode(t *testing.T, v *wire.Verifier, verb feedring.Verb, p proto.Message) error {
	t.Helper()
	b, err := proto.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	_, err = codec.Decode(v, verb, b)
	return err
}

// find returns the statements in m.
func find(m protoreflect.Message) (found []*feedringv1.Sealed) {
	if s, ok := m.Interface().(*feedringv1.Sealed); ok {
		return []*feedringv1.Sealed{s}
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.Message() == nil:
		case f.IsList():
			for i := range v.List().Len() {
				found = append(found, find(v.List().Get(i).Message())...)
			}
		default:
			found = append(found, find(v.Message())...)
		}
		return true
	})
	return found
}

// TestStatementsOfTheWrongOwner holds good signatures against who should have
// made them.
func TestStatementsOfTheWrongOwner(t *testing.T) {
	self, other, v := newSealer(t, 1), newSealer(t, 2), wire.NewVerifier(network)
	header := &feedringv1.Header{Group: news[:]}
	elsewhere := feedring.Theme("sport").Group()
	seal := func(s *wire.Sealer, kind wire.Kind, body proto.Message) *feedringv1.Sealed {
		payload, err := proto.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		return wire.SealTo(s.Seal(kind, payload))
	}
	claim := func(s *wire.Sealer, g feedring.GroupID) *feedringv1.Sealed {
		return seal(s, wire.KindClaim, &feedringv1.ClaimBody{Group: g[:], Number: 1})
	}
	row := seal(self, wire.KindRow, &feedringv1.RowBody{Group: elsewhere[:]})
	for _, test := range []struct {
		name string
		verb feedring.Verb
		p    proto.Message
		want error
	}{
		{"a beacon by another than the claimant", "beacon", &feedringv1.Beacon{Header: header, Beacon: seal(other, wire.KindBeacon, &feedringv1.BeaconBody{Claim: claim(self, news)})}, wire.ErrMalformed},
		{"a beacon without a claim", "beacon", &feedringv1.Beacon{Header: header, Beacon: seal(self, wire.KindBeacon, &feedringv1.BeaconBody{})}, wire.ErrMalformed},
		{"a claim on another group", "confirmation", &feedringv1.Confirmation{Header: header, Claim: claim(self, elsewhere)}, wire.ErrMalformed},
		{"a row of another group", "join", &feedringv1.Join{Header: header, Row: row}, wire.ErrMalformed},
		{"a row as a claim", "confirmation", &feedringv1.Confirmation{Header: header, Claim: row}, wire.ErrSignature},
		{"no claim", "confirmation", &feedringv1.Confirmation{Header: header}, wire.ErrMalformed},
		{"no group", "hand-over", &feedringv1.HandOver{}, wire.ErrMalformed},
		{"an unknown direction", "found", &feedringv1.FoundGroup{Id: make([]byte, 16), Group: news[:], Direction: 4}, wire.ErrMalformed},
		{"an unknown status", "final", &feedringv1.FinalAnswer{Final: &feedringv1.Final{Id: make([]byte, 16)}}, wire.ErrMalformed},
		{"a negative duration", "intention", &feedringv1.Intention{Header: header, ElapsedMs: -1}, wire.ErrMalformed},
		{"no such verb", "nonsense", header, wire.ErrMalformed},
	} {
		if err := decode(t, v, test.verb, test.p); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", test.name, err, test.want)
		}
	}
}

// TestSecondaryIsAlive: a manager doubts its secondary as that doubts the
// manager, so both must be able to say that they live, under the manager's term.
func TestSecondaryIsAlive(t *testing.T) {
	manager, secondary, v := newSealer(t, 1), newSealer(t, 2), wire.NewVerifier(network)
	alive := group.Alive{Header: group.Header{Group: news, Term: feedring.Term{Number: 3, Claimant: manager.ID()}}, Nonce: 7}
	for _, by := range []*wire.Sealer{manager, secondary} {
		told, err := codec.Decode(v, alive.Verb(), encode(t, by, alive))
		if err != nil {
			t.Fatal(err)
		}
		objection, err := codec.Decode(v, "objection", encode(t, newSealer(t, 3), group.Objection{Header: alive.Header, Alive: new(told.(group.Alive))}))
		if err != nil {
			t.Fatal(err)
		}
		if a := objection.(group.Objection).Alive; a == nil || a.Seal.Signer != by.ID() || a.Term != alive.Term || a.Nonce != alive.Nonce {
			t.Errorf("a sign of life of %s comes as %+v", by.ID().Short(), a)
		}
	}
}

func TestListsHaveLimits(t *testing.T) {
	self, v := newSealer(t, 1), wire.NewVerifier(network)
	addrs, id := make([]string, 33), self.ID()
	feeds := make([]feedring.Feed, feedring.MaxFeeds+1)
	path := make([]feedring.PeerID, 65)
	for i := range path {
		path[i] = id
	}
	ticket := feedring.Ticket{Client: id}
	head := feedring.Head{Feed: feedring.FeedRef{Publisher: id}}
	for i, m := range []feedring.Message{
		group.Join{Header: group.Header{Group: news}, Row: group.Row{Group: news, Peer: id, Addrs: addrs}},
		group.Join{Header: group.Header{Group: news}, Row: group.Row{Group: news, Peer: id, Feeds: feeds}},
		group.Notify{Head: head, Path: path},
		group.Notify{Head: head, Answer: make([]byte, group.MaxAnswer+1)},
		group.Place{Client: id, Provider: fmt.Sprintf("%300d", 1)},
		group.Placed{Grants: []feedring.Grant{{Ticket: ticket, Alternates: make([]feedring.PeerInfo, 4)}}},
		group.AssignmentsWanted{Feeds: make([]group.AssignmentRequest, 1001)},
		group.AssignmentsWanted{Feeds: []group.AssignmentRequest{{URL: fmt.Sprintf("%3000d", 1)}}},
		group.Assignments{Feeds: make([]group.Assignment, 1001)},
		group.Assignments{Feeds: []group.Assignment{{By: path}}},
		group.FetchRequest{URL: fmt.Sprintf("%3000d", 1)},
		ring.Exhausted{Direction: ring.Direct, Visited: make([]feedring.GroupID, 50_001)},
		ring.Versions{Parts: make([]uint64, ring.MaxParts+1)},
		ring.Versions{Within: make([]uint64, ring.MaxParts/64+1)},
	} {
		if _, err := codec.Decode(v, m.Verb(), encode(t, self, m)); !errors.Is(err, wire.ErrTooLarge) {
			t.Errorf("%d, %T: %v", i, m, err)
		}
	}
}

// TestCutMessages decodes every beginning of every message.
func TestCutMessages(t *testing.T) {
	mk, self, v := newMaker(t, 4), newSealer(t, 1), wire.NewVerifier(network)
	mk.full = true
	for _, kind := range messages {
		b := encode(t, self, mk.like(kind))
		for n := range b {
			_, err := codec.Decode(v, kind.Verb(), b[:n])
			if n == len(b)-1 && !errors.Is(err, wire.ErrMalformed) {
				t.Errorf("%T without its last byte: %v", kind, err)
			}
		}
	}
}
