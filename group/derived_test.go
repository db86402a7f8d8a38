package group

import (
	"fmt"
	"slices"

	"github.com/feedring/feedring/group/internal/catalogue"
)

// remembersWrong compares what the machine remembers of its catalogue with what
// it would make of it now. A test cluster asks after each eighth of its steps.
func (m *Machine) remembersWrong() string {
	if m.departed {
		return ""
	}
	ahead, away := 0, 0
	var hash uint64
	for p, mem := range m.members {
		if mem.away {
			away++
		} else if !mem.row.Left {
			hash += mem.hash
			if p != m.cfg.Self && catalogue.CompareRank(mem.row, m.me().row) < 0 {
				ahead++
			}
		}
	}
	if x := m.index(); x.Ahead != ahead || x.Away != away {
		return fmt.Sprintf("%s counts %d ahead of it and %d away: there are %d and %d", m.cfg.Self, x.Ahead, x.Away, ahead, away)
	}
	if got := m.catalogueHash(); got != hash {
		return fmt.Sprintf("%s has %x as the hash of its catalogue, which is %x", m.cfg.Self, got, hash)
	}
	if got := m.important(); !slices.Equal(got, m.conns.protected) {
		return fmt.Sprintf("%s protects %v and should protect %v", m.cfg.Self, m.conns.protected, got)
	}
	return ""
}
