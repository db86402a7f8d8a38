package codec

import (
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/wire"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

func peerForms() []form {
	return []form{
		as(encodeQuery, decodeQuery),
		as(encodeAccepted, decodeAccepted),
		as(encodeFinal, decodeFinal),
	}
}

func encodeQuery(e *encoder, m peer.Query) *feedringv1.Query {
	return &feedringv1.Query{
		Id: m.ID[:], Attempt: m.Attempt, Client: e.Peer(m.Client), Theme: string(m.Theme), Provider: m.Provider,
		SinceUnixMs: wire.TimeTo(m.Since), WithinMs: wire.SpanTo(m.Within),
	}
}

func decodeQuery(d *decoder, p *feedringv1.Query) peer.Query {
	return peer.Query{
		ID: d.Query("id", p.GetId()), Attempt: p.GetAttempt(), Client: d.Peer("client", p.GetClient()),
		Theme: d.Theme("theme", p.GetTheme()), Provider: d.Text("provider", p.GetProvider(), maxProvider),
		Since: d.Time("since", p.GetSinceUnixMs()), Within: d.Span("within", p.GetWithinMs()),
	}
}

func encodeAccepted(_ *encoder, m peer.Accepted) *feedringv1.Accepted {
	return &feedringv1.Accepted{Id: m.ID[:], Attempt: m.Attempt}
}

func decodeAccepted(d *decoder, p *feedringv1.Accepted) peer.Accepted {
	return peer.Accepted{ID: d.Query("id", p.GetId()), Attempt: p.GetAttempt()}
}

func encodeFinal(e *encoder, m peer.Final) *feedringv1.FinalAnswer {
	f := m.Final
	f.Grants = sealTickets(e.sealer, f.Grants)
	return &feedringv1.FinalAnswer{Final: e.Final(&f)}
}

func decodeFinal(d *decoder, p *feedringv1.FinalAnswer) peer.Final {
	f := d.Final(p.GetFinal())
	d.checkTickets(f.Grants)
	return peer.Final{Final: f}
}
