package wire_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/info"
	"github.com/feedring/feedring/internal/wire/polls"
	"github.com/feedring/feedring/internal/wire/wiretest"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

func TestTicket(t *testing.T) {
	manager, client, provider := wiretest.NewSealer(t, 1), wiretest.NewSealer(t, 2), wiretest.NewSealer(t, 3)
	ticket := sampleTicket(client.ID(), provider.ID())
	ticket.Seal = manager.Ticket(ticket)
	if err := wire.VerifyTicket(wiretest.Network, ticket); err != nil {
		t.Fatal(err)
	}
	if err := wire.VerifyTicket("elsewhere", ticket); !errors.Is(err, wire.ErrSignature) {
		t.Errorf("on another network: %v", err)
	}
	for name, change := range map[string]func(*feedring.Ticket){
		"id":      func(t *feedring.Ticket) { t.ID[0]++ },
		"attempt": func(t *feedring.Ticket) { t.Attempt++ },
		"group":   func(t *feedring.Ticket) { t.Group[0]++ },
		"client":  func(t *feedring.Ticket) { t.Client = provider.ID() },
		"peers":   func(t *feedring.Ticket) { t.Peers = append([]feedring.PeerID{client.ID()}, t.Peers...) },
		"expiry":  func(t *feedring.Ticket) { t.Expiry = t.Expiry.Add(time.Hour) },
		"seal":    func(t *feedring.Ticket) { t.Seal = nil },
	} {
		changed := ticket
		change(&changed)
		if err := wire.VerifyTicket(wiretest.Network, changed); !errors.Is(err, wire.ErrSignature) {
			t.Errorf("%s: %v", name, err)
		}
	}
	bad := sampleTicket("nobody", provider.ID())
	bad.Seal = manager.Ticket(bad)
	if err := wire.VerifyTicket(wiretest.Network, bad); !errors.Is(err, wire.ErrMalformed) {
		t.Errorf("for nobody: %v", err)
	}
}

func TestAskAndReply(t *testing.T) {
	manager, client, provider := wiretest.NewSealer(t, 1), wiretest.NewSealer(t, 2), wiretest.NewSealer(t, 3)
	ask := wire.Ask{
		ID: feedring.QueryID{4}, Attempt: 2, Within: 3 * time.Second,
		Query: feedring.Query{Theme: "news", Provider: "example.org", Since: wiretest.Noon},
	}
	got, err := wire.AskFrom(wire.AskTo(ask))
	if err != nil || !reflect.DeepEqual(got, ask) {
		t.Errorf("got %+v: %v", got, err)
	}
	ticket := sampleTicket(client.ID(), provider.ID())
	ticket.Expiry = wiretest.Noon
	ticket.Seal = manager.Ticket(ticket)
	final := feedring.Final{
		ID: ask.ID, Attempt: 2, Status: feedring.Incomplete, Missing: []string{"weather"}, Hops: 3, Messages: 7,
		Suggest: []string{"sport"},
		Grants: []feedring.Grant{{
			Theme: "news", Provider: feedring.PeerInfo{ID: provider.ID(), Addrs: []string{"/ip4/127.0.0.1/tcp/1"}},
			Alternates: []feedring.PeerInfo{{ID: manager.ID()}}, Own: true, Ticket: ticket,
		}},
	}
	back, err := wire.AskReplyFrom(wire.AskReplyTo(final))
	if err != nil || !reflect.DeepEqual(back, final) {
		t.Errorf("got %+v: %v", back, err)
	}
	final.Grants[0].Ticket.Seal = nil
	back, err = wire.AskReplyFrom(wire.AskReplyTo(final))
	var told *wire.RemoteError
	if !errors.As(err, &told) || told.Kind != feedringv1.ErrorKind_ERROR_KIND_INTERNAL || back.ID != ask.ID || back.Attempt != 2 {
		t.Errorf("a ticket without a seal: %+v, %v", back, err)
	}
	if _, err := wire.AskReplyFrom(&feedringv1.AskReply{}); !errors.Is(err, wire.ErrMalformed) {
		t.Errorf("an empty answer: %v", err)
	}
	if _, err := wire.AskFrom(&feedringv1.AskRequest{Id: make([]byte, 16), Theme: "No Theme"}); !errors.Is(err, wire.ErrMalformed) {
		t.Errorf("a theme: %v", err)
	}
}

