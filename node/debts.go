package node

import (
	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
)

// polled tells the machine of a large group whom a poll was answered.
func (n *Node) polled(ref feedring.FeedRef, by feedring.PeerID, entries int) {
	h, ok := n.store.Head(ref)
	if !ok || h.Private {
		return
	}
	if g := h.Theme.Group(); n.credit.Counts(g) {
		n.loop.Tell(g, group.Served{Feed: ref, To: by, Entries: entries})
	}
}
