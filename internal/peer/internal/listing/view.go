package listing

import (
	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
)

// View is what readers of a peer are shown: a snapshot that nothing changes,
// safe to read from any goroutine.
type View struct {
	Ring   []feedring.RingGroup                  // in ring order, without groups of fleets
	Addrs  map[feedring.PeerID][]string          // of managers and secondaries, as the map tells them
	Groups map[feedring.Theme]feedring.Catalogue // of the groups that this peer is in
	Roles  map[feedring.Theme]Status
	// Memberships is this peer's membership of each group that it is in.
	Memberships map[feedring.Theme]*group.View
	Fleet       *group.View // of the group of this peer's fleet; nil: it is in none
	Synced      bool        // this peer had the whole map of another one
}

// Status is this peer's place in one group.
type Status struct {
	Role feedring.Role
	Term feedring.Term
}

// Settled reports whether this peer has a role in every group that it offers
// feeds to.
func (v *View) Settled() bool {
	for _, s := range v.Roles {
		if s.Role == feedring.RoleNone {
			return false
		}
	}
	return true
}

// Catalogue returns the group of theme, where this peer is a member of it.
func (v *View) Catalogue(theme feedring.Theme) (feedring.Catalogue, bool) {
	c, ok := v.Groups[theme]
	return c, ok
}
