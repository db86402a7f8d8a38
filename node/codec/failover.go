package codec

import (
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/wire"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// The messages of failover.

func encodeIntention(e *encoder, m group.Intention) *feedringv1.Intention {
	return &feedringv1.Intention{
		Header: e.header(m.Header), Proposed: m.Proposed, ElapsedMs: wire.SpanTo(m.Elapsed), Nonce: m.Nonce,
	}
}

func decodeIntention(d *decoder, p *feedringv1.Intention) group.Intention {
	return group.Intention{
		Header: d.header(p.GetHeader()), Proposed: p.GetProposed(), Elapsed: d.Span("elapsed", p.GetElapsedMs()), Nonce: p.GetNonce(),
	}
}

func encodeProbe(e *encoder, m group.Probe) *feedringv1.Probe {
	return &feedringv1.Probe{Header: e.header(m.Header), Nonce: m.Nonce}
}

func decodeProbe(d *decoder, p *feedringv1.Probe) group.Probe {
	return group.Probe{Header: d.header(p.GetHeader()), Nonce: p.GetNonce()}
}

func encodeAlive(e *encoder, m group.Alive) *feedringv1.Alive {
	return &feedringv1.Alive{Alive: e.alive(&m)}
}

func decodeAlive(d *decoder, p *feedringv1.Alive) group.Alive { return d.alive(p.GetAlive()) }

func encodeObjection(e *encoder, m group.Objection) *feedringv1.Objection {
	p := &feedringv1.Objection{Header: e.header(m.Header), Nonce: m.Nonce}
	if m.Alive != nil {
		p.Alive = e.alive(m.Alive)
	}
	if m.Claim != nil {
		p.Claim = e.claim(m.Claim)
	}
	return p
}

func decodeObjection(d *decoder, p *feedringv1.Objection) group.Objection {
	m := group.Objection{Header: d.header(p.GetHeader()), Nonce: p.GetNonce()}
	if p.GetAlive() != nil {
		alive := d.alive(p.GetAlive())
		d.within(wire.KindAlive, m.Group, alive.Group)
		m.Alive = &alive
	}
	if p.GetClaim() != nil {
		claim := d.claim(m.Group, p.GetClaim())
		m.Claim = &claim
	}
	return m
}

func encodeConfirmation(e *encoder, m group.Confirmation) *feedringv1.Confirmation {
	return &feedringv1.Confirmation{Header: e.header(m.Header), Claim: e.claim(&m.Claim), Secondary: e.Peer(m.Secondary)}
}

func decodeConfirmation(d *decoder, p *feedringv1.Confirmation) group.Confirmation {
	h := d.header(p.GetHeader())
	return group.Confirmation{Header: h, Claim: d.claim(h.Group, p.GetClaim()), Secondary: d.Maybe("secondary", p.GetSecondary())}
}

func encodeStale(e *encoder, m group.Stale) *feedringv1.Stale {
	return &feedringv1.Stale{
		Header: e.header(m.Header), Claim: e.claim(&m.Claim), Secondary: e.Peer(m.Secondary), Addrs: m.Addrs,
		Acknowledged: m.Acknowledged, RefusedMs: wire.SpanTo(m.Again),
	}
}

func decodeStale(d *decoder, p *feedringv1.Stale) group.Stale {
	h := d.header(p.GetHeader())
	return group.Stale{
		Header: h, Claim: d.claim(h.Group, p.GetClaim()), Secondary: d.Maybe("secondary", p.GetSecondary()),
		Addrs: d.Addrs("addrs", p.GetAddrs()), Acknowledged: p.GetAcknowledged(),
		Again: d.Span("refused", p.GetRefusedMs()),
	}
}

func encodeReplace(e *encoder, m group.Replace) *feedringv1.Replace {
	return &feedringv1.Replace{Header: e.header(m.Header), Secondary: e.Peer(m.Secondary)}
}

func decodeReplace(d *decoder, p *feedringv1.Replace) group.Replace {
	return group.Replace{Header: d.header(p.GetHeader()), Secondary: d.Maybe("secondary", p.GetSecondary())}
}
