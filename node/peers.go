package node

import (
	"context"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/peer"
)

const departWithin = time.Second // to hand roles over: a few round trips

// peerChanged tells the machine of a peer that was met, whoever dialled.
func (n *Node) peerChanged(id feedring.PeerID, connected bool) {
	if !connected {
		return
	}
	select {
	case <-n.assembled:
		n.loop.Post(peer.Known{Peers: []feedring.PeerID{id}})
		n.known.Met()
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

// depart leaves every group in good order, for as long as ctx allows.
func (n *Node) depart(ctx context.Context) {
	wait, cancel := context.WithTimeout(ctx, departWithin)
	defer cancel()
	if !n.loop.Post(peer.Depart{}) {
		return
	}
	select {
	case <-n.effects.departed:
		n.links.Drain(wait)
	case <-n.loop.done:
	case <-wait.Done():
	}
	n.known.Save(n.host)
}
