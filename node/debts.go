package node

import (
	"sync"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
)

// debts is what neighbours in large groups took more than they gave.
type debts struct {
	mu sync.Mutex
	of map[feedring.GroupID]map[feedring.PeerID]int
}

// tell takes over what the machine counted.
func (d *debts) tell(o group.Owing) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if o.Debts == nil {
		delete(d.of, o.Group)
		return
	}
	if d.of == nil {
		d.of = make(map[feedring.GroupID]map[feedring.PeerID]int)
	}
	owes := make(map[feedring.PeerID]int, len(o.Debts))
	for _, one := range o.Debts {
		owes[one.Peer] = one.Entries
	}
	d.of[o.Group] = owes
}

// leave forgets a group.
func (d *debts) leave(g feedring.GroupID) { d.tell(group.Owing{Group: g}) }

// owes is what a peer took more than it gave, over all groups; 0 of a stranger.
func (d *debts) owes(p feedring.PeerID) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	sum := 0
	for _, owes := range d.of {
		sum += owes[p]
	}
	return sum
}

// counted reports whether a group counts who was served.
func (d *debts) counted(g feedring.GroupID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, ok := d.of[g]
	return ok
}

// polled tells the machine of a large group whom a poll was answered.
func (n *Node) polled(ref feedring.FeedRef, by feedring.PeerID, entries int) {
	h, ok := n.store.Head(ref)
	if !ok || h.Private {
		return
	}
	if g := h.Theme.Group(); n.debts.counted(g) {
		n.loop.Tell(g, group.Served{Feed: ref, To: by, Entries: entries})
	}
}
