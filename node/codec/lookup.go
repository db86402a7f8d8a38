package codec

import (
	"slices"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/wire"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// The messages of publication and of the lookup of providers.

const (
	maxPath       = 64 // forwarders of a notify
	maxProvider   = 253
	maxMissing    = 4096
	maxMissingLen = feedring.MaxTheme + 1 + maxProvider
)

func encodeNotify(e *encoder, m group.Notify) *feedringv1.Notify {
	return &feedringv1.Notify{
		Header: e.header(m.Header), Head: e.Head(&m.Head), Path: e.Peers(m.Path),
		After: wire.PositionTo(m.After), Answer: m.Answer,
	}
}

func decodeNotify(d *decoder, p *feedringv1.Notify) group.Notify {
	m := group.Notify{
		Header: d.header(p.GetHeader()), Head: d.Head("head", p.GetHead()), Path: d.Peers("path", p.GetPath(), maxPath),
		After: wire.PositionFrom(p.GetAfter()),
	}
	if d.Within("answer", len(p.GetAnswer()), group.MaxAnswer) {
		m.Answer = p.GetAnswer()
	}
	return m
}

func encodePlace(e *encoder, m group.Place) *feedringv1.Place {
	return &feedringv1.Place{
		Header: e.header(m.Header), Id: m.ID[:], Attempt: m.Attempt, Client: e.Peer(m.Client), Provider: m.Provider,
		SinceUnixMs: wire.TimeTo(m.Since), WithinMs: wire.SpanTo(m.Within),
	}
}

func decodePlace(d *decoder, p *feedringv1.Place) group.Place {
	return group.Place{
		Header: d.header(p.GetHeader()), ID: d.Query("id", p.GetId()), Attempt: p.GetAttempt(),
		Client: d.Peer("client", p.GetClient()), Provider: d.Text("provider", p.GetProvider(), maxProvider),
		Since: d.Time("since", p.GetSinceUnixMs()), Within: d.Span("within", p.GetWithinMs()),
	}
}

func encodePlaced(e *encoder, m group.Placed) *feedringv1.Placed {
	return &feedringv1.Placed{
		Header: e.header(m.Header), Id: m.ID[:], Attempt: m.Attempt, Served: m.Served,
		Grants: e.grants(m.Grants), Missing: m.Missing, Copies: m.Copies,
	}
}

func decodePlaced(d *decoder, p *feedringv1.Placed) group.Placed {
	return group.Placed{
		Header: d.header(p.GetHeader()), ID: d.Query("id", p.GetId()), Attempt: p.GetAttempt(), Served: p.GetServed(),
		Grants: d.grants(p.GetGrants()), Missing: d.Texts("missing", p.GetMissing(), maxMissing, maxMissingLen),
		Copies: d.Texts("copies", p.GetCopies(), maxMissing, maxMissingLen),
	}
}

// grants seals the tickets that this peer made.
func (e *encoder) grants(list []feedring.Grant) []*feedringv1.Grant {
	return e.Grants(sealTickets(e.sealer, list))
}

func sealTickets(sealer *wire.Sealer, list []feedring.Grant) []feedring.Grant {
	list = slices.Clone(list)
	for i := range list {
		if t := &list[i].Ticket; t.Seal == nil {
			t.Seal = sealer.Ticket(*t)
		}
	}
	return list
}

func (d *decoder) grants(list []*feedringv1.Grant) []feedring.Grant {
	return d.checkTickets(d.Grants(list))
}

// checkTickets checks the seals: what the tickets say was read out of them.
func (d *decoder) checkTickets(list []feedring.Grant) []feedring.Grant {
	for i := range list {
		if d.Err() == nil {
			d.Fail(d.verifier.Verify(wire.KindTicket, list[i].Ticket.Seal))
		}
	}
	return list
}

func encodeAssign(e *encoder, m group.Assign) *feedringv1.Assign {
	return &feedringv1.Assign{
		Header: e.header(m.Header), Id: m.ID[:], Attempt: m.Attempt, Client: e.Peer(m.Client), ExpiryUnixMs: wire.TimeTo(m.Expiry),
		Copies: e.refs(m.Copies), SinceUnixMs: wire.TimeTo(m.Since),
	}
}

func decodeAssign(d *decoder, p *feedringv1.Assign) group.Assign {
	return group.Assign{
		Header: d.header(p.GetHeader()), ID: d.Query("id", p.GetId()), Attempt: p.GetAttempt(),
		Client: d.Peer("client", p.GetClient()), Expiry: d.Time("expiry", p.GetExpiryUnixMs()),
		Copies: d.refs("copies", p.GetCopies()), Since: d.Time("since", p.GetSinceUnixMs()),
	}
}

func encodeAssigned(e *encoder, m group.Assigned) *feedringv1.Assigned {
	return &feedringv1.Assigned{
		Header: e.header(m.Header), Id: m.ID[:], Attempt: m.Attempt, Ok: m.OK, Leases: wire.CountTo(m.Leases), Copies: e.refs(m.Copies),
	}
}

func decodeAssigned(d *decoder, p *feedringv1.Assigned) group.Assigned {
	return group.Assigned{
		Header: d.header(p.GetHeader()), ID: d.Query("id", p.GetId()), Attempt: p.GetAttempt(),
		OK: p.GetOk(), Leases: d.Count("leases", p.GetLeases()), Copies: d.refs("copies", p.GetCopies()),
	}
}
