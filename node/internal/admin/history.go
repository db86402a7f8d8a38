package admin

import (
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/web"
)

// History implements web.Backend.
func (d *Admin) History() web.HistoryStatus {
	var s web.HistoryStatus
	s.Indexed, s.Whole = d.cfg.History.Indexed()
	s.Entries = d.cfg.Store.Entries(func(*store.Head) bool { return true })
	return s
}

// RebuildHistory implements web.Backend.
func (d *Admin) RebuildHistory() { d.cfg.History.Rebuild() }
