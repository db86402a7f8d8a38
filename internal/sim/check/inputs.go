package check

import (
	"slices"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/ring"
)

// Before is called with an input that a machine is about to be given.
func (w *Witness) Before(p int32, in peer.Input) {
	o := w.peer(p)
	o.from, o.carry = -1, nil
	switch in := in.(type) {
	case peer.Receive:
		o.given = in
		o.from = w.cfg.Index(in.From)
		w.received(p, o, in.From, in.Message)
		w.t10.hears(p, in.From, in.Message)
	case peer.In:
		o.input = in
		w.groupInput(p, o, in)
	}
}

// received looks at a message that a peer is about to be given.
func (w *Witness) received(p int32, o *peerRecord, from feedring.PeerID, m feedring.Message) {
	now := w.cfg.Now()
	switch m := m.(type) {
	case group.BeaconAnswer:
		s := o.membership(m.Group)
		s.loadTold(o.from, m, now)
		s.beacons.answered(m.Number, now, w.cfg.Refresh/4)
	case group.Alive:
		s := o.membership(m.Group)
		s.probes.answered(m.Nonce, now, w.cfg.Refresh/4)
		if from == s.term.Claimant {
			s.unheard = unheard{}
		}
	case group.Assigned:
		w.balance.tellsRoom(p, o.membership(m.Group), o.from, from, m)
	case group.Beacon:
		o.carries(m.Claim)
	case group.Refresh:
		o.carries(m.Claim)
		o.membership(m.Group).refreshed(m, now)
	case group.Confirmation:
		o.carries(m.Claim)
	case group.Admitted:
		o.carries(m.Claim)
		s := o.membership(m.Group)
		s.owedBefore, s.owedHeads = s.owedHeads, owedHeads{m.Claim.Term, m.Heads}
	case group.Stale:
		o.carries(m.Claim)
	case group.Objection:
		o.carry = m.Claim
	case group.HandOver:
		o.membership(m.Group).yielded = now
	case group.Leave:
		w.s11.leaveComes(p, from, m)
		o.membership(m.Group).yielded = now
	case group.Rows:
		if slices.ContainsFunc(m.Rows, func(r *group.Row) bool { return r.Left }) {
			o.membership(m.Group).yielded = now
		}
	case group.Join:
		if s := o.membership(m.Group); m.Row.Peer == s.term.Claimant {
			s.yielded = now
		}
	case group.Place:
		w.s12Lookup.seeks(p, m)
		w.lookups.arrives(p, m)
	case group.Placed:
		w.missing.noted(p, m)
	case ring.SearchAck:
		o.hopped(hopping{m.ID, m.Attempt, m.Direction})
	case peer.Accepted:
		w.patience.accepted(p, from, m)
	case peer.Query:
		w.patience.coordinates(p, m)
		w.s6.queryComes(p, m)
	}
}

// groupInput looks at what a peer is told of a group otherwise.
func (w *Witness) groupInput(p int32, o *peerRecord, in peer.In) {
	switch x := in.Input.(type) {
	case group.Persisted:
		if s := o.membership(in.Group); x.Token == s.token {
			s.accepted = s.written
		}
	case group.Detach:
		o.membership(in.Group).leaves(x.Stream)
	case group.OriginFetched:
		w.idleTurns.fetched(p, in.Group, x)
	case group.Checked:
		w.t8.looked(p, in.Group, x)
	case group.Fetched:
		w.s9.grown(p, o, in.Group, x)
		w.polls.polled(p, x)
	}
}

// After is called when the outputs of a step are done.
func (w *Witness) After(p int32) {
	o := w.peer(p)
	switch { // most inputs are one of these
	case o.given.Message != nil:
		if m, is := o.given.Message.(group.Admitted); is {
			o.membership(m.Group).ignores(m)
		}
		o.given = peer.Receive{}
	case o.input.Input != nil:
		o.input = peer.In{}
	}
	w.s7.reroutes(p, o)
	w.takeover.overdue()
	w.calmNews.newsOn(p)
	w.s12.lookOn()
}
