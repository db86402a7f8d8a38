package group

import "github.com/feedring/feedring"

// Standing returns the role and the term of the View, without making one.
func (m *Machine) Standing() (feedring.Role, feedring.Term) { return m.roleNow(), m.lead.claim.Term }
