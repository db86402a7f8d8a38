package sim

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/ring"
)

// ofStrangers is what goes wrong where members turn hostile, beside everything else.
var ofStrangers = []fault{
	{"member turns hostile", 30, (*scenario).turnHostile, somebody},
}

// amongStrangers are troubles in which members turn hostile, too.
func (s *scenario) amongStrangers() {
	s.faults = slices.Concat(s.faults, ofStrangers)
	s.troubles()
}

// hostile is a member whose machine is down while somebody else speaks with its key. It forges
// nothing of others: the driver refuses what is not sealed by whom it is of.
type hostile struct {
	*scenario
	node  *node
	theme feedring.Theme
	seen  uint64 // highest number that it knows of
}

// turnHostile has a member, a leader more often than not, say what its machine never would.
// Its own machine comes back later, as after a crash: others may know more of its words than it does.
func (s *scenario) turnHostile() {
	n := s.anyNode()
	if l := s.leader(); l != nil && !s.often(3) {
		n = l
	}
	if !n.runs() || len(n.standing) == 0 {
		return
	}
	h := &hostile{scenario: s, node: n, theme: n.standing[s.random.IntN(len(n.standing))].theme}
	s.trouble(n)
	s.crash(n)
	s.forgets(n)
	s.witness.Back(n.index) // a manager that goes on speaking is not replaced
	s.tracef("--- %s is hostile in %s", n.id, h.theme)
	over := false
	s.mend(5*time.Second, 90*time.Second, func() {
		over = true
		s.revive(n)
	})
	var speak func()
	speak = func() {
		if over || n.up {
			return
		}
		h.speak()
		s.after(s.between(0, 2*s.cfg.Peer.Refresh/5), speak)
	}
	speak()
}

// speak sends one of its sayings, to one member or to all.
func (h *hostile) speak() {
	targets := slices.DeleteFunc(h.members(h.theme), func(n *node) bool { return n == h.node || !n.up })
	if len(targets) == 0 {
		return
	}
	for _, n := range targets {
		if v := n.machine.Membership(h.theme); v != nil {
			h.seen = max(h.seen, v.Term.Number)
		}
	}
	of := sayings[h.random.IntN(len(sayings))]
	if h.often(2) {
		targets = targets[:1:1]
		targets[0] = h.anyOf(targets)
	}
	number := h.seen + uint64(h.random.IntN(3))
	if h.often(8) {
		number += uint64(h.random.IntN(1 << 20))
	}
	for _, to := range targets {
		for _, m := range of(h, to, number) {
			h.send(to, m)
		}
	}
}

func (h *hostile) anyOf(of []*node) *node { return of[h.random.IntN(len(of))] }

func (h *hostile) send(to *node, m feedring.Message) {
	h.note(noteSend, h.node.index, to.index)
	h.witness.Judge("hostile messages")
	lost := !h.network.open(h.node.index, to.index) || h.network.lost(h.now)
	if h.cfg.Trace != nil {
		h.traceMessage(h.node.id, to.id, m, lost)
	}
	if !lost {
		at := to.lag.awake(h.network.arrives(h.node.index, to.index, h.now))
		h.queue.put(at, event{to: to.index, from: h.node.index, life: to.life, message: m})
	}
}

// header is one under the term that a member follows.
func (h *hostile) header(of *node) group.Header {
	t := group.Header{Group: h.theme.Group()}
	if v := of.machine.Membership(h.theme); v != nil {
		t.Term = v.Term
	}
	return t
}

// claim is one of its own.
func (h *hostile) claim(number uint64) (group.Header, group.Claim) {
	h.witness.Claimed(h.theme.Group())
	t := feedring.Term{Number: number, Claimant: h.node.id}
	return group.Header{Group: h.theme.Group(), Term: t}, group.Claim{Group: h.theme.Group(), Term: t}
}

// row is its own in the ring's map, as a manager that others follow.
func (h *hostile) row(number uint64) *ring.Row {
	return &ring.Row{Group: h.theme.Group(), Theme: h.theme, Term: feedring.Term{Number: number, Claimant: h.node.id}, Version: h.random.Uint64N(100),
		Acknowledged: true, Manager: feedring.PeerInfo{ID: h.node.id, Addrs: h.node.offer.Addrs}, Peers: h.random.IntN(1000), Feeds: h.random.IntN(1000)}
}

