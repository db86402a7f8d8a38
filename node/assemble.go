package node

import (
	"math"
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
	"github.com/feedring/feedring/node/internal/forks"
	"github.com/feedring/feedring/node/internal/identity"
	"github.com/feedring/feedring/node/internal/offers"
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
	a := &assembly{Node: n, credit: new(transport.Credit), contact: transport.NewContact(n.started)}
	if err := a.feeds(); err != nil {
		return err
	}
	if err := a.openFleet(); err != nil {
		return err
	}
	a.network()
	if err := a.entries(); err != nil {
		return err
	}
	if err := a.beginFeeds(); err != nil {
		return err
	}
	a.makeEffects()
	return n.newMachine()
}

// assembly is a peer while it is put together, with the rooms that only others hold.
type assembly struct {
	*Node
	distances *latency.Table
	hides     hidden
	forks     *forks.Keeper
	searcher  blocking.Searcher
	broker    *delivery.Broker
	previews  *fetch.Previews
	contact   *transport.Contact
	credit    *transport.Credit
	sites     *vouch.Memory
	asker     *siteAsker
	checks    *sitecheck.Checker
	copies    *replicate.Replicator
	publisher *publish.Publisher
}

// feeds makes what this peer fetches, and what pollers of its feeds are given.
func (a *assembly) feeds() (err error) {
	a.distances = latency.New()
	a.outside, err = safehttp.New(safehttp.Config{
		AllowPrivate: a.cfg.AllowPrivateFeeds, UserAgent: fetch.UserAgent(Version, a.cfg.PublicURL, 0),
		Observer:        a.distances,
		MaxConnsPerHost: connsAtHost, // who asks bounds what is under way
	})
	if err != nil {
		return err
	}
	if err := a.openOwnFeeds(); err != nil {
		return err
	}
	a.loop.states = newPersister(a.store, a.loop, a.log)
	a.asker = newAsker(a.Node)
	a.members.vouch(a.asker, a.cfg.Refresh)
	if a.forks, err = forks.Open(a.ctx, a.store, a.log); err != nil {
		return err
	}
	a.hides = hidden{a.blocks, a.optOuts, a.members, a.forks}
	a.searcher = blocking.NewSearcher(a.history, a.hides)
	a.broker = delivery.New(a.ID(), a.store, a.searcher)
	a.broker.Hide(a.hides)
	a.blocks.Begin(a.ID(), a.loop, a.host, a.front)
	a.blocks.Reach(a.outside, a.log)
	standInEntries := a.broker.Subscribe()
	a.offers = offers.New(a.ctx, offered{a.Node}, a.loop, &a.running)
	if a.origins, err = origins.Load(a.ctx, origins.Config{
		Self: a.ID(), Store: a.store, Storage: a.writing, Cache: a.own, Loop: a.loop, Offers: a.offers,
		Identity: a.identity, StandIns: standInEntries, OptOuts: withheld{a.optOuts, a.members}, Tasks: &a.running, Log: a.log, Share: a.cfg.Share,
		AllowPrivate: a.cfg.AllowPrivateFeeds, Interval: a.cfg.Interval, Policy: a.cfg.Policy, Budget: a.cfg.Budget,
		Refresh: a.cfg.Refresh, Freshness: a.cfg.Freshness, Volunteers: a.cfg.volunteers(), Blocks: a.blocks,
	}, a.cfg.Feeds); err != nil {
		return err
	}
	a.websub = websub.New(websub.Config{
		Self: a.ID(), Version: Version, PublicURL: a.cfg.PublicURL, AllowPrivate: a.cfg.AllowPrivateFeeds, Blocks: a.blocks,
		Store: a.store, Cache: a.own, Front: a.front, Log: a.log,
	})
	a.previews = fetch.NewPreviews(a.outside, a.websub)
	a.Finder = preview.New(preview.Config{
		Self: a.ID(), Feeds: a.origins, OptOuts: a.optOuts, Previews: a.previews, Views: a.loop, Joins: a.joins, Host: a.host,
	})
	a.standIns = standin.New(standin.Config{
		Self: a.ID(), Feeds: a.origins, Store: a.store, Cache: a.own, Entries: standInEntries, Subscribers: a.websub, Log: a.log,
	})
	a.writing.Notify(a.origins)
	return nil
}

