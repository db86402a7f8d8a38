package check

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
)

// takeover checks how long a group may be without its manager, while faults go on
// elsewhere (docs/protocol.md 5.4 to 5.6). Nothing else may be wrong in the group:
// its other members follow the manager, run as usual and reach each other.
type takeover struct {
	*record
	silences []silence
}

// Before that, nothing may have been wrong for so long: a peer that slept doubts
// itself by less and less, and an intention defers others' claims.
const (
	knownFor  = 4 // periods that all followed the manager
	steadyFor = 6 // … and ran as usual
	soundFor  = 3 // … and reached each other
)

// silence is a group whose manager is gone.
type silence struct {
	group   feedring.GroupID
	manager int32
	term    feedring.Term
	at      time.Duration
	due     time.Duration // by when another manages
	members []int32
	how     string
}

// measured follows what a peer measures of the network: its window is three round
// trips where these are long.
type measured struct {
	rtt    time.Duration
	asked  time.Duration // when it sent the last beacon or probe
	number uint64        // … and the number or nonce of that
}

func (m *measured) sends(number uint64, now time.Duration) {
	if number != m.number {
		m.number, m.asked = number, now
	}
}

func (m *measured) answered(number uint64, now, most time.Duration) {
	if number != m.number {
		return
	}
	if d := min(now-m.asked, most); m.rtt == 0 {
		m.rtt = d
	} else {
		m.rtt += (d - m.rtt) / 8
	}
}

// window is how long a member waits for objections, by what its manager measured
// and told in beacons, and by its own probes.
func (c *takeover) window(manager, member *membership) time.Duration {
	return max(c.cfg.Refresh/4, 3*max(manager.beacons.rtt, member.probes.rtt))
}

// Silent is called when a peer crashes or stops: the groups that it manages must have
// another manager in time.
func (c *takeover) Silent(p int32, how string) {
	for _, s := range c.peer(p).memberships {
		if s.role != feedring.RoleManager {
			continue
		}
		x := silence{group: s.group, manager: p, term: s.term, at: c.cfg.Now(), how: how}
		turn := time.Duration(-1)
		for _, q := range c.followers(&x) {
			at := c.cfg.Refresh + time.Duration(1+c.turn(q, s))*c.window(s, c.peer(q).membership(s.group))
			if turn < 0 || at < turn {
				turn = at
			}
		}
		if turn >= 0 {
			x.due = x.at + turn + c.cfg.Refresh/20
			c.silences = append(c.silences, x)
		}
	}
}

// handsOver is called when a manager that leaves asks its secondary to claim: that
// takes messages and a write.
func (c *takeover) handsOver(p int32, s *membership, to feedring.PeerID) {
	x := silence{group: s.group, manager: p, term: s.term, at: c.cfg.Now(), how: "leaves"}
	heir := c.cfg.Index(to)
	if slices.Contains(c.followers(&x), heir) {
		x.due = x.at + c.cfg.Refresh/10
		c.silences = append(c.silences, x)
	}
}

// followers lists the members of a group whose manager is gone, where nothing else
// is wrong there; nil: something is.
func (c *takeover) followers(x *silence) []int32 {
	of := &membership{group: x.group, term: x.term}
	r := c.cfg.Refresh
	x.members = nil
	for q := range int32(len(c.peers)) {
		if q == x.manager || !c.cfg.Runs(q) {
			continue
		}
		if s := c.peer(q).find(x.group); s == nil || s.role == feedring.RoleNone {
			continue
		}
		if !c.followsLong(q, of, x.at-knownFor*r) || !c.reach(x.manager, q, x.at-soundFor*r) { // they lost each other before
			return nil
		}
		x.members = append(x.members, q)
	}
	if !c.quiet(x, x.at) {
		return nil
	}
	return x.members
}

// quiet reports whether nothing was wrong among the members of a group until now.
func (c *takeover) quiet(x *silence, began time.Duration) bool {
	r := c.cfg.Refresh
	for _, q := range x.members {
		if !c.cfg.Steady(q, began-steadyFor*r) {
			return false
		}
		for _, o := range x.members {
			if o != q && !c.cfg.Sound(q, o, began-soundFor*r) {
				return false
			}
		}
	}
	return true
}

// turn is how many windows a member lets pass before it asks the others: none if it
// is the secondary, else its rank among those that are there, from 1.
func (c *takeover) turn(q int32, of *membership) int {
	v := c.cfg.Membership(q, of.theme)
	if v == nil || v.Secondary == c.cfg.Name(q) {
		return 0
	}
	turn := 1
	for i := range v.Members {
		m := &v.Members[i]
		if m.Row.Peer == c.cfg.Name(q) {
			break
		}
		if !m.Away && m.Row.Peer != v.Manager && m.Row.Peer != v.Secondary {
			turn++
		}
	}
	return turn
}

// Back is called when a peer starts or goes on: the manager itself, or one that was
// stopped when it had taken the place, under a term that the others follow.
func (c *takeover) Back(p int32) {
	c.silences = slices.DeleteFunc(c.silences, func(x silence) bool {
		s := c.peer(p).find(x.group)
		return x.manager == p || s != nil && s.role == feedring.RoleManager
	})
}

// Claimed is called when somebody hostile says that it manages a group. Whom the manager left
// alone may follow that one.
func (c *takeover) Claimed(g feedring.GroupID) {
	c.silences = slices.DeleteFunc(c.silences, func(x silence) bool { return x.group == g })
}

// replaced ends a silence: somebody manages the group.
func (c *takeover) replaced(g feedring.GroupID) {
	c.silences = slices.DeleteFunc(c.silences, func(x silence) bool {
		if x.group == g {
			c.Judge("takeover")
		}
		return x.group == g
	})
}

// overdue checks the silences whose time is over.
func (c *takeover) overdue() {
	c.silences = slices.DeleteFunc(c.silences, func(x silence) bool {
		if c.cfg.Now() <= x.due {
			return false
		}
		if c.quiet(&x, x.at) && !c.begun(&x) {
			c.Fail("takeover", "%s %s at %.3f s, and none of %d others manages its group under a term above %v %.1f s later", c.cfg.Name(x.manager),
				x.how, x.at.Seconds(), len(x.members), x.term, (c.cfg.Now() - x.at).Seconds())
		}
		return true
	})
}

// begun reports whether a member waits for its disk, to claim: it may be slow.
func (c *takeover) begun(x *silence) bool {
	return slices.ContainsFunc(x.members, func(q int32) bool {
		s := c.peer(q).membership(x.group)
		return s.written != s.accepted
	})
}
