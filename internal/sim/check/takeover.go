package check

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
)

// How long a group may be without its manager, while faults go on elsewhere
// (docs/protocol.md 5.4 to 5.6). Nothing else may be wrong in the group: its other
// members follow the manager, run as usual and reach each other.

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
func (w *Witness) window(manager, member *seat) time.Duration {
	return max(w.cfg.Refresh/4, 3*max(manager.beacons.rtt, member.probes.rtt))
}

// Silent is called when a peer crashes, or stops: the groups that it manages must
// have another manager in time.
func (w *Witness) Silent(p int32, how string) {
	for _, s := range w.of(p).seats {
		if s.role != feedring.RoleManager {
			continue
		}
		x := silence{group: s.group, manager: p, term: s.term, at: w.cfg.Now(), how: how}
		turn := time.Duration(-1)
		for _, q := range w.followers(&x) {
			at := w.cfg.Refresh + time.Duration(1+w.turn(q, s))*w.window(s, w.of(q).seat(s.group))
			if turn < 0 || at < turn {
				turn = at
			}
		}
		if turn >= 0 {
			x.due = x.at + turn + w.cfg.Refresh/20
			w.rules.silences = append(w.rules.silences, x)
		}
	}
}

// handsOver is called when a manager that leaves asks its secondary to claim: that
// takes messages and a write.
func (w *Witness) handsOver(p int32, s *seat, to feedring.PeerID) {
	x := silence{group: s.group, manager: p, term: s.term, at: w.cfg.Now(), how: "leaves"}
	heir := w.cfg.Index(to)
	if slices.Contains(w.followers(&x), heir) {
		x.due = x.at + w.cfg.Refresh/10
		w.rules.silences = append(w.rules.silences, x)
	}
}

// followers lists the members of a group whose manager is gone, where nothing else
// is wrong there; nil: something is.
func (w *Witness) followers(x *silence) []int32 {
	of := &seat{group: x.group, term: x.term}
	r := w.cfg.Refresh
	x.members = nil
	for q := range int32(len(w.peers)) {
		if q == x.manager || !w.cfg.Runs(q) {
			continue
		}
		if s := w.of(q).find(x.group); s == nil || s.role == feedring.RoleNone {
			continue
		}
		if !w.followsLong(q, of, x.at-knownFor*r) || !w.reach(x.manager, q, x.at-soundFor*r) { // they lost each other before
			return nil
		}
		x.members = append(x.members, q)
	}
	if !w.calm(x, x.at) {
		return nil
	}
	return x.members
}

// calm reports whether nothing was wrong among the members of a group until now.
func (w *Witness) calm(x *silence, began time.Duration) bool {
	r := w.cfg.Refresh
	for _, q := range x.members {
		if !w.cfg.Steady(q, began-steadyFor*r) {
			return false
		}
		for _, o := range x.members {
			if o != q && !w.cfg.Sound(q, o, began-soundFor*r) {
				return false
			}
		}
	}
	return true
}

// turn is how many windows a member lets pass before it asks the others: none if it
// is the secondary, else its rank among those that are there, from 1.
func (w *Witness) turn(q int32, of *seat) int {
	v := w.cfg.Membership(q, of.theme)
	if v == nil || v.Secondary == w.cfg.Name(q) {
		return 0
	}
	turn := 1
	for i := range v.Members {
		m := &v.Members[i]
		if m.Row.Peer == w.cfg.Name(q) {
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
func (w *Witness) Back(p int32) {
	w.rules.silences = slices.DeleteFunc(w.rules.silences, func(x silence) bool {
		s := w.of(p).find(x.group)
		return x.manager == p || s != nil && s.role == feedring.RoleManager
	})
}

// replaced ends a silence: somebody manages the group.
func (w *Witness) replaced(g feedring.GroupID) {
	w.rules.silences = slices.DeleteFunc(w.rules.silences, func(x silence) bool {
		if x.group == g {
			w.Judge("takeover")
		}
		return x.group == g
	})
}

// overdue checks the silences whose time is over.
func (w *Witness) overdue() {
	w.rules.silences = slices.DeleteFunc(w.rules.silences, func(x silence) bool {
		if w.cfg.Now() <= x.due {
			return false
		}
		if w.calm(&x, x.at) && !w.begun(&x) {
			w.Fail("takeover", "%s %s at %.3f s, and none of %d others manages its group under a term above %v %.1f s later", w.cfg.Name(x.manager),
				x.how, x.at.Seconds(), len(x.members), x.term, (w.cfg.Now() - x.at).Seconds())
		}
		return true
	})
}

// begun reports whether a member waits for its disk, to claim: it may be slow.
func (w *Witness) begun(x *silence) bool {
	return slices.ContainsFunc(x.members, func(q int32) bool {
		s := w.of(q).seat(x.group)
		return s.written != s.accepted
	})
}
