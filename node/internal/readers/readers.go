// Package readers serves readers: it puts their questions to the machine, checks
// their tickets, and delivers what this peer holds. Readers at this very peer are
// served by the same client as everybody, over streams that stay in the process, and
// see this peer's private feeds besides.
package readers

import (
	"context"
	"log/slog"

	"github.com/libp2p/go-libp2p/core/network"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/node/internal/readers/delivery"
	"github.com/feedring/feedring/node/internal/transport"
)

// Machine decides which questions are answered how, and who is served.
type Machine interface {
	// Post returns false when the peer stops.
	Post(peer.Input) bool
	Tell(feedring.GroupID, group.Input)
	View() *peer.View
}

// PrivateFeeds are those that this peer fetches for its own readers alone.
type PrivateFeeds interface {
	Private(url string) bool
	PrivateRefs() []feedring.FeedRef
	OffersPrivately(provider string) bool
}

// Host reaches other peers.
type Host interface {
	Open(ctx context.Context, to feedring.PeerID, verb feedring.Verb, fresh bool) (network.Stream, error)
	Learn(id feedring.PeerID, addrs []string)
}

// Loopback opens streams to this peer itself.
type Loopback interface {
	Open(self feedring.PeerID, verb feedring.Verb) (transport.PipeEnd, error)
}

// Sites knows which sites name which peers, as this peer saw itself or was told.
type Sites interface {
	client.Sites
	// Vouched is the site that names the publisher of a feed; empty: none does.
	Vouched(theme feedring.Theme, ref feedring.FeedRef) (site string)
	// Bearing is the site by which a publisher may give a feed a name that is not of
	// the feed's host; empty: none.
	Bearing(ref feedring.FeedRef, given feedring.Provider) string
}

// Tasks runs goroutines that the peer waits for at its end.
type Tasks interface {
	// Run returns false when the peer stops.
	Run(func()) bool
}

// Config is what a Server needs.
type Config struct {
	Self     feedring.PeerID
	Network  string
	Verifier *wire.Verifier // says who may sign tickets; nil: everybody
	Store    *store.Store
	Blocks   client.Blocks // what readers at this peer are not shown; nil: nothing
	Delivery *delivery.Broker
	Machine  Machine
	Sealer   *wire.Sealer
	Host     Host
	Loopback Loopback
	Private  PrivateFeeds
	Sites    Sites
	Tasks    Tasks
	Log      *slog.Logger
}

// Server serves the readers of a peer.
type Server struct {
	Config
	ctx       context.Context // ends when the peer stops
	questions questions
	sessions  sessions
	client    *client.Client // of readers at this peer
}

// New returns a server, which ends with ctx and Close.
func New(ctx context.Context, cfg Config) *Server {
	s := &Server{Config: cfg, ctx: ctx}
	s.questions = questions{machine: cfg.Machine, open: make(map[uint64]asker)}
	s.sessions = sessions{machine: cfg.Machine, deciding: make(map[uint64]chan group.Refusal), serving: make(map[uint64]session)}
	s.client = client.NewWith(localTransport{s}, cfg.Network, []feedring.PeerID{cfg.Self}).WithSites(cfg.Sites)
	s.client.Hide(cfg.Blocks)
	return s
}

// Client is the client of readers at this peer.
func (s *Server) Client() *client.Client { return s.client }

// Answer does peer.Answer.
func (s *Server) Answer(o peer.Answer) { s.questions.answer(o.Stream, o.Final) }

// Admit does group.Admit.
func (s *Server) Admit(o group.Admit) { s.sessions.decide(o.Stream, group.NotRefused) }

// Refuse does group.Refuse.
func (s *Server) Refuse(o group.Refuse) { s.sessions.decide(o.Stream, o.Reason) }

// Leave ends the sessions of a group that this peer has left.
func (s *Server) Leave(g feedring.GroupID) { s.sessions.leave(g) }

// Close ends the client of readers at this peer.
func (s *Server) Close() error { return s.client.Close() }

// vouchedBy is the site that readers of an entry are told names its publisher; empty:
// none does.
func (s *Server) vouchedBy(it *store.Item) string {
	if site := s.Sites.Vouched(it.Theme, it.Ref); site != "" {
		return site
	}
	return s.Sites.Bearing(it.Ref, it.Provider)
}

// localTransport is the way of readers at this very peer into the network.
type localTransport struct{ *Server }

func (t localTransport) ID() feedring.PeerID { return t.Self }

func (t localTransport) Learn(id feedring.PeerID, addrs []string) { t.Host.Learn(id, addrs) }

func (t localTransport) Close() error { return nil }

func (t localTransport) Open(ctx context.Context, to feedring.PeerID, verb feedring.Verb) (client.Stream, error) {
	if to != t.Self {
		return t.Host.Open(ctx, to, verb, false)
	}
	return t.Loopback.Open(to, verb)
}
