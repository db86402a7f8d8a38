package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	dht "github.com/libp2p/go-libp2p-kad-dht"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/protocol/holepunch"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/host/addr"
	"github.com/feedring/feedring/internal/host/dials"
	"github.com/feedring/feedring/internal/host/directory"
	"github.com/feedring/feedring/internal/host/gate"
	"github.com/feedring/feedring/internal/host/identity"
	"github.com/feedring/feedring/internal/host/members"
	"github.com/feedring/feedring/internal/host/peerbook"
	"github.com/feedring/feedring/internal/host/suspect"
	"github.com/feedring/feedring/internal/wire"
)

// closeWithin bounds Close. What takes longer, such as taking a port mapping
// back from a slow router, goes on behind it.
const closeWithin = 250 * time.Millisecond

// Host is one end of the network. All methods are safe for concurrent use.
type Host struct {
	cfg      Config
	log      *slog.Logger
	listen   []ma.Multiaddr // what to listen on
	announce []ma.Multiaddr // what to tell; empty: found out
	scope    addr.Scope
	dials    *dials.Dials
	gater    *gate.Gater
	prefix   protocol.ID // of every protocol of this network

	lib       host.Host
	dht       *dht.IpfsDHT
	members   *members.Table
	met       *peerbook.Met
	recent    peerbook.RecentAddrs
	groups    *directory.Groups // offered in the address book
	lan       lan
	reach     reach
	addresses addresses
	guards    guards
	greetings greetings
	puncher   *holepunch.Service // nil where nothing outside is asked
	suspects  *suspect.Suspects
	started   chan struct{} // closed when everything is on top of lib

	ctx     context.Context // ends with Close
	stop    context.CancelFunc
	running sync.WaitGroup
	closing sync.Once
	closed  error
}

// New starts a host: when it returns the host listens, but has dialled nobody
// yet. The error is one line for the person who runs the peer. ctx bounds the
// start only.
func New(ctx context.Context, cfg Config) (*Host, error) {
	cfg.fill()
	h, err := prepare(cfg)
	if err != nil {
		return nil, err
	}
	key, err := h.identity()
	if err != nil {
		return nil, err
	}
	assembly, err := h.assembly(key)
	if err != nil {
		return nil, err
	}
	lib, err := assembly.NewNode()
	if err != nil {
		return nil, fmt.Errorf("network: %w", err)
	}
	if err := h.start(lib); err != nil {
		return nil, errors.Join(err, lib.Close())
	}
	if err := h.openPorts(ctx); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	if err := h.startReach(); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	h.startLAN()
	return h, nil
}

// NewWith is New around a libp2p host that exists and listens, such as one on
// a simulated network. It takes lib over and ignores what cfg says about
// identity, listening and limits, and must not be connected yet. Loopback and
// private addresses are used if lib listens on such.
func NewWith(lib host.Host, cfg Config) (*Host, error) {
	cfg.fill()
	h, err := prepare(cfg)
	if err != nil {
		return nil, err
	}
	h.scope.Give(lib.Network().ListenAddresses()...)
	if err := h.start(lib); err != nil {
		return nil, err
	}
	return h, nil
}

// prepare reads cfg, without taking anything that must be given back.
func prepare(cfg Config) (*Host, error) {
	h := &Host{cfg: cfg, log: cfg.Logger, prefix: protocol.ID("/feedring/" + cfg.Network + "/")}
	var err error
	if h.announce, err = addr.ParseList("announce", cfg.Announce); err != nil {
		return nil, err
	}
	if !cfg.Client {
		given := cfg.Listen
		if len(given) == 0 {
			given = everyInterface()
		}
		if h.listen, err = addr.ParseList("listen", given); err != nil {
			return nil, err
		}
	}
	h.scope.Give(h.listen...)
	h.scope.Give(h.announce...)
	if cfg.LAN {
		h.scope.AllowPrivate()
	}
	h.dials = dials.New(home{h})
	h.gater = gate.New(&h.scope, h.dials, cfg.Blocks)
	h.groups = directory.New(h.log)
	h.suspects = suspect.New(h.protocol(presence), tasks{h}, h.log)
	h.reach.relayMet, h.addresses.wake = make(chan struct{}, 1), make(chan struct{}, 1)
	h.started = make(chan struct{})
	h.guards = guards{looked: make(map[peer.ID]time.Time), tags: make(map[string][]peer.ID)}
	h.greetings = greetings{under: make(map[peer.ID]*greeting), done: make(map[peer.ID]bool)}
	h.ctx, h.stop = context.WithCancel(context.Background())
	return h, nil
}

func (h *Host) identity() (crypto.PrivKey, error) {
	if h.cfg.Dir == "" {
		return identity.New()
	}
	return identity.Load(h.cfg.Dir)
}

// start puts everything on top of lib. Handlers come before the first
// connection, so that whoever connects is told the whole of what this host
// speaks.
func (h *Host) start(lib host.Host) error {
	h.lib = lib
	h.members = members.New(links{h})
	h.Handle(presence, func(s network.Stream) { _ = s.Close() })
	h.met, h.recent = peerbook.NewMet(), peerbook.NewRecentAddrs()
	lib.Network().Notify(&network.NotifyBundle{ConnectedF: h.newcomer, DisconnectedF: h.proves})
	if err := h.watch(); err != nil {
		return err
	}
	if err := h.startDirectory(); err != nil {
		return err
	}
	h.recall(h.cfg.Known)
	close(h.started)
	return nil
}

// version is what every host of a network, clients included, says first: by it
// others see that it is of their network.
func (h *Host) version() string { return "feedring/" + h.cfg.Network }

// presence is a verb that every host speaks, for those that NewWith was given:
// their version is libp2p's. Nothing is sent on it.
const presence feedring.Verb = "present"

func (h *Host) protocol(verb feedring.Verb) protocol.ID {
	return wire.ProtocolID(h.cfg.Network, verb)
}

// ID returns this host's peer id.
func (h *Host) ID() feedring.PeerID { return feedring.PeerID(h.lib.ID().String()) }

// PrivateKey returns the identity key. It is what this peer signs with.
func (h *Host) PrivateKey() crypto.PrivKey { return h.lib.Peerstore().PrivKey(h.lib.ID()) }

// background runs f as a part of the host: Close waits for it.
func (h *Host) background(f func()) {
	if h.ctx.Err() == nil {
		h.running.Go(f)
	}
}

// Close disconnects from everybody and gives the ports back, within a quarter
// of a second. It is safe to call twice.
func (h *Host) Close() error {
	h.closing.Do(func() {
		h.stop()
		done := make(chan error, 1)
		go func() { done <- h.shut() }()
		late := time.NewTimer(closeWithin)
		defer late.Stop()
		select {
		case h.closed = <-done:
		case <-late.C:
			h.log.Debug("network closes in the background")
		}
	})
	return h.closed
}

func (h *Host) shut() error {
	h.stopLAN()
	var err error
	if h.dht != nil {
		err = h.dht.Close()
	}
	err = errors.Join(err, h.lib.Close())
	h.running.Wait()
	return err
}
