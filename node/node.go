package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/history"
	"github.com/feedring/feedring/internal/host"
	"github.com/feedring/feedring/internal/readerfeeds/cache"
	"github.com/feedring/feedring/internal/refusals"
	"github.com/feedring/feedring/internal/safehttp"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/web"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/node/internal/admin"
	"github.com/feedring/feedring/node/internal/backlog"
	"github.com/feedring/feedring/node/internal/blocking"
	"github.com/feedring/feedring/node/internal/contacts"
	"github.com/feedring/feedring/node/internal/front"
	"github.com/feedring/feedring/node/internal/identity"
	"github.com/feedring/feedring/node/internal/moving"
	"github.com/feedring/feedring/node/internal/offers"
	"github.com/feedring/feedring/node/internal/optouts"
	"github.com/feedring/feedring/node/internal/origins"
	"github.com/feedring/feedring/node/internal/origins/standin"
	"github.com/feedring/feedring/node/internal/personalfeeds"
	"github.com/feedring/feedring/node/internal/preview"
	"github.com/feedring/feedring/node/internal/publish"
	"github.com/feedring/feedring/node/internal/readers"
	"github.com/feedring/feedring/node/internal/storage"
	"github.com/feedring/feedring/node/internal/tasks"
	"github.com/feedring/feedring/node/internal/transport"
	"github.com/feedring/feedring/node/internal/trusted"
	"github.com/feedring/feedring/node/internal/websub"
)

// Node is a running peer.
type Node struct {
	*admin.Admin
	*preview.Finder

	cfg Config
	output
	lifecycle
	disk
	overlay
	loop    *loop
	effects *effects

	retractor *publish.Retractor
	readers   *readers.Server
	origins   *origins.Feeds
	standIns  *standin.Writer
	offers    *offers.Offers
	front     *front.Front
	outside   *safehttp.Client // everything fetched from the web
	own       *cache.Cache     // this peer's own feeds, for pollers
	personal  *personalfeeds.Feeds
	websub    *websub.WebSub
	identity  *identity.Keeper
}

// output is what listeners and the log are told.
type output struct {
	events *backlog.Queue[Event]
	logs   backlog.Log
	log    *slog.Logger // writes to logs

	refused refusals.Counts // to others, wherever
}

// lifecycle starts and ends a peer.
type lifecycle struct {
	started time.Time
	ctx     context.Context // ends when the peer stops
	stop    context.CancelFunc
	running tasks.Group
	closing sync.Once
	closed  error

	stopFetching context.CancelFunc // at origins
}

// disk is what a peer keeps.
type disk struct {
	store   *store.Store
	history *history.History // of the store
	blocks  *blocking.Blocks // of what others bring
	optOuts *optouts.Keeper  // of publishers who do not want to be mirrored
	writing *storage.Health  // whether the store takes any
}

// overlay is how a peer speaks with others.
type overlay struct {
	host     *host.Host
	members  *members // nil: the network is open
	sealer   *wire.Sealer
	verifier *wire.Verifier // of what others signed
	links    *transport.Links
	server   *transport.Server
	joins    *contacts.Joins
	known    *contacts.Known
	trusted  *trusted.Keeper
	fleet    *fleetPeers // nil: this peer is in no fleet
	// leftFleet says that it keeps rows of one all the same.
	leftFleet bool
}

// Start starts a peer. It returns when the peer serves: neither origins nor
// peers to join through are waited for. The error is one line for the person
// who runs it.
func Start(ctx context.Context, cfg Config) (*Node, error) {
	return start(ctx, cfg, system{})
}

// deps opens the ports of a peer.
type deps interface {
	host(context.Context, host.Config) (*host.Host, error)
	front(front.Config, *slog.Logger) (*front.Front, error)
}

// system opens those of this machine.
type system struct{}

func (system) host(ctx context.Context, cfg host.Config) (*host.Host, error) {
	return host.New(ctx, cfg)
}

func (system) front(cfg front.Config, log *slog.Logger) (*front.Front, error) {
	return front.Open(cfg, log)
}

// listener is told of events; nil: nobody is.
type listener struct{ Listener }

// Take implements backlog.Sink.
func (l listener) Take(e Event, _ int) {
	if l.Listener != nil {
		l.Listener.Take(e)
	}
}

// identityEvents tells listeners of other processes with this peer's key.
type identityEvents struct{ *backlog.Queue[Event] }

func (e identityEvents) IdentityChanged(is *web.IdentityStatus) {
	e.Add(Event{Event: "identity", Identity: is})
}

