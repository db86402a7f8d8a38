package group

import "github.com/feedring/feedring"

// plausible is an input near what the machine knows: claims about as high as
// its own, of peers that it has met, and answers to what it told.
func (g *unknownMessage) plausible(m *Machine) Input {
	if g.rng.IntN(3) == 0 {
		return g.turn(m)
	}
	h := Header{Group: m.group, Term: g.termNear(m)}
	t := g.termNear(m)
	c := Claim{Group: m.group, Term: t, Seal: &feedring.Seal{Signer: t.Claimant}}
	row := g.rowNear(m)
	other := g.other()
	switch g.rng.IntN(9) {
	case 0:
		return Receive{From: t.Claimant, Message: Confirmation{Header: h, Claim: c, Secondary: g.other()}}
	case 1, 2:
		return Receive{From: t.Claimant, Message: Beacon{Header: Header{Group: m.group, Term: t}, Claim: c, Number: g.rng.Uint64N(1000), Secondary: g.member(), Acknowledged: g.rng.IntN(3), Seal: c.Seal}}
	case 3:
		return Receive{From: t.Claimant, Message: Refresh{Header: h, Claim: c, Version: 1}}
	case 4:
		return Receive{From: other, Message: Admitted{Header: h, Claim: c, Secondary: g.other(), Admitted: testStart, Rows: []*Row{row, g.rowNear(m)}, Heads: nil}}
	case 5:
		return Receive{From: other, Message: Stale{Header: h, Claim: c, Secondary: g.member(), Acknowledged: g.rng.IntN(2) == 0}}
	case 6:
		return Receive{From: other, Message: Objection{Header: h, Claim: &c}}
	case 7:
		return Receive{From: row.Peer, Message: Join{Header: h, Row: *row}}
	default:
		return Receive{From: other, Message: Rows{Header: h, Rows: []*Row{row, g.rowNear(m)}}}
	}
}

// turn is an input that may change who manages.
func (g *unknownMessage) turn(m *Machine) Input {
	own := Header{Group: m.group, Term: m.lead.claim.Term}
	switch g.rng.IntN(6) {
	case 0:
		return Establish{Above: g.rng.Uint64N(3)}
	case 1:
		return Enter{Via: []feedring.PeerID{g.member(), g.member()}}
	case 2:
		return Rival{Term: g.termNear(m), Acknowledged: g.rng.IntN(2) == 0, Peers: []feedring.PeerID{g.member()}}
	case 3:
		return Receive{From: m.manager(), Message: HandOver{Header: own}}
	default:
		return Receive{From: g.other(), Message: BeaconAnswer{Header: own, Number: m.managing.beacon}}
	}
}

func (g *unknownMessage) member() feedring.PeerID {
	return []feedring.PeerID{"p0", "p1", "p2", "p3"}[g.rng.IntN(4)]
}

func (g *unknownMessage) other() feedring.PeerID {
	return []feedring.PeerID{"p1", "p2", "p3"}[g.rng.IntN(3)]
}

func (g *unknownMessage) termNear(m *Machine) feedring.Term {
	switch g.rng.IntN(4) {
	case 0:
		return m.lead.claim.Term
	case 1:
		return m.disk.Term
	}
	top := max(1, m.want.Highest, m.seen)
	return feedring.Term{Number: top - 1 + g.rng.Uint64N(4), Claimant: g.member()}
}

// rowNear is a row of a member, or one of this peer's own that it never made.
func (g *unknownMessage) rowNear(m *Machine) *Row {
	r := &Row{Group: m.group, Peer: g.member(), Incarnation: g.rng.Uint64N(3), Version: g.rng.Uint64N(5), Admitted: testStart, From: testStart, Left: g.rng.IntN(9) == 0}
	if r.Peer == m.cfg.Self {
		r.Incarnation += m.want.Incarnation
	}
	return r
}
