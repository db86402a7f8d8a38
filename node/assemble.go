package node

import (
	"time"

	"github.com/feedring/feedring/internal/origin/fetch"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/safehttp"
	"github.com/feedring/feedring/internal/vouch"
	"github.com/feedring/feedring/internal/web"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/node/internal/admin"
	"github.com/feedring/feedring/node/internal/blocking"
	"github.com/feedring/feedring/node/internal/contacts"
	"github.com/feedring/feedring/node/internal/identity"
	"github.com/feedring/feedring/node/internal/optouts"
	"github.com/feedring/feedring/node/internal/origins"
	"github.com/feedring/feedring/node/internal/origins/latency"
	"github.com/feedring/feedring/node/internal/origins/standin"
	"github.com/feedring/feedring/node/internal/personalfeeds"
	"github.com/feedring/feedring/node/internal/preview"
	"github.com/feedring/feedring/node/internal/publish"
	"github.com/feedring/feedring/node/internal/readers"
	"github.com/feedring/feedring/node/internal/readers/delivery"
	"github.com/feedring/feedring/node/internal/replicate"
	"github.com/feedring/feedring/node/internal/sitecheck"
	"github.com/feedring/feedring/node/internal/transport"
	"github.com/feedring/feedring/node/internal/websub"
)

// connsAtHost is room for the fetches of a host's feeds, slow ones included, and
// for one at what the site says of its peers: none waits for a connection, which
// would count as the origin's silence.
const connsAtHost = 4

