package replicate

import (
	"context"
	"io"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/polls"
	"github.com/feedring/feedring/node/internal/nodetest"
	"github.com/feedring/feedring/node/internal/publish"
	"github.com/feedring/feedring/node/internal/readers/delivery"
	"github.com/feedring/feedring/node/internal/transport"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

const (
	testURL   = nodetest.URL
	testTheme = nodetest.Theme
)

var (
	testSpec = nodetest.Spec

	check     = nodetest.Check
	openStore = nodetest.OpenStore
	newSealer = nodetest.NewSealer
	anEntry   = nodetest.Entry
	entries   = nodetest.Entries
	changed   = nodetest.Changed
	retracted = nodetest.Retractions
	shape     = nodetest.Shape
	log       = nodetest.Log
)

// testWriter stores entries of one feed as its publisher does, without a machine.
type testWriter struct {
	*publish.Publisher
	clock *nodetest.Clock
}

func writer(s *store.Store, sealer *wire.Sealer) *testWriter {
	clock := &nodetest.Clock{}
	return &testWriter{publish.New(publish.Config{Self: sealer.ID(), Store: s, Sealer: sealer, Clock: clock}), clock}
}

// append stores entries where the log of spec stands.
func (w *testWriter) append(t testing.TB, spec feedring.FeedSpec, entries ...feedring.Entry) {
	t.Helper()
	if _, err := w.Write(t.Context(), spec, entries, w.NextPrivate(spec)); err != nil {
		t.Fatal(err)
	}
}

// machine keeps what it is told.
type machine struct {
	told    chan group.Input
	members []feedring.PeerID
	ahead   atomic.Int64 // nanoseconds that its clock is
}

func (m *machine) Members(feedring.Theme) []feedring.PeerID { return slices.Clone(m.members) }

func (m *machine) Now() time.Time { return time.Now().Add(time.Duration(m.ahead.Load())) }
func (m *machine) Tell(_ feedring.GroupID, in group.Input) { // of a copy's reach, mostly
	select {
	case m.told <- in:
	default:
	}
}

// counter counts what lists are told to drop.
type counter int

func (c *counter) Retract(*store.Item) { *c++ }

type noCredit struct{}

func (noCredit) Counts(feedring.GroupID) bool { return false }

// newReplicator is that of a peer with a store, which reaches others through host.
func newReplicator(t testing.TB, s *store.Store, self feedring.PeerID, host Host, keep time.Duration) *Replicator {
	r, err := New(t.Context(), Config{
		Self: self, Store: s, Verifier: wire.NewVerifier(nodetest.Network), Machine: &machine{told: make(chan group.Input, 1)}, Host: host,
		Readers: delivery.New("", s, s), Lists: new(counter), Credit: noCredit{}, Tasks: nodetest.Tasks(t),
		Freshness: 24 * time.Hour, Keep: keep, Cache: 1 << 40, Log: nodetest.Quiet,
	})
	check(t, err)
	return r
}

// pollers is a publisher with its store, and a peer that polls it.
type pollers struct {
	t         *testing.T
	publisher *testWriter
	peer      *Replicator // that polls
	store     *store.Store
	ref       feedring.FeedRef
	holder    *Replicator // that is polled; nil: the publisher is
	// twist changes a part on its way.
	twist  func(*feedringv1.PollPart)
	opened atomic.Int32 // polls
}

func newPollers(t *testing.T) *pollers {
	sealer := newSealer(t)
	p := &pollers{
		t: t, publisher: writer(openStore(t), sealer), store: openStore(t),
		ref: feedring.FeedRef{URL: testURL, Publisher: sealer.ID()},
	}
	p.peer = newReplicator(t, p.store, "peer", p, 0)
	return p
}

// begin goes on with another store.
func (p *pollers) begin(s *store.Store) {
	p.store = s
	p.peer = newReplicator(p.t, s, "peer", p, 0)
}

// Suspect implements Host.
func (p *pollers) Suspect(feedring.PeerID) {}

// Open implements Host.
func (p *pollers) Open(context.Context, feedring.PeerID, feedring.Verb, bool) (network.Stream, error) {
	p.opened.Add(1)
	here, there := net.Pipe()
	p.peer.Tasks.Run(func() { defer there.Close(); _ = p.serve(there) })
	return pipeStream{pipe: transport.PipeEnd{Conn: here}}, nil
}

// pipeStream is a pipe as a stream of the host. What a pipe lacks nobody calls.
type pipeStream struct {
	pipe
	lacking
}

type pipe interface {
	net.Conn
	CloseWrite() error
	Reset() error
}

// lacking hides behind the methods of pipe.
type lacking struct{ network.Stream }

// served is who is polled.
func (p *pollers) served() *Replicator {
	if p.holder != nil {
		return p.holder
	}
	return newReplicator(p.t, p.publisher.Store, p.publisher.Self, nil, 0)
}

// serve is ServePoll, with the twist.
func (p *pollers) serve(c net.Conn) error {
	if p.twist == nil {
		return p.served().ServePoll("", wire.NewStream(c))
	}
	s := wire.NewStream(c)
	var req feedringv1.PollRequest
	if err := s.Receive(&req, time.Second); err != nil {
		return err
	}
	asked, err := polls.RequestFrom(&req)
	if err != nil {
		return err
	}
	part, _, _, err := p.served().pollPart(asked.Feed, asked.After, asked.Fresh, !asked.After.IsZero())
	if err != nil {
		return err
	}
	p.twist(part)
	return s.Send(part, time.Second)
}

func (p *pollers) poll(fresh time.Time) (feedring.Head, error) {
	got, err := p.peer.poll(group.Fetch{
		Group: testTheme.Group(), Feed: p.ref, From: p.ref.Publisher, After: p.store.LogHead(p.ref).Position, Fresh: fresh,
	})
	return got.Known, err
}

// polled is every byte that the answer to a poll is made of.
func polled(t *testing.T, r *Replicator, ask polls.Request) ([]byte, error) {
	t.Helper()
	here, there := net.Pipe()
	ended := make(chan error, 1)
	r.Tasks.Run(func() {
		defer there.Close()
		ended <- r.ServePoll("stranger", wire.NewStream(there))
	})
	check(t, wire.NewStream(here).Send(polls.RequestTo(ask), time.Second))
	answer, err := io.ReadAll(here)
	check(t, err)
	return answer, <-ended
}
