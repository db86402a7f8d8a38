package node

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/fleet/key"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/node/internal/fleetlink"
	"github.com/feedring/feedring/node/internal/transport"
)

// fleetPeers is this peer's part in its fleet.
type fleetPeers struct {
	link    *fleetlink.Link
	members *fleetlink.Members
}

// openFleet reads the fleet's key, where this peer belongs to one.
func (n *Node) openFleet() error {
	if n.cfg.FleetKey == "" {
		return nil
	}
	k, err := key.Load(n.cfg.FleetKey, n.cfg.Network)
	if err != nil {
		return &feedring.SettingError{Setting: "fleet-key", Value: n.cfg.FleetKey, Err: err}
	}
	f := new(fleetPeers)
	f.link, err = fleetlink.New(n.ctx, fleetlink.Config{Key: k, Host: n.host, Machine: n.loop, Tasks: &n.running, Log: n.log})
	if err != nil {
		return err
	}
	f.members, err = fleetlink.OpenMembers(fleetlink.MembersConfig{
		Self: n.ID(), Room: n.cfg.Interests, Every: min(max(n.cfg.Refresh/10, 100*time.Millisecond), time.Second), Views: n.loop,
		Records: fleetRecords{n.store}, Changed: func() {}, Log: n.log,
	})
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

// offer adds the fleet's group.
func (f *fleetPeers) offer(o peer.Offer) peer.Offer {
	if f != nil {
		o.Read = append(slices.Clone(o.Read), f.link.Theme())
		o.Capacity = f.members.Room()
	}
	return o
}

// listenForFleet serves the fleet's peers, until the peer stops.
func (n *Node) listenForFleet() {
	if n.fleet == nil {
		return
	}
	n.fleet.link.Serve(http.NotFoundHandler())
	n.server.Handle(wire.VerbFleet, fleetlink.Bound(), n.fleet.link)
	n.background(func() { n.fleet.members.Run(n.ctx) })
}
