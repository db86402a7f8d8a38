package proof

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
)

const (
	maxUnheard   = 64
	unheardTries = 9 // as long as the groups beside one wait before they call it lost
)

// Unheard are groups that are on the map by the word of others only, and are asked about.
// The zero value has none.
type Unheard struct {
	all []*unheardGroup
}

type unheardGroup struct {
	group    feedring.GroupID
	claimant feedring.PeerID
	asked    int
	next     time.Time // when it is asked again, or given up
}

// Add has the claimant of a group be asked, if there is room for one more.
func (u *Unheard) Add(g feedring.GroupID, claimant feedring.PeerID) {
	if len(u.all) < maxUnheard && !slices.ContainsFunc(u.all, func(it *unheardGroup) bool { return it.group == g }) {
		u.all = append(u.all, &unheardGroup{group: g, claimant: claimant})
	}
}

// Take returns the groups of a claimant that was heard, and forgets them.
func (u *Unheard) Take(claimant feedring.PeerID) (groups []feedring.GroupID) {
	u.all = slices.DeleteFunc(u.all, func(it *unheardGroup) bool {
		if it.claimant == claimant {
			groups = append(groups, it.group)
		}
		return it.claimant == claimant
	})
	return groups
}

// forget drops what others lead by now, and what nobody answered for, which it returns.
func (u *Unheard) forget(now time.Time, leads func(feedring.GroupID, feedring.PeerID) bool) (unanswered []feedring.GroupID) {
	u.all = slices.DeleteFunc(u.all, func(it *unheardGroup) bool {
		if !leads(it.group, it.claimant) {
			return true
		}
		if it.asked < unheardTries || now.Before(it.next) {
			return false
		}
		unanswered = append(unanswered, it.group)
		return true
	})
	return unanswered
}

func (u *Unheard) questions(now time.Time, pause time.Duration) (all []Question) {
	for _, it := range u.all {
		if !now.Before(it.next) {
			all = append(all, Question{To: feedring.PeerInfo{ID: it.claimant}, Groups: []feedring.GroupID{it.group}})
			it.asked, it.next = it.asked+1, now.Add(pause)
		}
	}
	return all
}

func (u *Unheard) clone() (c Unheard) {
	for _, it := range u.all {
		copied := *it
		c.all = append(c.all, &copied)
	}
	return c
}
