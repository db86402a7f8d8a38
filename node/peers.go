package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/store"
)

const (
	maxSaved     = 256 // known peers kept over a restart
	saveEvery    = time.Minute
	saveSoon     = 500 * time.Millisecond
	lookupWithin = 10 * time.Second
	departWithin = time.Second // to hand roles over: a few round trips
	knownRecord  = "known"
)

// loadPeers reads the peers that were known last time.
func loadPeers(s *store.Store) ([]feedring.PeerInfo, error) {
	value, err := s.Value(store.BucketPeer, knownRecord)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return decodePeers(value)
}

// decodePeers reads what savePeers wrote.
func decodePeers(value []byte) ([]feedring.PeerInfo, error) {
	var known []feedring.PeerInfo
	if err := json.Unmarshal(value, &known); err != nil {
		return nil, fmt.Errorf("saved peers: %w", err)
	}
	known = slices.DeleteFunc(known, func(p feedring.PeerInfo) bool { return p.ID == "" })
	return known[:min(len(known), maxSaved)], nil
}

// savePeers keeps the peers known now for the next start.
func (n *Node) savePeers() {
	known := n.host.KnownPeers()
	if len(known) == 0 {
		return
	}
	value, err := json.Marshal(known[:min(len(known), maxSaved)])
	if err == nil {
		err = n.store.Put(context.Background(), store.BucketPeer, knownRecord, value)
	}
	if err != nil {
		n.log.Warn("known peers not saved", "err", err)
		return
	}
	n.log.Debug("known peers saved", "peers", len(known))
}

// keepPeers saves known peers soon after one was met, so that a kill forgets
// nobody for long, and now and then for their addresses.
func (n *Node) keepPeers() {
	tick := time.NewTicker(saveEvery)
	defer tick.Stop()
	for {
		select {
		case <-n.ctx.Done():
			return
		case <-n.met:
			select {
			case <-time.After(saveSoon): // several come together
			case <-n.ctx.Done():
				return
			}
		case <-tick.C:
		}
		n.savePeers()
	}
}

// peerChanged tells the machine of a peer that was met, whoever dialled.
func (n *Node) peerChanged(id feedring.PeerID, connected bool) {
	if !connected {
		return
	}
	select {
	case <-n.assembled:
		n.loop.Post(peer.Known{Peers: []feedring.PeerID{id}})
		select {
		case n.met <- struct{}{}:
		default:
		}
	case <-n.ctx.Done():
	}
}

// moved tells the groups that this peer's addresses changed.
func (n *Node) moved() {
	select {
	case <-n.assembled:
		n.offer()
	case <-n.ctx.Done():
	}
}

// lookup asks the address book for peers of a group.
func (n *Node) lookup(theme feedring.Theme) {
	ctx, cancel := context.WithTimeout(n.ctx, lookupWithin)
	defer cancel()
	found, err := n.host.FindGroup(ctx, theme.Group())
	if err != nil {
		n.log.Debug("address book", "theme", theme, "err", err)
	}
	ids := make([]feedring.PeerID, 0, len(found))
	for _, p := range found {
		if p.ID == n.ID() {
			continue
		}
		n.host.Learn(p.ID, p.Addrs)
		ids = append(ids, p.ID)
	}
	n.loop.Post(peer.Members{Theme: theme, Peers: ids})
}

// depart leaves every group in good order, for as long as ctx allows.
func (n *Node) depart(ctx context.Context) {
	wait, cancel := context.WithTimeout(ctx, departWithin)
	defer cancel()
	if !n.loop.Post(peer.Depart{}) {
		return
	}
	select {
	case <-n.departed:
		n.links.Drain(wait)
	case <-n.loop.done:
	case <-wait.Done():
	}
	n.savePeers()
}
