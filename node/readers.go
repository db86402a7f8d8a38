package node

import "github.com/feedring/feedring/internal/origin/fetch"

// agent is what this peer calls itself to origins that it asks for so many
// readers; 0: that is not told.
func (n *Node) agent(readers int) string { return fetch.UserAgent(Version, n.cfg.PublicURL, readers) }

// readersOf counts who reads an own feed through this peer: pollers of its front,
// personal feeds, and clients of its theme's group that this peer serves. Whoever
// keeps the feed here is one. 0: it is no feed of this peer.
func (n *Node) readersOf(feedURL string) int {
	f, ok := n.origins.Spec(feedURL)
	if !ok {
		return 0
	}
	readers := 1 + n.own.Readers(feedURL) + n.personal.Readers(f.Theme, f.Provider)
	if v, ok := n.loop.View().Memberships[f.Theme]; ok {
		readers += v.Leases
	}
	return readers
}