// assemble builds the machine, the rooms and the effects.
func (n *Node) assemble() error {
	var err error
	distances := latency.New()
	n.outside, err = safehttp.New(safehttp.Config{
		AllowPrivate: n.cfg.AllowPrivateFeeds, UserAgent: fetch.UserAgent(Version, n.cfg.PublicURL, 0),
		Observer:        distances,
		MaxConnsPerHost: connsAtHost, // who asks bounds what is under way
	})
	if err != nil {
		return err
	}
	if err := n.openOwnFeeds(); err != nil {
		return err
	}
	n.loop.states = newPersister(n.store, n.loop, n.log)
	hides := hidden{n.blocks, n.optOuts}
	searcher := blocking.NewSearcher(n.history, hides)
	broker := delivery.New(n.ID(), n.store, searcher)
	broker.Hide(hides)
	n.blocks.Begin(n.ID(), n.loop, n.host, n.front)
	standInEntries := broker.Subscribe()
	n.offers = newOffers(n.ctx, n, n.loop, &n.running)
	if n.origins, err = origins.Load(n.ctx, origins.Config{
		Self: n.ID(), Store: n.store, Storage: n.writing, Cache: n.own, Loop: n.loop, Offers: n.offers,
		Identity: n.identity, StandIns: standInEntries, OptOuts: n.optOuts, Tasks: &n.running, Log: n.log, Share: n.cfg.Share,
		AllowPrivate: n.cfg.AllowPrivateFeeds, Interval: n.cfg.Interval, Policy: n.cfg.Policy, Budget: n.cfg.Budget,
	}, n.cfg.Feeds); err != nil {
		return err
	}
	n.websub = websub.New(websub.Config{
		Self: n.ID(), Version: Version, PublicURL: n.cfg.PublicURL, AllowPrivate: n.cfg.AllowPrivateFeeds, Blocks: n.blocks,
		Store: n.store, Cache: n.own, Front: n.front, Log: n.log,
	})
	previews := fetch.NewPreviews(n.outside, n.websub)
	n.Finder = preview.New(preview.Config{
		Self: n.ID(), Feeds: n.origins, OptOuts: n.optOuts, Previews: previews, Views: n.loop, Joins: n.joins, Host: n.host,
	})
	n.standIns = standin.New(standin.Config{
		Self: n.ID(), Feeds: n.origins, Store: n.store, Cache: n.own, Entries: standInEntries, Subscribers: n.websub, Log: n.log,
	})
	n.writing.Notify(n.origins)
	n.links = transport.NewLinks(n.ctx, n.host, n.sealer, n.cfg.Refresh, &n.running, n.log)
	n.verifier = n.newVerifier()
	contact := transport.NewContact(n.started)
	credit := new(transport.Credit)
	n.server = transport.NewServer(n.ctx, transport.ServerConfig{
		Listener: n.host, Prefixes: n.host, Machine: n.loop, Verifier: n.verifier, Views: n.loop, Credit: credit, Contact: contact, Tasks: &n.running,
		Counts: &n.refused, Blocks: n.blocks, Log: n.log,
	})
	directory := contacts.NewDirectory(n.ctx, n.host, n.loop, &n.running, n.log)
	sites := vouch.NewMemory(n.checker(), n.cfg.Refresh)
	sites.Listen(n.optOuts)
	checks := sitecheck.New(n.ctx, sitecheck.Config{
		Self: n.ID(), Sites: sites, Feeds: n.origins, Fetcher: fetch.NewFetcher(n.outside, n.websub), Blocks: n.blocks, Loop: n.loop, Tasks: &n.running, Log: n.log,
	})
	n.readers = readers.New(n.ctx, readers.Config{
		Self: n.ID(), Network: n.cfg.Network, Verifier: n.verifier, Store: n.store, History: searcher, Blocks: hides, Delivery: broker, Machine: n.loop, Sealer: n.sealer,
		Host: n.host, Loopback: n.server, Private: n.origins, Sites: checks, Tasks: &n.running, Log: n.log,
	})
	n.Admin = admin.New(n.ctx, admin.Config{
		Version: Version, Network: n.cfg.Network, HTTP: n.front.Address(), Started: n.started, Read: n.cfg.Read,
		Refresh: n.cfg.Refresh, Interval: n.cfg.Interval,
		Loop: n.loop, Feeds: n.origins, Identity: n.identity, Storage: n.writing, Host: n.host, Store: n.store,
		History: n.history, Links: n.links, Server: n.server, Contact: contact, Joins: n.joins, Cache: n.own, Sites: sites, Refused: &n.refused, Blocks: n.blocks, Log: n.log,
		Members: n.members,
	})
	n.personal, err = personalfeeds.Open(personalfeeds.Config{
		Self: n.ID(), Store: n.store, Readers: n.readers, Blocks: hides, Views: n.loop, Sites: n, Copies: checks, Origins: n.origins, Hub: n.websub, Log: n.log,
	})
	if err != nil {
		return err
	}
	copies, err := replicate.New(n.ctx, replicate.Config{
		Self: n.ID(), Store: n.store, Verifier: n.verifier, Machine: n.loop, Host: n.host, Readers: broker, Blocks: hides, Lists: n.personal, Credit: credit, Names: checks,
		Refused: &n.refused, Tasks: &n.running, Freshness: n.cfg.Freshness, Keep: n.cfg.keeps(), Log: n.log,
	})
	if err != nil {
		return err
	}
	publisher := publish.New(publish.Config{
		Self: n.ID(), Store: n.store, Sealer: n.sealer, Share: n.cfg.Share, Loop: n.loop, Readers: broker, Answers: copies,
		Tasks: &n.running, Identity: n.identity, Mirrors: n.origins, Names: checks,
	})
	n.retractor = &publish.Retractor{
		Publisher: publisher, Feeds: n.origins, Views: n.loop, Joins: n.joins, Host: n.host, Verifier: n.verifier,
	}
	if err := n.websub.Begin(n.ctx, websub.Parts{Client: n.outside, Origins: n.origins, Personal: n.personal, Views: n.loop}); err != nil {
		return err
	}
	if err := n.origins.Begin(origins.Parts{
		Client: n.outside, Previews: previews, Finder: n.Finder, Latency: distances, Sites: sites, Publisher: publisher, Subscribers: n.websub, Personal: n.personal,
	}); err != nil {
		return err
	}
	n.optOuts.Begin(optouts.Parts{
		Self: n.ID(), Network: n.cfg.Network, Sites: sites, Feeds: n.origins, Reader: fetch.NewFetcher(n.outside, n.websub),
		Copies: copies, Lists: n.personal, Views: n.loop,
	})
	n.identity.Begin(identity.Parts{
		Self: n.ID(), Read: n.cfg.Read, LAN: n.cfg.LAN, Store: n.store, Host: n.host, Sealer: n.sealer, Verifier: n.verifier,
		Loop: n.loop, Feeds: n.origins, Offers: n.offers, Joins: n.joins, Refusals: n.server, Events: identityEvents{n.events},
		Tasks: &n.running, Log: n.log,
	})
	n.effects = &effects{
		log: n.log, loop: n.loop, events: n.events, departed: make(chan struct{}), host: n.host, links: n.links, credit: credit,
		directory: directory, checks: checks, persister: n.loop.states, readers: n.readers, publisher: publisher,
		copies: copies, origins: n.origins, identity: n.identity,
	}
	return n.newMachine()
}

