package sim

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/peer"
)

// do carries out one output of a machine, as node's effects do.
func (w *World) do(n *node, out peer.Output) {
	w.witness.Did(n.index, out)
	switch o := out.(type) {
	case *peer.Send:
		w.carry(n, o)
	case peer.Answer:
		w.answered(n, o)
	case peer.Lookup:
		w.lookup(n, o.Theme)
	case peer.Departed:
		w.departed(n)
	case group.Persist:
		w.persist(n, o)
	case group.RoleChanged:
		w.roleChanged(n, o)
	case group.Append:
		w.assign(n, o)
	case group.Fetch:
		w.poll(n, o)
	case group.Wake:
		w.wake(n, o.Feed)
	case group.Admit:
		w.decide(n, o.Stream, group.NotRefused)
	case group.Refuse:
		w.decide(n, o.Stream, o.Reason)
	case group.Prune:
		w.prune(n, o)
	case group.Check:
		w.check(n, o)
	case group.DuplicateIdentity:
		if !n.lost {
			w.witness.Fail("identity", "%s takes itself for two", n.id)
		}
	case group.FetchAssignment:
		w.turned(n, o)
	case group.Carry:
		w.carries(n, o)
	case group.MeasureOrigin:
		w.measure(n, o)
	case group.FetchRequested:
		w.requested(n, o)
	case group.Departed:
		w.leftGroup(n, o.Group)
	}
}

// carry sends a message. What a machine leaves unsealed the node seals where
// somebody looks at the seal: of tickets, and of beacons, which others pass on
// in large groups. Everything else comes from its maker or was checked.
func (w *World) carry(n *node, o *peer.Send) {
	to := w.indexOf(o.To)
	if to < 0 || w.nodes[to] == nil {
		return
	}
	switch m := o.Message.(type) {
	case group.Placed:
		n.seal(m.Grants)
	case peer.Final:
		n.seal(m.Final.Grants)
	case group.Beacon:
		if claimant := m.Claim.Term.Claimant; m.Seal == nil && claimant != n.id { // passed on: it had one all the time
			m.Seal = &w.nodes[w.indexOf(claimant)].vague
			o.Message = m
		}
	}
	w.note(noteSend, n.index, to)
	w.words(o.Message)
	other := w.nodes[to]
	lost := !other.up || !w.network.open(n.index, to) || w.network.lost(w.now)
	if w.cfg.Trace != nil {
		w.traceMessage(n.id, o.To, o.Message, lost)
	}
	if lost {
		return
	}
	for range w.copies() {
		at := other.lag.awake(w.network.arrives(n.index, to, w.now))
		w.queue.put(at, event{to: to, from: n.index, life: other.life, message: o.Message})
	}
}

func (w *World) copies() int {
	if w.network.conditions.Twice > 0 && w.random.Float64() < w.network.conditions.Twice {
		return 2
	}
	return 1
}

// seal signs the tickets that this node's machine made.
func (n *node) seal(grants []feedring.Grant) {
	for i := range grants {
		if t := &grants[i].Ticket; t.Seal == nil {
			t.Seal = &n.vague
		}
	}
}

func (w *World) roleChanged(n *node, o group.RoleChanged) {
	g := o.Theme.Group()
	w.tracef("%s is %s of %s, term %d", n.id, o.Role, o.Theme, o.Term.Number)
	s := n.in(g)
	if s == nil {
		n.standing = append(n.standing, standing{group: g, theme: o.Theme})
		s = &n.standing[len(n.standing)-1]
	}
	s.role, s.term = o.Role, o.Term
	w.enter(n, o.Theme, o.Role != feedring.RoleNone)
}

// enter keeps the address book.
func (w *World) enter(n *node, theme feedring.Theme, in bool) {
	book := w.addressBook[theme]
	for len(book) <= int(n.index) {
		book = append(book, false)
	}
	book[n.index] = in
	w.addressBook[theme] = book
}

const maxFound = 32 // peers that the address book names

// lookup asks the address book, which knows those that this node reaches, and
// for a while those that went without a word.
func (w *World) lookup(n *node, theme feedring.Theme) {
	life := n.life
	w.after(w.between(50*time.Millisecond, time.Second), func() {
		if !n.up || n.life != life {
			return
		}
		found := peer.Members{Theme: theme}
		for i, in := range w.addressBook[theme] {
			if in && int32(i) != n.index && w.network.both(n.index, int32(i)) && len(found.Peers) < maxFound {
				found.Peers = append(found.Peers, w.nodes[i].id)
			}
		}
		w.report(n, 0, found)
	})
}

// departed ends a life in good order.
func (w *World) departed(n *node) {
	w.tracef("%s departed", n.id)
	n.up, n.paused = false, false
	n.disk.Crash(func(parts int) int { return parts }, w.reached(n))
	w.witness.Stopped(n.index)
	w.ended(n)
}

func (w *World) leftGroup(n *node, g feedring.GroupID) {
	w.forgetTurns(n, g)
	for _, s := range slices.Clone(n.sessions) {
		if s.theme.Group() == g {
			w.hangUp(s, refusedLeaving)
		}
	}
}

// check looks at a site, as node's checks do.
func (w *World) check(n *node, o group.Check) {
	l := w.byRef[o.Feed]
	in := group.Checked{Feed: o.Feed}
	if l != nil {
		site := w.feeds[l.Index].origin
		in.Vouched = site.names == l.Ref.Publisher
		in.Unknown = w.often(10)
		in.Vouch = group.Vouch{Site: string(site.provider), Publisher: o.Feed.Publisher}
	}
	w.tell(n, w.between(50*time.Millisecond, 2*time.Second), o.Group, in)
}

func (w *World) prune(n *node, o group.Prune) {
	n.disk.Dropped(w.themeOf(o.Group), o.Before)
	for _, c := range n.disk.Copies() {
		if c != nil && c.Log.Ref.Publisher != n.id && c.Log.Group == o.Group {
			c.Prune(o.Before)
		}
	}
}