func start(ctx context.Context, cfg Config, from deps) (_ *Node, err error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	n := &Node{
		cfg: cfg, lifecycle: lifecycle{started: time.Now()}, overlay: overlay{trusted: trusted.New(cfg.TrustedPeers, cfg.TrustedSites)},
		output: output{events: backlog.New(maxEvents, listener{cfg.Events}), logs: backlog.NewLog()},
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	n.log = slog.New(storage.FullOnce{Handler: n.logs.Over(cfg.Logger).Handler()})
	n.loop = newLoop(n.started)
	n.ctx, n.stop = context.WithCancel(context.WithoutCancel(ctx))
	defer func() {
		if err != nil {
			n.release()
		}
	}()
	unlock, err := moving.Lock(cfg.Data) // until the store has a lock of its own
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := moving.Finish(cfg.Data); err != nil {
		return nil, fmt.Errorf("a move to another network was cut off: %w", err)
	}
	if err := n.openMembers(); err != nil {
		return nil, err
	}
	if err := prepareData(cfg.Data, n.log); err != nil {
		return nil, err
	}
	if err := n.open(from); err != nil {
		return nil, err
	}
	if err := n.assemble(); err != nil {
		return nil, err
	}
	n.serve()
	return n, nil
}

// open takes the data directory, the identity and the ports.
func (n *Node) open(from deps) error {
	var err error
	if n.store, err = store.Open(storeIn(n.cfg.Data), store.Options{Log: n.log}); err != nil {
		return err
	}
	n.writing = storage.New(n.store, n.logs.Over(cmp.Or(n.cfg.Logger, slog.Default())))
	if n.identity, err = identity.Open(n.store, n.cfg.Refresh, n.started); err != nil {
		return err
	}
	if n.history, err = history.Open(n.store, n.log); err != nil {
		return err
	}
	if n.blocks, err = blocking.Open(n.store, &n.refused); err != nil {
		return err
	}
	if n.optOuts, err = optouts.Open(n.store, n.log); err != nil {
		return err
	}
	n.known = contacts.NewKnown(n.store, n.log)
	known, err := contacts.LoadKnown(n.store)
	if err != nil {
		n.log.Warn("the peers known last time cannot be read: only those that are configured are asked", "err", err)
	}
	if n.joins, err = contacts.OpenJoins(n.store, n.cfg.Join); err != nil {
		return err
	}
	n.host, err = from.host(n.ctx, host.Config{
		Dir: n.cfg.Data, Network: n.cfg.Network, Listen: n.cfg.Listen, Announce: n.cfg.Announce,
		LAN: n.cfg.LAN, CountPrivate: n.cfg.PrivatePeers == PrivatePeersNew, Known: known, Blocks: n.blocks, Logger: n.log, Observer: observer{n}, Door: n.members.door(),
	})
	if err != nil {
		return err
	}
	if n.sealer, err = wire.NewSealer(n.host.PrivateKey(), n.cfg.Network); err != nil {
		return err
	}
	n.front, err = from.front(front.Config{
		HTTP: n.cfg.HTTP, TokenFile: n.cfg.TokenFile(), Socket: n.cfg.SocketFile(), Proxies: n.cfg.proxies(),
		Refused: &n.refused, Blocks: n.blocks,
	}, n.log)
	return err
}

// Started is the event that tells where the peer is.
func (n *Node) Started() Event {
	return Event{Event: "ready", Peer: n.ID(), Addrs: n.host.Listening(), HTTP: n.front.Address()}
}

// ID returns this peer's id.
func (n *Node) ID() feedring.PeerID { return n.host.ID() }

// background runs f as a part of the peer, unless the peer is stopping: Close
// waits for it. It reports whether f runs.
func (n *Node) background(f func()) bool { return n.running.Run(f) }

// Close hands this peer's roles over, leaves its groups, stops and closes the
// store. It is safe to call twice. When ctx ends first the rest is cut short,
// without harm to what is stored.
func (n *Node) Close(ctx context.Context) error {
	n.closing.Do(func() {
		n.stopFetching()
		var saving sync.WaitGroup
		saving.Go(func() { n.origins.SaveAll(ctx) })
		saving.Go(n.identity.Leave)
		n.depart(ctx)
		saving.Wait()
		n.closed = n.release()
	})
	return n.closed
}

const (
	maxEvents  = 1024                   // waiting for a listener
	toldWithin = 200 * time.Millisecond // for the last events to be told, and the last lines to be written
)

// releaseWithin is how long what runs in the background may take to notice that
// the peer stops. What takes longer finds the store closed, which harms nothing.
const releaseWithin = 500 * time.Millisecond

// release gives back what was taken, in the opposite order, whatever of it there
// is.
func (n *Node) release() error {
	n.stop()
	var errs []error
	if n.front != nil {
		n.front.Close()
	}
	if n.readers != nil {
		errs = append(errs, n.readers.Close())
	}
	if n.host != nil {
		errs = append(errs, n.host.Close())
	}
	if !n.running.End(releaseWithin) {
		n.log.Warn("something still runs while the peer closes")
	}
	if n.history != nil {
		n.history.Close()
	}
	if n.store != nil {
		errs = append(errs, n.store.Close())
	}
	n.events.Close(toldWithin)
	n.logs.Close(toldWithin)
	return errors.Join(errs...)
}
