package node

import (
	"math/rand/v2"
	"time"

	"github.com/feedring/feedring/internal/origin/fetch"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/safehttp"
	"github.com/feedring/feedring/internal/vouch"
	"github.com/feedring/feedring/internal/web"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/node/internal/admin"
	"github.com/feedring/feedring/node/internal/contacts"
	"github.com/feedring/feedring/node/internal/personalfeeds"
	"github.com/feedring/feedring/node/internal/publish"
	"github.com/feedring/feedring/node/internal/readers"
	"github.com/feedring/feedring/node/internal/readers/delivery"
	"github.com/feedring/feedring/node/internal/replicate"
	"github.com/feedring/feedring/node/internal/sitecheck"
	"github.com/feedring/feedring/node/internal/transport"
)

// connsAtHost is room for the looks at a host's feeds, slow ones included, and
// for one at what the site says of its peers: none waits for a connection, which
// would count as the origin's silence.
const connsAtHost = 4

// assemble builds the machine, the rooms and the effects.
func (n *Node) assemble() error {
	var err error
	n.ways = newWays()
	n.outside, err = safehttp.New(safehttp.Config{
		AllowPrivate: n.cfg.AllowPrivateFeeds, UserAgent: n.agent(0),
		Connected:       n.ways.connected,
		MaxConnsPerHost: connsAtHost, // who asks bounds what is under way
	})
	if err != nil {
		return err
	}
	n.ways.connect = n.outside.Connect
	if err := n.openOwnFeeds(); err != nil {
		return err
	}
	n.fetcher = fetch.NewFetcher(n.outside, n.prepare)
	broker := delivery.New(n.ID(), n.store, n.history)
	n.resting = broker.Subscribe()
	n.offers = newOffers(n.ctx, n.offered, n.loop.Post, n.background)
	n.origins = &origins{
		self: n.ID(), store: n.store, writing: n.writing, log: n.log, feeds: newFeeds(), offer: n.offer, retitle: n.offers.soon, front: n.own, share: n.cfg.Share,
	}
	if err := n.origins.load(n.cfg.Feeds); err != nil {
		return err
	}
	n.links = transport.NewLinks(n.ctx, n.host, n.sealer, n.cfg.Refresh, &n.running, n.log)
	n.loop.states = newPersister(n.store, n.loop, &n.themes, n.log)
	n.verifier = wire.NewVerifier(n.cfg.Network)
	contact := transport.NewContact(n.started)
	credit := new(transport.Credit)
	n.server = transport.NewServer(n.ctx, transport.ServerConfig{
		Listener: n.host, Machine: n.loop, Verifier: n.verifier, Credit: credit, Contact: contact, Tasks: &n.running, Log: n.log,
	})
	n.publisher = publish.New(publish.Config{
		Self: n.ID(), Store: n.store, Sealer: n.sealer, Share: n.cfg.Share, Loop: n.loop, Readers: broker,
		Tasks: &n.running, Identity: n.identity, Mirrors: mirrors{n},
	})
	n.retractor = &publish.Retractor{
		Publisher: n.publisher, Feeds: n.origins, Views: n.loop, Joins: n.joins, Host: n.host, Verifier: n.verifier,
	}
	directory := contacts.NewDirectory(n.ctx, n.host, n.loop, &n.running, n.log)
	n.sites = vouch.NewMemory(n.checker(), n.cfg.Refresh)
	n.readers = readers.New(n.ctx, readers.Config{
		Self: n.ID(), Network: n.cfg.Network, Store: n.store, History: n.history, Delivery: broker, Machine: n.loop, Sealer: n.sealer,
		Host: n.host, Loopback: n.server, Private: n.origins, Tasks: &n.running, Log: n.log,
	})
	checks := sitecheck.New(n.ctx, sitecheck.Config{
		Self: n.ID(), Sites: n.sites, Feeds: feedsView{n}, Fetcher: n.fetcher, Loop: n.loop, Tasks: &n.running, Log: n.log,
	})
	n.Desk = admin.New(n.ctx, admin.Config{
		Version: Version, Network: n.cfg.Network, HTTP: n.front.Address(), Started: n.started, Read: n.cfg.Read,
		Refresh: n.cfg.Refresh, Interval: n.cfg.Interval,
		Loop: n.loop, Feeds: feedsView{n}, Identity: identityView{n}, Storage: n.writing, Host: n.host, Store: n.store,
		History: n.history, Links: n.links, Server: n.server, Contact: contact, Joins: n.joins, Cache: n.own, Sites: n.sites, Log: n.log,
	})
	n.personal, err = personalfeeds.Open(personalfeeds.Config{
		Self: n.ID(), Store: n.store, Readers: n.readers, Views: n.loop, Sites: n, Origins: n.origins, Hub: n, Log: n.log,
	})
	if err != nil {
		return err
	}
	copies, err := replicate.New(n.ctx, replicate.Config{
		Self: n.ID(), Store: n.store, Verifier: n.verifier, Machine: n.loop, Host: n.host, Readers: broker, Lists: n.personal, Credit: credit,
		Tasks: &n.running, Freshness: n.cfg.Freshness, Keep: n.cfg.keeps(), Log: n.log,
	})
	if err != nil {
		return err
	}
	if err := n.openHub(); err != nil {
		return err
	}
	if err := n.openHubs(); err != nil {
		return err
	}
	n.origins.publish, n.origins.names = n.publishAndTell, n.namesHub
	n.glances = fetch.NewGlances(n.outside, n.prepare)
	n.origins.glanced, n.origins.ours = n.glances.Holds, n.vouched
	n.files = &fetch.Files{Next: n.glances, Path: n.origins.file, All: n.origins.files}
	n.origins.lookers = n.newLookers()
	if err := n.newWatcher(n.files); err != nil {
		return err
	}
	n.effects = &effects{
		log: n.log, loop: n.loop, events: n.output.events, departed: make(chan struct{}), host: n.host, links: n.links, credit: credit,
		directory: directory, checks: checks, persister: n.loop.states, readers: n.readers, publisher: n.publisher,
		copies: copies, looks: n, twins: &n.twins,
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
		Routing: n.cfg.Routing, Fetchers: n.cfg.Distrust, Joining: len(n.joins.All()) > 0 || len(n.host.KnownPeers()) > 0 || n.cfg.LAN,
		Seed: seed(),
	}, st, start)
	if err != nil {
		return err
	}
	n.loop.hold(m, n.effects, start)
	return nil
}

