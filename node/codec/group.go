package codec

import (
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/wire"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

func groupForms() []form {
	return []form{
		as(encodeJoin, decodeJoin),
		as(encodeAdmitted, decodeAdmitted),
		as(encodeLeave, decodeLeave),
		as(encodeHandOver, decodeHandOver),
		as(encodeBeacon, decodeBeacon),
		as(encodeBeaconAnswer, decodeBeaconAnswer),
		as(encodeRefresh, decodeRefresh),
		as(encodeRefreshed, decodeRefreshed),
		as(encodeRowsWanted, decodeRowsWanted),
		as(encodeRows, decodeRows),
		as(encodeHeadsWanted, decodeHeadsWanted),
		as(encodeHeads, decodeHeads),
		as(encodeEvidence, decodeEvidence),
		as(encodeIntention, decodeIntention),
		as(encodeProbe, decodeProbe),
		as(encodeAlive, decodeAlive),
		as(encodeObjection, decodeObjection),
		as(encodeConfirmation, decodeConfirmation),
		as(encodeStale, decodeStale),
		as(encodeReplace, decodeReplace),
		as(encodeNotify, decodeNotify),
		as(encodePlace, decodePlace),
		as(encodePlaced, decodePlaced),
		as(encodeAssign, decodeAssign),
		as(encodeAssigned, decodeAssigned),
		as(encodeTurnsWanted, decodeTurnsWanted),
		as(encodeTurns, decodeTurns),
		as(encodeFetchRequest, decodeFetchRequest),
	}
}

// Admission.

func encodeJoin(e *encoder, m group.Join) *feedringv1.Join {
	return &feedringv1.Join{Header: e.header(m.Header), Row: e.row(&m.Row)}
}

func decodeJoin(d *decoder, p *feedringv1.Join) group.Join {
	h := d.header(p.GetHeader())
	return group.Join{Header: h, Row: d.row(h.Group, p.GetRow())}
}

func encodeAdmitted(e *encoder, m group.Admitted) *feedringv1.Admitted {
	return &feedringv1.Admitted{
		Header: e.header(m.Header), Claim: e.claim(&m.Claim), Secondary: e.Peer(m.Secondary),
		AdmittedUnixMs: wire.TimeTo(m.Admitted), Rows: e.rows(m.Rows), Heads: e.Heads(m.Heads),
	}
}

func decodeAdmitted(d *decoder, p *feedringv1.Admitted) group.Admitted {
	h := d.header(p.GetHeader())
	return group.Admitted{
		Header: h, Claim: d.claim(h.Group, p.GetClaim()), Secondary: d.Maybe("secondary", p.GetSecondary()),
		Admitted: d.Time("admitted", p.GetAdmittedUnixMs()), Rows: d.rows(h.Group, p.GetRows()),
		Heads: d.Heads("heads", p.GetHeads()),
	}
}

func encodeLeave(e *encoder, m group.Leave) *feedringv1.Leave {
	return &feedringv1.Leave{Header: e.header(m.Header), Row: e.row(&m.Row)}
}

func decodeLeave(d *decoder, p *feedringv1.Leave) group.Leave {
	h := d.header(p.GetHeader())
	return group.Leave{Header: h, Row: d.row(h.Group, p.GetRow())}
}

func encodeHandOver(e *encoder, m group.HandOver) *feedringv1.HandOver {
	return &feedringv1.HandOver{Header: e.header(m.Header)}
}

func decodeHandOver(d *decoder, p *feedringv1.HandOver) group.HandOver {
	return group.HandOver{Header: d.header(p.GetHeader())}
}
