package node

import (
	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/peer"
)

// join dials the peers to join through, again and again.
func (n *Node) join() {
	via := n.host.Join(n.ctx, n.joins.All(), n.resolve, func(found []feedring.PeerID, done bool) {
		n.loop.Post(peer.Known{Peers: found, Done: done})
	})
	n.joins.Start(via)
}
