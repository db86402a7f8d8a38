package node

import "github.com/feedring/feedring/internal/web"

// History implements web.Backend.
func (n *Node) History() web.HistoryStatus {
	var s web.HistoryStatus
	s.Indexed, s.Whole = n.history.Indexed()
	for _, h := range n.store.Heads() {
		s.Entries += h.Count
	}
	return s
}

// RebuildHistory implements web.Backend.
func (n *Node) RebuildHistory() { n.history.Rebuild() }
