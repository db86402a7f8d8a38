package node

import (
	"context"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/peer"
)

const departWithin = time.Second // to hand roles over: a few round trips

// observer hears of changes of the host, and waits until the loop runs.
type observer struct{ n *Node }

// PeerChanged tells the machine of a peer that was met, whoever dialled.
func (o observer) PeerChanged(id feedring.PeerID, connected bool) {
	if !connected {
		return
	}
	select {
	case <-o.n.loop.runs:
		o.n.loop.Post(peer.Known{Peers: []feedring.PeerID{id}})
		o.n.known.Met()
	case <-o.n.ctx.Done():
	}
}

// AddrsChanged tells the groups that this peer's addresses changed.
func (o observer) AddrsChanged() {
	select {
	case <-o.n.loop.runs:
		o.n.offers.Now()
	case <-o.n.ctx.Done():
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