func (n *Node) newWatcher(client fetch.Client) (err error) {
	spread := fetch.WithSites{Policy: fetch.NewBudget(n.cfg.Policy, n.cfg.Budget, rand.NewPCG(seed(), seed())), Vouches: n.vouched}
	var policy fetch.Policy = fetch.WithHubs{Policy: spread, Works: n.hubWorks}
	if n.cfg.Interval > 0 {
		policy = fetch.Fixed(n.cfg.Interval)
	}
	policy = inTurn{Policy: policy, lookers: n.origins.lookers, exact: n.cfg.Interval > 0}
	n.origins.watcher, err = fetch.NewWatcher(fetch.WatcherConfig{
		Client: client, Policy: policy, Manners: n.manners(), Prepare: n.prepare, Handler: n.origins, Logger: n.log, Fetched: n.origins.fetched,
	})
	return err
}

// serve starts everything: first the loop, then what answers, then what asks.
func (n *Node) serve() {
	n.background(func() { n.loop.run(n.ctx) })
	n.background(func() { n.loop.states.run(n.ctx) })
	n.listen()
	n.background(func() { n.personal.Run(n.ctx) })
	n.background(func() { n.personal.Deliver(n.ctx) })
	n.background(n.standIn)
	site := web.Config{
		Backend: n, PublicURL: n.cfg.PublicURL, Metrics: n.Metrics(), Personal: n.personal,
		Front: ownFeeds{n.own},
	}
	if n.hub != nil {
		site.Hub, site.Open = hubPath, n.openRoutes()
	}
	n.front.Serve(site)
	if n.hub != nil {
		n.background(func() { n.hub.Run(n.ctx) })
	}
	if n.hubs != nil {
		n.background(func() { n.hubs.Run(n.ctx) })
	}
	n.output.events.Add(n.Started()) // before any role
	n.offer()
	n.join()
	n.background(func() { n.known.Run(n.ctx, n.host) })
	n.background(func() { n.effects.copies.CollectGarbage(n.origins) })
	n.background(func() { n.writing.Watch(n.ctx) })
	n.background(n.keepPresence)
	n.lookAtOrigins()
}

// listen serves what other peers ask for. Of each verb a number of streams is
// served at once: a poll has a part of a megabyte in memory, and a joining peer
// polls replicate.PollsAtOnce feeds of one holder. A gateway's readers, whom its web front
// counts, attach under one id.
func (n *Node) listen() {
	n.server.Handle(wire.VerbPoll, transport.Bound{All: 64, Each: replicate.PollsAtOnce + 8}, n.effects.copies.ServePoll)
	n.server.Handle(wire.VerbInfo, transport.Bound{All: 32, Each: 16}, n.ServeInfo)
	n.server.Handle(wire.VerbPresence, transport.Bound{All: 32, Each: 4}, n.servePresence)
	n.server.Handle(wire.VerbAttach, transport.Bound{All: 4096, Each: 1024}, n.readers.ServeAttach)
	n.server.Handle(wire.VerbAsk, transport.Bound{All: 4096, Each: 64}, n.readers.ServeAsk)
	n.server.HandleMessages()
}