func TestAttach(t *testing.T) {
	manager, client, provider := wiretest.NewSealer(t, 1), wiretest.NewSealer(t, 2), wiretest.NewSealer(t, 3)
	ticket := sampleTicket(client.ID(), provider.ID())
	ticket.Expiry = wiretest.Noon
	ticket.Seal = manager.Ticket(ticket)
	attach := wire.Attach{
		Ticket: ticket, Follow: true, Updates: true, Own: true,
		Query: feedring.Query{Theme: "news", Provider: "p", Words: "a OR b", Since: wiretest.Noon, Until: wiretest.Noon.Add(time.Hour), Limit: 7},
	}
	cursors := []feedring.Cursor{nil, {}, {{URL: "https://example.org/", Publisher: provider.ID()}: {Epoch: 1, Sequence: 2}}}
	for _, attach.Cursor = range cursors {
		got, err := wire.AttachFrom(wire.AttachTo(attach))
		if err != nil || !reflect.DeepEqual(got, attach) {
			t.Errorf("got %+v: %v", got, err)
		}
	}
	attach.Query.Stem, attach.Cursor = true, nil
	if got, err := wire.AttachFrom(wire.AttachTo(attach)); err != nil || !reflect.DeepEqual(got, attach) {
		t.Errorf("got %+v: %v", got, err)
	}
	before := wire.AttachTo(attach)
	before.Stemmed = nil // as a peer of before reads it
	if got, err := wire.AttachFrom(before); err != nil || got.Query.Words != "" || got.Query.Limit != feedring.MaxLimit {
		t.Errorf("a peer that knows no stems is asked for %+v: %v", got.Query, err)
	}
	attach.Query.Words = string(make([]byte, feedring.MaxExpression+1))
	if _, err := wire.AttachFrom(wire.AttachTo(attach)); !errors.Is(err, wire.ErrTooLarge) {
		t.Errorf("a long expression: %v", err)
	}
}

func TestFrames(t *testing.T) {
	s := wiretest.NewSealer(t, 1)
	seal := wiretest.SealEntry(t, s, wiretest.SampleEntry(s.ID()), [32]byte{})
	ref := feedring.FeedRef{URL: "https://example.org/", Publisher: s.ID()}
	cursor, ten := feedring.Cursor{ref: {Epoch: 1, Sequence: 2}}, 10
	for name, test := range map[string]struct {
		sent *feedringv1.AttachReply
		want wire.Frame
	}{
		"item":    {wire.ItemTo(s.ID(), seal.Payload, seal.Signature, time.Time{}, "example.org"), wire.Frame{Item: &wire.Item{Seal: seal, VouchedBy: "example.org"}}},
		"mark":    {wire.MarkTo(cursor), wire.Frame{Mark: cursor}},
		"caught":  {wire.CaughtTo(10, false), wire.Frame{Caught: &ten}},
		"stemmed": {wire.CaughtTo(10, true), wire.Frame{Caught: &ten, Stemmed: true}},
		"alive":   {wire.AliveTo(), wire.Frame{}},
		"unknown": {&feedringv1.AttachReply{}, wire.Frame{}},
		"refused": {
			wire.RefusedTo(feedringv1.RefusedKind_REFUSED_KIND_BUSY, "full"),
			wire.Frame{Refused: &wire.RefusedError{Kind: feedringv1.RefusedKind_REFUSED_KIND_BUSY, Reason: "full"}},
		},
		"behind": {
			wire.RefusedTo(feedringv1.RefusedKind_REFUSED_KIND_BEHIND, "pruned", ref),
			wire.Frame{Refused: &wire.RefusedError{Kind: feedringv1.RefusedKind_REFUSED_KIND_BEHIND, Reason: "pruned", Feeds: []feedring.FeedRef{ref}}},
		},
	} {
		if got, err := wire.FrameFrom(test.sent); err != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: got %+v: %v", name, got, err)
		}
	}
	if _, err := wire.FrameFrom(&feedringv1.AttachReply{Frame: &feedringv1.AttachReply_Item{Item: &feedringv1.Item{}}}); !errors.Is(err, wire.ErrMalformed) {
		t.Errorf("an item without an entry: %v", err)
	}
}

