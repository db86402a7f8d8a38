package node

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/feedring/feedring"
	fleetrows "github.com/feedring/feedring/internal/fleet"
	"github.com/feedring/feedring/internal/fleetkey"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/web"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/node/internal/fleet"
	"github.com/feedring/feedring/node/internal/fleetfeeds"
	"github.com/feedring/feedring/node/internal/fleetlink"
	"github.com/feedring/feedring/node/internal/fleetload"
	"github.com/feedring/feedring/node/internal/transport"
	"github.com/feedring/feedring/node/internal/websub"
)

// fleetPeers is this peer's part in its fleet.
type fleetPeers struct {
	link    *fleetlink.Link
	load    *fleetload.Load
	members *fleetlink.Members
	keeper  *fleet.Keeper
	service *fleetfeeds.Service
}

// MembersChanged implements fleetlink.Listener.
func (f *fleetPeers) MembersChanged() {
	if f.keeper != nil {
		f.keeper.Changed()
	}
}

// openFleet reads the fleet's key, where this peer belongs to one.
func (n *Node) openFleet() error {
	if n.cfg.FleetKey == "" {
		for range n.store.ListPrefix(store.BucketFleet, fleetrows.RecordPrefix) {
			n.leftFleet = true
			n.log.Warn(web.WarnLeftFleet)
			break
		}
		return nil
	}
	k, err := fleetkey.Load(n.cfg.FleetKey, n.cfg.Network)
	if err != nil {
		return &feedring.SettingError{Setting: "fleet-key", Value: n.cfg.FleetKey, Err: err}
	}
	f := &fleetPeers{load: fleetload.New(n.cfg.Interests)}
	f.members, err = fleetlink.OpenMembers(fleetlink.MembersConfig{
		Self: n.ID(), Capacity: f.load, Every: min(max(n.cfg.Refresh/10, 100*time.Millisecond), time.Second), Views: n.loop,
		Records: fleetRecords{n.store}, Listener: f, Log: n.log,
	})
	if err != nil {
		return err
	}
	f.link, err = fleetlink.New(n.ctx, fleetlink.Config{Key: k, Known: f.members, Host: n.host, Machine: n.loop, Tasks: &n.running, Log: n.log})
	n.fleet = f
	return err
}

// fleetRecords keeps who belongs to the fleet.
type fleetRecords struct{ store *store.Store }

const fleetRecord = "fleet"

func (r fleetRecords) Value() ([]byte, error) {
	value, err := r.store.Value(store.BucketPeer, fleetRecord)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	return value, err
}

func (r fleetRecords) Put(ctx context.Context, value []byte) error {
	return r.store.Put(ctx, store.BucketPeer, fleetRecord, value)
}

// closed keeps strangers out of the fleet's group.
func (f *fleetPeers) closed() transport.Closed {
	if f == nil {
		return nil
	}
	return f.link
}

// theme names the fleet; empty: there is none.
func (f *fleetPeers) theme() feedring.Theme {
	if f == nil {
		return ""
	}
	return f.link.Theme()
}

// offer adds the fleet's group.
func (f *fleetPeers) offer(o peer.Offer) peer.Offer {
	if f != nil {
		o.Read = append(slices.Clone(o.Read), f.link.Theme())
		o.Capacity = f.load.Told()
	}
	return o
}

// beginFleet reads what this peer keeps of its fleet.
func (n *Node) beginFleet() (err error) {
	f := n.fleet
	if f == nil {
		return nil
	}
	f.keeper, err = fleet.Open(fleet.Config{Self: n.ID(), Store: n.store, Members: f.members, Link: f.link, Lists: n.personal, Hooks: n.websub, Log: n.log})
	if err != nil {
		return err
	}
	n.websub.JoinFleet(n.ID(), f.keeper, f.link)
	f.service = fleetfeeds.New(n.ctx, fleetfeeds.Config{
		Self: n.ID(), Theme: f.link.Theme(), Own: n.personal, Keeper: f.keeper, Link: f.link, Members: f.members, Load: f.load, Tasks: &n.running, Shared: n.cfg.PublicURL != "", Log: n.log,
	})
	return nil
}

// listenForFleet serves the fleet's peers, until the peer stops.
func (n *Node) listenForFleet() {
	f := n.fleet
	if f == nil {
		return
	}
	mux := http.NewServeMux()
	mux.Handle("POST "+websub.PassPath, n.websub.Passed())
	mux.Handle("/", f.service.Handler(f.keeper, web.SocketHandler(web.Config{
		Backend: n, PublicURL: n.cfg.PublicURL, Personal: n.personal, Hub: n.websub.Path(), Logger: n.log,
	})))
	f.link.Serve(mux)
	n.server.Handle(wire.VerbFleet, fleetlink.Bound(), f.link)
	n.background(func() { f.members.Run(n.ctx) })
	n.background(func() { f.keeper.Run(n.ctx) })
	n.background(func() { f.load.Run(n.ctx, n.personal, n.offers, n.log) })
}

// counted is what is counted of personal feeds, and of the fleet.
type counted struct{ n *Node }

// Metrics implements admin.Personal.
func (c counted) Metrics() []prometheus.Collector {
	if c.n.fleet == nil {
		return c.n.personal.Metrics()
	}
	return append(c.n.personal.Metrics(), c.n.fleet.service.Metrics()...)
}

// inFleet adds what the front serves of this peer's fleet.
func (f *fleetPeers) inFleet(cfg web.Config) web.Config {
	if f != nil {
		cfg.Personal, cfg.Fleet, cfg.Users = f.service, f.service, f.service
	}
	return cfg
}
