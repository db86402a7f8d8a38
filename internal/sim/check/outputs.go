package check

import (
	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/ring"
)

// Did is called with each output before it is done.
func (w *Witness) Did(p int32, out peer.Output) {
	o := w.peer(p)
	switch out := out.(type) {
	case *peer.Send:
		w.sent(p, o, out.To, out.Message)
	case peer.Answer:
		if a := w.s5.answered(p, out); a != nil {
			w.s6.answered(p, a, &out.Final)
			w.calmAnswers.complete(p, a, &out.Final)
			w.patience.answersAsker(p, &out.Final)
			w.s12Lookup.answers(p, &out.Final)
			w.balance.coordinated(p, out.Final.ID, out.Final.Attempt, out.Final.Grants)
		}
	case group.Persist:
		w.s3.yields(p, o, out)
		w.persists(p, o, out)
	case group.RoleChanged:
		w.roleChanged(p, o, out)
	case group.Append:
		w.s8.appends(p, o, out)
	case group.Prune:
		w.s9.prunes(p, out)
	case group.FetchAssignment:
		w.idleTurns.turns(p, out)
		w.orphans.turns(p, out)
		w.fetchers.turns(p, out)
		w.t8.turns(p, out)
	case group.Carry:
		w.orphans.carries(p, out)
	case group.Admit:
		w.ticket.admits(p, o)
		o.membership(out.Group).serves(out.Stream)
	case group.Departed:
		w.s11.forget(p, &out.Group)
		s := o.membership(out.Group)
		s.loads, s.roomRequests, s.streams, s.assignments, s.own = nil, nil, nil, nil, nil
		s.granted = granted{unsure: s.granted.unsure}
	}
}

// persists checks that only a claim, or an acknowledgement of its own, changes what
// a peer accepts. What was written and is replaced before the machine heard that it
// is on disk was never accepted.
func (w *Witness) persists(p int32, o *peerRecord, out group.Persist) {
	s := o.membership(out.Group)
	w.s1.persists(p, s, out.State)
	if out.State.Term != s.written.Term {
		w.s2.adopts(p, o, s, out.State.Term)
	}
	s.written, s.token = out.State, out.Token
}

func (w *Witness) roleChanged(p int32, o *peerRecord, out group.RoleChanged) {
	s := o.membership(out.Theme.Group())
	s.theme = out.Theme
	manages := out.Role == feedring.RoleManager
	if manages {
		w.s2.begins(p, o, s, out.Term)
		w.t2.answers(p, s.group)
		w.s3.deposes(p, s)
		w.takeover.replaced(s.group)
	}
	if out.Term != s.term {
		s.follows(out.Term, w.cfg.Now())
	}
	if manages {
		w.calmNews.makesNews(p, s.group, out.Term)
	}
	s.role, s.left = out.Role, out.Role == feedring.RoleNone
	s.intent = 0
	o.opened = 0
}

// sent looks at a message that leaves.
func (w *Witness) sent(p int32, o *peerRecord, to feedring.PeerID, m feedring.Message) {
	w.driver.sends(p, to, m)
	switch m := m.(type) {
	case ring.Swap:
		w.calmExchanges.opens(p, o)
	case ring.Versions:
		w.calmExchanges.lists(p, o, m)
	case ring.Rows:
		w.questions.losing(m)
		w.t10.tells(p, m)
	case ring.Search:
		w.patience.searches(p, m)
		w.s7.firstHops(p, m)
		w.s7.hops(p, m)
		w.s7.search(p, m)
		w.s5.search(p, m)
	case ring.Exhausted:
		o.hopped(hopping{m.ID, m.Attempt, m.Direction})
		w.s7.exhausted(p, m)
	case ring.FoundGroup:
		o.hopped(hopping{m.ID, m.Attempt, m.Direction})
		w.s7.finds(p, m)
	case peer.Query:
		w.patience.passesOn(p, to, m)
	case peer.Final:
		w.s5.final(p, m.Final)
		w.missing.tellsMissing(p, m.Final)
		w.questions.saysNo(p, m.Final)
		w.s6.final(p, m.Final)
		w.balance.coordinated(p, m.Final.ID, ofClient(m.Final.Attempt), m.Final.Grants)
	case group.Message:
		w.groupMessage(p, o, to, m)
	}
}