func TestPoll(t *testing.T) {
	ref := feedring.FeedRef{URL: "https://example.org/", Publisher: wiretest.NewSealer(t, 1).ID()}
	asked := polls.Request{Feed: ref, After: feedring.Position{Epoch: 4, Sequence: 5}, Fresh: wiretest.Noon, Dictionary: "12345678"}
	if got, err := polls.RequestFrom(polls.RequestTo(asked)); err != nil || got != asked {
		t.Errorf("got %+v: %v", got, err)
	}
	if _, err := polls.RequestFrom(&feedringv1.PollRequest{Feed: "x"}); !errors.Is(err, wire.ErrMalformed) {
		t.Errorf("without a publisher: %v", err)
	}
	asked.Dictionary = strings.Repeat("x", 33)
	if _, err := polls.RequestFrom(polls.RequestTo(asked)); !errors.Is(err, wire.ErrTooLarge) {
		t.Errorf("a long name: %v", err)
	}
}

func TestInfo(t *testing.T) {
	a, b := wiretest.NewSealer(t, 1).ID(), wiretest.NewSealer(t, 2).ID()
	four := 4
	c := feedring.Catalogue{
		Theme: "news", Manager: a, Secondary: b, Term: 3,
		Peers: []feedring.CataloguePeer{
			{Peer: a, Role: "manager", Clients: &four, Feeds: []feedring.Feed{}, VouchedBy: []string{"example.org"}, Addrs: []string{"/ip4/1.2.3.4/tcp/1"}},
			{Peer: b, Role: "secondary", KeepSeconds: 30 * 24 * 3600, Feeds: []feedring.Feed{{URL: "https://example.org/", Title: "T", Provider: "p", Epoch: 2}}},
		},
	}
	if got, err := info.CatalogueFrom(info.CatalogueTo(c)); err != nil || !reflect.DeepEqual(got, c) {
		t.Errorf("got %+v: %v", got, err)
	}
	ring := []feedring.RingGroup{{Theme: "news", Manager: a, Secondary: b, Term: 1, Peers: 2, Feeds: 3, Clients: 4}}
	if got, err := info.RingFrom(info.RingTo(ring)); err != nil || !reflect.DeepEqual(got, ring) {
		t.Errorf("got %+v: %v", got, err)
	}
	if got, err := info.RingFrom(info.RingTo(nil)); err != nil || len(got) != 0 {
		t.Errorf("an empty ring: %+v, %v", got, err)
	}
	var told *wire.RemoteError
	if _, err := info.CatalogueFrom(info.Error("no")); !errors.As(err, &told) || told.Text != "no" {
		t.Errorf("an error: %v", err)
	}
	if _, err := info.RingFrom(info.CatalogueTo(c)); !errors.Is(err, wire.ErrMalformed) {
		t.Errorf("another answer: %v", err)
	}
}

func TestSealAgain(t *testing.T) {
	s := wiretest.NewSealer(t, 1)
	first, second := s.SealAgain(wire.KindRow, []byte("x")), s.SealAgain(wire.KindRow, []byte("x"))
	if !reflect.DeepEqual(first, second) {
		t.Error("one statement has two seals")
	}
	if other := s.SealAgain(wire.KindClaim, []byte("x")); reflect.DeepEqual(first.Signature, other.Signature) {
		t.Error("two kinds have one signature")
	}
}