// network makes what speaks with other peers and asks sites.
func (a *assembly) network() {
	a.links = transport.NewLinks(a.ctx, a.host, a.sealer, a.broker, a.cfg.Refresh, &a.running, a.log)
	a.verifier = a.newVerifier()
	a.server = transport.NewServer(a.ctx, transport.ServerConfig{
		Listener: a.host, Prefixes: a.host, Machine: a.loop, Verifier: a.verifier, Views: a.loop, Credit: a.credit, Contact: a.contact, Tasks: &a.running,
		Counts: &a.refused, Blocks: a.blocks, Forks: a.forks, Closed: a.fleet.closed(), Log: a.log,
	})
	a.sites = vouch.NewMemory(a.checker(), a.cfg.Refresh)
	a.sites.Listen(a.optOuts)
	a.asker.sites = a.sites
	a.checks = sitecheck.New(a.ctx, sitecheck.Config{
		Self: a.ID(), Sites: a.sites, Feeds: a.origins, Fetcher: fetch.NewFetcher(a.outside, a.websub), Blocks: a.blocks, Loop: a.loop, Tasks: &a.running, Log: a.log,
	})
	a.broker.Prefer(a.checks)
}

// entries makes what serves readers, and what keeps and publishes entries.
func (a *assembly) entries() (err error) {
	a.readers = readers.New(a.ctx, readers.Config{
		Self: a.ID(), Network: a.cfg.Network, Verifier: a.verifier, Store: a.store, Blocks: a.hides, Delivery: a.broker, Machine: a.loop, Sealer: a.sealer,
		Host: a.host, Loopback: a.server, Private: a.origins, Sites: a.checks, Tasks: &a.running, Log: a.log,
	})
	a.personal, err = personalfeeds.Open(personalfeeds.Config{
		Self: a.ID(), Fleet: a.fleet != nil, Freshness: a.cfg.Freshness, Store: a.store, Readers: a.readers, Blocks: a.hides, Views: a.loop, Sites: a.Node, Copies: a.checks, Origins: a.origins, Hub: a.websub, Log: a.log,
	})
	if err != nil {
		return err
	}
	a.Admin = admin.New(a.ctx, admin.Config{
		Version: Version, Network: a.cfg.Network, HTTP: a.front.Address(), Started: a.started, Read: a.cfg.Read, Fleet: a.fleet.theme(), LeftFleet: a.leftFleet,
		Refresh: a.cfg.Refresh, Interval: a.cfg.Interval,
		Loop: a.loop, Feeds: a.origins, Identity: a.identity, Storage: a.writing, Host: a.host, Store: a.store,
		History: a.history, Links: a.links, Server: a.server, Contact: a.contact, Joins: a.joins, Cache: a.own, Sites: a.sites, Refused: &a.refused, Blocks: a.blocks, Log: a.log,
		Members: a.members, Trusted: a.trusted, Personal: counted{a.Node},
	})
	if err := a.beginFleet(); err != nil {
		return err
	}
	a.copies, err = replicate.New(a.ctx, replicate.Config{
		Self: a.ID(), Store: a.store, Verifier: a.verifier, Machine: a.loop, Host: a.host, Readers: a.broker, Blocks: exchanged{a.hides}, Lists: a.personal, Credit: a.credit, Names: a.checks,
		Forks: a.forks, Links: a.links, Own: a.origins,
		Refused: &a.refused, Tasks: &a.running, Freshness: a.cfg.Freshness, Keep: a.cfg.keeps(), Cache: a.cache(), Log: a.log,
	})
	if err != nil {
		return err
	}
	a.publisher = publish.New(publish.Config{
		Self: a.ID(), Store: a.store, Sealer: a.sealer, Share: a.cfg.Share, Loop: a.loop, Readers: a.broker, Answers: a.copies,
		Tasks: &a.running, Identity: a.identity, Mirrors: a.origins, Names: a.checks, Forks: a.forks,
	})
	a.retractor = &publish.Retractor{
		Publisher: a.publisher, Feeds: a.origins, Views: a.loop, Joins: a.joins, Host: a.host, Verifier: a.verifier,
	}
	return nil
}

// leastCache is kept of strangers' entries, unless the configuration says less.
const leastCache = 2e9

