package sim

import (
	"fmt"
	"slices"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/sim/disk"
)

// addNode makes a node that is not started yet.
func (w *World) addNode(c clock, through ...int32) *node {
	n := &node{id: feedring.PeerID(fmt.Sprintf("p%04d", len(w.nodes))), index: int32(len(w.nodes)), clock: c, skew: c.skew,
		disk: disk.New(), through: through, troubled: -1}
	n.vague.Signer = n.id
	w.addEnd(n, nil)
	return n
}

// addClient makes a client that asks the nodes of book.
func (w *World) addClient(book []int32) *client {
	c := &client{id: feedring.PeerID(fmt.Sprintf("c%04d", len(w.nodes))), index: int32(len(w.nodes)), here: true, peerBook: book}
	w.addEnd(nil, c)
	return c
}

func (w *World) addEnd(n *node, c *client) {
	w.nodes, w.clients = append(w.nodes, n), append(w.clients, c)
	w.ticks.add()
	w.network.add(w.random.Uint64())
}

// begin starts a node for the first time, with all that it publishes by now.
func (w *World) begin(n *node) {
	n.offer = w.offerOf(n)
	w.start(n)
}

// running lists the nodes that run.
func (w *World) running() []*node {
	return slices.DeleteFunc(slices.Clone(w.nodes), func(n *node) bool { return n == nil || !n.runs() })
}

// members lists the nodes that publish into a theme or read it, but those that went for
// good.
func (w *World) members(theme feedring.Theme) []*node {
	var all []*node
	for _, f := range w.feeds {
		if f.origin.theme == theme && !f.node.gone && !slices.Contains(all, f.node) {
			all = append(all, f.node)
		}
	}
	for _, n := range w.nodes {
		if n != nil && !n.gone && slices.Contains(n.reads, theme) && !slices.Contains(all, n) {
			all = append(all, n)
		}
	}
	return all
}

// who returns the node that plays a role in a group; nil: nobody does.
func (w *World) who(theme feedring.Theme, role feedring.Role) *node {
	g := theme.Group()
	for _, n := range w.members(theme) {
		if n.runs() && n.role(g) == role {
			return n
		}
	}
	return nil
}

// trouble notes that a node is not steady now.
func (w *World) trouble(n *node) { n.troubled = w.now }