// groupMessage looks at what a peer tells another of its group.
func (w *Witness) groupMessage(p int32, o *peerRecord, to feedring.PeerID, m group.Message) {
	h := m.Of()
	s := o.membership(h.Group)
	w.s4.header(p, s, h, m)
	switch m := m.(type) {
	case group.Beacon:
		s.beacons.sends(m.Number, w.cfg.Now())
		w.s2.claimed(p, s, m.Claim)
		if m.Claim.Term.Claimant == w.cfg.Name(p) { // else it passes on what another holds
			s.names(m.Secondary, w.cfg.Now())
			w.s8.heads(p, s, m.Heads)
		}
	case group.BeaconAnswer:
		w.t2.answers(p, h.Group)
		w.s1.onDisk(p, m.Header)
		w.s4.obeys(p, o, s, m.Header)
		w.s8.heads(p, s, m.Heads)
	case group.Refresh:
		w.s11.neverOlder(p, m.Rows)
		w.s2.claimed(p, s, m.Claim)
		w.t2.tells(p, to, m.Rows)
		w.rowsTold(p, o, m.Rows)
	case group.Refreshed:
		w.s4.obeys(p, o, s, m.Header)
	case group.Confirmation:
		w.s2.claimed(p, s, m.Claim)
	case group.Stale:
		w.s2.claimed(p, s, m.Claim)
		w.placeRefused(p, o, s)
	case group.Admitted:
		w.s11.neverOlder(p, m.Rows)
		w.s2.claimed(p, s, m.Claim)
		w.t2.tells(p, to, m.Rows)
		w.rowsTold(p, o, m.Rows)
		w.s8.heads(p, s, m.Heads)
	case group.Join:
		o.asks = true // who asks for admission is told how far each feed goes with that
		w.rowTold(p, o, &m.Row)
		o.asks = false
	case group.Leave:
		w.rowTold(p, o, &m.Row)
	case group.Rows:
		w.s11.neverOlder(p, m.Rows)
		w.t2.tells(p, to, m.Rows)
		w.rowsTold(p, o, m.Rows)
	case group.Heads:
		w.s8.heads(p, s, m.Heads)
	case group.Notify:
		w.s8.head(p, m.Head)
	case group.Intention:
		w.intends(p, s, m)
	case group.Objection:
		if m.Claim != nil {
			w.s2.claimed(p, s, *m.Claim)
		}
	case group.Probe:
		s.probes.sends(m.Nonce, w.cfg.Now())
	case group.HandOver:
		w.takeover.handsOver(p, s, to)
	case group.Place:
		w.patience.asksLeader(p, m)
	case group.Assign:
		w.s12Lookup.assigns(p, to, m)
		if len(m.Copies) == 0 {
			w.balance.balanced(p, o, s, to, m.ID, m.Attempt)
		}
		w.balance.asksRoom(s, to, m)
	case group.Assigned:
		w.l5.makesRoom(p, m)
		w.s4.assigned(p, o, s, m)
	case group.Placed:
		w.s11.nobodyGone(p, m)
		w.placed(p, o, s, m)
		w.s12Lookup.sought(p, m)
	}
}

func (w *Witness) intends(p int32, s *membership, m group.Intention) {
	now := w.cfg.Now()
	if m.Header.Term != s.term { // only who follows somebody intends anything
		s.follows(m.Header.Term, now)
	}
	if s.intent == 0 {
		s.intent = now
	}
	s.asked = now
	w.replace.asks(p, s, m.Nonce)
}

func (w *Witness) rowsTold(p int32, o *peerRecord, rows []*group.Row) {
	for _, r := range rows {
		w.rowTold(p, o, r)
	}
}

func (w *Witness) rowTold(p int32, o *peerRecord, r *group.Row) {
	if w.s11.checkRow(p, r) {
		w.s9.promised(p, o, r)
	}
}

// placeRefused forgets a lookup that goes to another peer. A manager that answers in
// this way tells of a higher term, and goes on with the lookup.
func (w *Witness) placeRefused(p int32, o *peerRecord, s *membership) {
	if m, ok := o.given.Message.(group.Place); ok && s.role != feedring.RoleManager && s.role != feedring.RoleSecondary {
		w.lookups.refused(p, m)
		w.s12Lookup.refused(p, m)
	}
}

// placed looks at an answer to a lookup: who may serve, and the ticket.
func (w *Witness) placed(p int32, o *peerRecord, s *membership, m group.Placed) {
	asked := w.lookups.ends(p, m)
	own := beside(m.Grants)
	w.missing.names(p, m, asked)
	w.balance.share(p, s, m, asked, w.s12Lookup.open[seeking{p, m.Header.Group, m.ID, m.Attempt}].asked)
	s.asksNoMore(m)
	for i := range m.Grants {
		g := &m.Grants[i]
		w.ticket.grant(p, g, w.cfg.Clock(p))
		if w.ticket.alternates(p, g) {
			w.s9Lookup.alternates(p, s, m, g, asked)
		}
		w.calmAlternates.fewAlternates(p, s.theme, m, g, asked)
		if g.Provider.ID == w.cfg.Name(p) && !g.Own && len(m.Missing) == 0 {
			w.balance.balanced(p, o, s, g.Provider.ID, m.ID, m.Attempt)
		}
		if g.Provider.ID == w.cfg.Name(p) {
			w.balance.grants(p, s).now[g.Provider.ID]++
		}
		if !g.Own && len(m.Missing) == 0 && len(m.Copies) == 0 {
			w.s9Lookup.provider(p, g, own, asked)
		}
	}
}