func (n *Node) newMachine() error {
	st, err := n.startingState()
	if err != nil {
		return err
	}
	start := time.Now()
	m, err := peer.New(peer.Config{
		Self: n.ID(), Refresh: n.cfg.Refresh, Attempts: n.cfg.Attempts, Freshness: n.cfg.Freshness, Keep: n.cfg.keeps(),
		Routing: n.cfg.Routing, Fetchers: n.cfg.Fetchers, Joining: len(n.joins.All()) > 0 || len(n.host.KnownPeers()) > 0 || n.cfg.LAN,
		Seed: seed(),
	}, st, start)
	if err != nil {
		return err
	}
	n.loop.begin(m, n.effects, start)
	return nil
}

// serve starts everything: first the loop, then what answers, then what asks.
func (n *Node) serve() {
	n.background(func() { n.loop.run(n.ctx) })
	n.background(func() { n.loop.states.run(n.ctx) })
	n.background(func() { n.blocks.Run(n.ctx) })
	n.listen()
	n.background(func() { n.personal.Run(n.ctx) })
	n.background(func() { n.personal.Deliver(n.ctx) })
	n.background(func() { n.standIns.Run(n.ctx) })
	n.front.Serve(web.Config{
		Backend: n, PublicURL: n.cfg.PublicURL, Proxies: n.cfg.proxies(), Metrics: n.Metrics(), Personal: n.personal,
		Front: ownFeeds{n.own}, Network: n.membersAPI(), Closed: n.members != nil && !n.cfg.HTTPOpen, Stranger: n.members.stranger(), Hub: n.websub.Path(), Open: n.websub.Routes(),
	}, n.own)
	n.websub.Run(n.ctx, &n.running)
	n.events.Add(n.Started()) // before any role
	n.offers.Now()
	n.join()
	n.background(func() { n.known.Run(n.ctx, n.host) })
	n.background(func() { n.effects.copies.CollectGarbage(n.origins) })
	n.background(func() { n.writing.Watch(n.ctx) })
	n.background(func() { n.optOuts.Run(n.ctx) })
	n.background(func() { n.identity.Run(n.ctx) })
	n.fetchOrigins()
}

// listen serves what other peers ask for. Of each verb a number of streams is
// served at once: a poll has a part of a megabyte in memory, and a joining peer
// polls replicate.PollsAtOnce feeds of one holder. A gateway's readers, whom its web front
// counts, attach under one id.
func (n *Node) listen() {
	n.server.Handle(wire.VerbPoll, transport.Bound{All: 64, Each: replicate.PollsAtOnce + 8}, transport.HandlerFunc(n.effects.copies.ServePoll))
	n.server.Handle(wire.VerbInfo, transport.Bound{All: 32, Each: 16}, transport.HandlerFunc(n.ServeInfo))
	n.server.Handle(wire.VerbPresence, transport.Bound{All: 32, Each: 4}, transport.HandlerFunc(n.identity.Serve))
	n.server.Handle(wire.VerbAttach, transport.Bound{All: 4096, Each: 1024}, transport.HandlerFunc(n.readers.ServeAttach))
	n.server.Handle(wire.VerbAsk, transport.Bound{All: 4096, Each: 64}, transport.HandlerFunc(n.readers.ServeAsk))
	n.server.HandleMessages()
	n.listenForMembers()
}