// sayings is what a hostile member says. A new one is a line here.
var sayings = []func(h *hostile, to *node, number uint64) []feedring.Message{
	func(h *hostile, to *node, number uint64) []feedring.Message { // it leads, and others follow it
		head, c := h.claim(number)
		return []feedring.Message{group.Beacon{Header: head, Claim: c, Number: h.random.Uint64(), Secondary: h.anyNode().id, Acknowledged: 1000,
			Away: []feedring.PeerID{h.anyNode().id, to.id}, Catalogue: h.random.Uint64()}}
	},
	func(h *hostile, _ *node, number uint64) []feedring.Message {
		head, c := h.claim(number)
		return []feedring.Message{group.Confirmation{Header: head, Claim: c, Secondary: h.anyNode().id}}
	},
	func(h *hostile, _ *node, number uint64) []feedring.Message {
		head, c := h.claim(number)
		return []feedring.Message{group.Stale{Header: head, Claim: c, Secondary: h.node.id, Acknowledged: true}}
	},
	func(h *hostile, _ *node, number uint64) []feedring.Message {
		head, c := h.claim(number)
		return []feedring.Message{group.Refresh{Header: head, Claim: c, Version: h.random.Uint64(), Loads: []group.Load{{Peer: h.anyNode().id, Leases: 1 << 20}}}}
	},
	func(h *hostile, _ *node, number uint64) []feedring.Message {
		head, c := h.claim(number)
		return []feedring.Message{group.Objection{Header: head, Nonce: h.random.Uint64(), Claim: &c}}
	},
	func(h *hostile, _ *node, number uint64) []feedring.Message {
		head, c := h.claim(number)
		return []feedring.Message{group.Admitted{Header: head, Claim: c, Secondary: h.node.id, Admitted: began.Add(h.now)}}
	},
	func(h *hostile, to *node, _ uint64) []feedring.Message { // it obeys, and has no clients
		return []feedring.Message{group.BeaconAnswer{Header: h.header(to), Number: h.random.Uint64N(1000), Catalogue: h.random.Uint64()}}
	},
	func(h *hostile, to *node, _ uint64) []feedring.Message { // … or very many
		return []feedring.Message{group.BeaconAnswer{Header: h.header(to), Leases: 1 << 30, Older: h.random.Uint64()}}
	},
	func(h *hostile, to *node, number uint64) []feedring.Message { // the manager is silent
		return []feedring.Message{group.Intention{Header: h.header(to), Proposed: number, Elapsed: time.Hour, Nonce: h.random.Uint64()}}
	},
	func(h *hostile, to *node, _ uint64) []feedring.Message {
		return []feedring.Message{group.Replace{Header: h.header(to), Secondary: h.anyNode().id}, group.HandOver{Header: h.header(to)}}
	},
	func(h *hostile, to *node, _ uint64) []feedring.Message { // it wants to know everything
		return []feedring.Message{group.RowsWanted{Header: h.header(to)}, group.HeadsWanted{Header: h.header(to)}, group.Probe{Header: h.header(to), Nonce: h.random.Uint64()}}
	},
	func(h *hostile, to *node, _ uint64) []feedring.Message { // it answers what nobody asked
		id := feedring.QueryID{byte(h.random.IntN(256))}
		return []feedring.Message{group.Placed{Header: h.header(to), ID: id, Served: true}, group.Assigned{Header: h.header(to), ID: id}, group.Alive{Header: h.header(to), Nonce: h.random.Uint64()}}
	},
	func(h *hostile, to *node, _ uint64) []feedring.Message { // nobody is to fetch
		return []feedring.Message{group.Assignments{Header: h.header(to), For: time.Hour}, group.FetchRequest{Header: h.header(to), URL: "https://site0.example/rss"}}
	},
	func(h *hostile, _ *node, number uint64) []feedring.Message { // the ring's map has it as the manager
		return []feedring.Message{ring.Rows{Rows: []*ring.Row{h.row(number)}}}
	},
	func(h *hostile, _ *node, number uint64) []feedring.Message { // … and then nobody
		r := h.row(number)
		r.Gone = true
		return []feedring.Message{ring.Rows{Rows: []*ring.Row{r}}, ring.Swap{Hash: h.random.Uint64()}}
	},
	func(h *hostile, _ *node, _ uint64) []feedring.Message { // other groups are lost
		return []feedring.Message{ring.Rows{Lost: []ring.Lost{{Group: h.anyTheme().Group(), Term: feedring.Term{Number: h.seen, Claimant: h.anyNode().id}, Version: 1 << 20, By: h.node.id}}}}
	},
}
