package node

import (
	"context"
	"errors"
	"fmt"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/host"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/vouch"
)

// join dials the peers to join through, again and again.
func (n *Node) join() {
	n.joins.Start(n.host.Join(n.ctx, n.joins.All(), domains{n.checker()}, joiner{n.loop}))
}

// joiner tells the machine of peers that were reached.
type joiner struct{ loop *loop }

// Reached implements host.Joiner.
func (j joiner) Reached(peers []feedring.PeerID, done bool) {
	j.loop.Post(peer.Known{Peers: peers, Done: done})
}

// domains finds the peers of domains given to --join.
type domains struct{ checker vouch.Checker }

// Resolve implements host.Resolver.
func (d domains) Resolve(ctx context.Context, domain string) ([]string, error) {
	doc, err := d.checker.Fetch(ctx, domain)
	var other *vouch.NetworkError
	if errors.As(err, &other) {
		err = fmt.Errorf("join %s: %w", domain, &host.ForeignError{Speaks: other.Network, Own: other.Own})
	}
	return doc.Addresses, err
}