// cache is how many bytes are kept of strangers' entries.
func (a *assembly) cache() int64 {
	if a.cfg.Cache > 0 {
		return a.cfg.Cache
	}
	room, err := a.store.DiskFree()
	if err != nil || room == math.MaxInt64 {
		return leastCache
	}
	return max(leastCache, room/4)
}

// beginFeeds gives rooms that were made early those that were made after them.
func (a *assembly) beginFeeds() error {
	if err := a.websub.Begin(a.ctx, websub.Parts{Client: a.outside, Origins: a.origins, Personal: a.personal, Views: a.loop}); err != nil {
		return err
	}
	if err := a.origins.Begin(origins.Parts{
		Client: a.outside, Previews: a.previews, Finder: a.Finder, Latency: a.distances, Sites: a.sites, Publisher: a.publisher, Subscribers: a.websub, Personal: a.personal,
	}); err != nil {
		return err
	}
	a.optOuts.Begin(optouts.Parts{
		Self: a.ID(), Network: a.cfg.Network, Sites: a.sites, Feeds: a.origins, Reader: fetch.NewFetcher(a.outside, a.websub),
		Copies: a.copies, Lists: a.personal, Views: a.loop,
	})
	a.identity.Begin(identity.Parts{
		Self: a.ID(), Read: a.cfg.Read, LAN: a.cfg.LAN, Store: a.store, Host: a.host, Sealer: a.sealer, Verifier: a.verifier,
		Loop: a.loop, Feeds: a.origins, Offers: a.offers, Joins: a.joins, Refusals: a.server, Events: identityEvents{a.events},
		Tasks: &a.running, Log: a.log,
	})
	return nil
}

// makeEffects makes what does as the machine says.
func (a *assembly) makeEffects() {
	a.effects = &effects{
		log: a.log, loop: a.loop, events: a.events, departed: make(chan struct{}), host: a.host, links: a.links, credit: a.credit,
		directory: contacts.NewDirectory(a.ctx, a.host, a.loop, &a.running, a.log), checks: a.checks, persister: a.loop.states, readers: a.readers, publisher: a.publisher,
		copies: a.copies, origins: a.origins, identity: a.identity,
	}
}

func (n *Node) newMachine() error {
	st, err := n.startingState()
	if err != nil {
		return err
	}
	start := time.Now()
	m, err := peer.New(peer.Config{
		Self: n.ID(), Refresh: n.cfg.Refresh, Attempts: n.cfg.Attempts, Freshness: n.cfg.Freshness, Keep: n.cfg.keeps(),
		Routing: n.cfg.Routing, Fetchers: n.cfg.Fetchers, Every: n.cfg.Interval, Joining: len(n.joins.All()) > 0 || len(n.host.KnownPeers()) > 0 || n.cfg.LAN,
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
	n.trusted.Tell(n.loop, n.blocks)
	n.background(func() { n.loop.states.run(n.ctx) })
	n.background(func() { n.blocks.Run(n.ctx) })
	n.background(func() { n.blocks.ReadLists(n.ctx) })
	n.listen()
	n.background(func() { n.personal.Run(n.ctx) })
	n.background(func() { n.personal.Deliver(n.ctx) })
	n.background(func() { n.standIns.Run(n.ctx) })
	n.front.Serve(n.fleet.inFleet(web.Config{
		Backend: n, PublicURL: n.cfg.PublicURL, Proxies: n.cfg.proxies(), Metrics: n.Metrics(), Personal: n.personal,
		Front: ownFeeds{n.own}, Network: n.membersAPI(), Members: n.webMembers(), Hub: n.websub.Path(), Open: n.websub.Routes(), LeftFleet: n.leftFleet,
	}), n.own)
	n.websub.Run(n.ctx, &n.running)
	n.events.Add(n.Started()) // before any role
	n.offers.Now()
	n.join()
	n.background(func() { n.known.Run(n.ctx, n.host) })
	n.background(func() { n.effects.copies.CollectGarbage(n.origins) })
	n.background(func() { n.writing.Watch(n.ctx) })
	n.background(func() { n.optOuts.Run(n.ctx) })
	n.background(func() { n.identity.Run(n.ctx) })
	n.background(func() { n.trusted.Run(n.ctx, n.loop, n.blocks, n.effects.checks) })
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
	n.listenForFleet()
	n.listenForPassed()
}
