package node

import (
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/web"
)

// History implements web.Backend.
func (n *Node) History() web.HistoryStatus {
	var s web.HistoryStatus
	s.Indexed, s.Whole = n.history.Indexed()
	s.Entries = n.store.Entries(func(*store.Head) bool { return true })
	return s
}

// RebuildHistory implements web.Backend.
func (n *Node) RebuildHistory() { n.history.Rebuild() }
