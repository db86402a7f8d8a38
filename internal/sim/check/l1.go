package check

import (
	"fmt"

	"github.com/feedring/feedring"
)

// l1 finds the manager and the secondary of a group. The simulator checks by when
// there are such.
type l1 struct{ *record }

// Leader returns the one manager that all running members of a group follow under one
// term. A manager that restarted and founded may follow itself while the others still
// follow its earlier claim. why gives the reason if there is no such manager; empty:
// there is.
func (c *l1) Leader(theme feedring.Theme, members []int32) (lead int32, why string) {
	lead = -1
	var term feedring.Term
	for _, p := range members {
		v := c.cfg.Membership(p, theme)
		if v == nil || v.Manager == "" {
			return -1, string(c.cfg.Name(p)) + " follows nobody"
		}
		m := c.cfg.Index(v.Manager)
		if lead < 0 {
			lead, term = m, v.Term
		}
		if v.Term != term {
			return -1, fmt.Sprintf("%s follows %v, another %v", c.cfg.Name(p), v.Term, term)
		}
		if m != lead || (v.Role == feedring.RoleManager) != (p == lead) {
			return -1, string(c.cfg.Name(p)) + " (" + v.Role.String() + ") follows " + string(v.Manager) + ", another " + string(c.cfg.Name(lead))
		}
	}
	if lead < 0 || !c.cfg.Runs(lead) {
		return -1, "nobody is there"
	}
	return lead, ""
}

// Secondary returns the secondary that the manager names, or -1.
func (c *l1) Secondary(theme feedring.Theme, lead int32) int32 {
	v := c.cfg.Membership(lead, theme)
	if v == nil || v.Secondary == "" {
		return -1
	}
	return c.cfg.Index(v.Secondary)
}
