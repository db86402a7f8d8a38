package sim

import (
	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/sim/disk"
)

// fewPeers is how many members hear of an entry from its publisher: in a larger group
// it goes down a tree.
const fewPeers = 64

// awaited has an entry that reaches its publisher's disk now be at all members a tenth
// of a period later, where nothing goes wrong any more: some four times on a link, the
// slowest of which takes 64 ms, and two writes of 4 ms. In large groups it goes so from
// one to the next, and after the others' waits.
func (w *World) awaited(l *disk.Log, e *disk.Entry) {
	members, soon := w.indexes(l.Theme), w.cfg.Peer.Refresh/10
	if len(members) > fewPeers {
		soon *= 3
	}
	w.after(soon, func() { w.witness.Reached(l, e, members) })
}

func (w *World) indexes(theme feedring.Theme) []int32 {
	var all []int32
	for _, n := range w.members(theme) {
		all = append(all, n.index)
	}
	return all
}
