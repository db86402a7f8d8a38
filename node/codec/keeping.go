package codec

import (
	"errors"

	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/wire"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// The messages that keep a group together.

// encodeBeacon: the header is of who passes the beacon on, the body of the
// manager.
func encodeBeacon(e *encoder, m group.Beacon) *feedringv1.Beacon {
	p := &feedringv1.Beacon{Header: e.header(m.Header)}
	if m.Seal != nil {
		p.Beacon = wire.SealTo(m.Seal)
		return p
	}
	p.Beacon = e.seal(wire.KindBeacon, m.Claim.Term.Claimant, &feedringv1.BeaconBody{
		Claim: e.claim(&m.Claim), Number: m.Number, Secondary: e.Peer(m.Secondary),
		Acknowledged: wire.CountTo(m.Acknowledged), Away: e.Peers(m.Away), Catalogue: m.Catalogue,
		Heads: e.Heads(m.Heads), Older: m.Older, RoundTripMs: wire.SpanTo(m.RoundTrip),
	})
	return p
}

func decodeBeacon(d *decoder, p *feedringv1.Beacon) group.Beacon {
	var b feedringv1.BeaconBody
	h := d.header(p.GetHeader())
	seal := d.open(wire.KindBeacon, p.GetBeacon(), &b)
	if seal == nil {
		return group.Beacon{}
	}
	m := group.Beacon{
		Header: h, Claim: d.claim(h.Group, b.GetClaim()), Number: b.GetNumber(),
		Secondary: d.Maybe("secondary", b.GetSecondary()), Acknowledged: d.Count("acknowledged", b.GetAcknowledged()),
		Away: d.Peers("away", b.GetAway(), wire.MaxPeers), Catalogue: b.GetCatalogue(),
		Heads: d.Heads("heads", b.GetHeads()), Older: b.GetOlder(),
		RoundTrip: d.Span("round trip", b.GetRoundTripMs()), Seal: seal,
	}
	if m.Claim.Term.Claimant != seal.Signer {
		d.Malformed("beacon", "the signer is not the claimant")
	}
	return m
}

func encodeBeaconAnswer(e *encoder, m group.BeaconAnswer) *feedringv1.BeaconAnswer {
	return &feedringv1.BeaconAnswer{
		Header: e.header(m.Header), Number: m.Number, Leases: wire.CountTo(m.Leases), Catalogue: m.Catalogue,
		Heads: e.Heads(m.Heads), Older: m.Older,
	}
}

func decodeBeaconAnswer(d *decoder, p *feedringv1.BeaconAnswer) group.BeaconAnswer {
	return group.BeaconAnswer{
		Header: d.header(p.GetHeader()), Number: p.GetNumber(), Leases: d.Count("leases", p.GetLeases()),
		Catalogue: p.GetCatalogue(), Heads: d.Heads("heads", p.GetHeads()), Older: p.GetOlder(),
	}
}

func encodeRefresh(e *encoder, m group.Refresh) *feedringv1.Refresh {
	return &feedringv1.Refresh{
		Header: e.header(m.Header), Claim: e.claim(&m.Claim), Version: m.Version,
		Loads: each(m.Loads, func(l *group.Load) *feedringv1.Load {
			return &feedringv1.Load{Peer: e.Peer(l.Peer), Leases: wire.CountTo(l.Leases), Granted: wire.CountTo(l.Granted)}
		}),
		Rows: e.rows(m.Rows),
	}
}

func decodeRefresh(d *decoder, p *feedringv1.Refresh) group.Refresh {
	h := d.header(p.GetHeader())
	if !d.Within("loads", len(p.GetLoads()), wire.MaxPeers) {
		return group.Refresh{}
	}
	return group.Refresh{
		Header: h, Claim: d.claim(h.Group, p.GetClaim()), Version: p.GetVersion(),
		Loads: each(p.GetLoads(), func(l **feedringv1.Load) group.Load {
			return group.Load{Peer: d.Peer("load peer", (*l).GetPeer()), Leases: d.Count("leases", (*l).GetLeases()), Granted: d.Count("granted", (*l).GetGranted())}
		}),
		Rows: d.rows(h.Group, p.GetRows()),
	}
}

func encodeRefreshed(e *encoder, m group.Refreshed) *feedringv1.Refreshed {
	return &feedringv1.Refreshed{Header: e.header(m.Header), Version: m.Version}
}

func decodeRefreshed(d *decoder, p *feedringv1.Refreshed) group.Refreshed {
	return group.Refreshed{Header: d.header(p.GetHeader()), Version: p.GetVersion()}
}

func encodeRowsWanted(e *encoder, m group.RowsWanted) *feedringv1.RowsWanted {
	return &feedringv1.RowsWanted{
		Header: e.header(m.Header),
		Have: each(m.Have, func(v *group.RowVersion) *feedringv1.RowVersion {
			return &feedringv1.RowVersion{Peer: e.Peer(v.Peer), Incarnation: v.Incarnation, Version: v.Version}
		}),
	}
}

func decodeRowsWanted(d *decoder, p *feedringv1.RowsWanted) group.RowsWanted {
	h := d.header(p.GetHeader())
	if !d.Within("rows held", len(p.GetHave()), wire.MaxPeers) {
		return group.RowsWanted{}
	}
	return group.RowsWanted{
		Header: h,
		Have: each(p.GetHave(), func(v **feedringv1.RowVersion) group.RowVersion {
			return group.RowVersion{Peer: d.Peer("row peer", (*v).GetPeer()), Incarnation: (*v).GetIncarnation(), Version: (*v).GetVersion()}
		}),
	}
}

func encodeRows(e *encoder, m group.Rows) *feedringv1.Rows {
	return &feedringv1.Rows{Header: e.header(m.Header), Rows: e.rows(m.Rows), Forgotten: e.Peers(m.Forgotten)}
}

func decodeRows(d *decoder, p *feedringv1.Rows) group.Rows {
	h := d.header(p.GetHeader())
	return group.Rows{Header: h, Rows: d.rows(h.Group, p.GetRows()), Forgotten: d.Peers("forgotten", p.GetForgotten(), wire.MaxPeers)}
}

func encodeHeadsWanted(e *encoder, m group.HeadsWanted) *feedringv1.HeadsWanted {
	return &feedringv1.HeadsWanted{Header: e.header(m.Header), After: e.Ref(m.After)}
}

func decodeHeadsWanted(d *decoder, p *feedringv1.HeadsWanted) group.HeadsWanted {
	return group.HeadsWanted{Header: d.header(p.GetHeader()), After: d.Ref("after", p.GetAfter())}
}

func encodeHeads(e *encoder, m group.Heads) *feedringv1.Heads {
	return &feedringv1.Heads{Header: e.header(m.Header), Heads: e.Heads(m.Heads), More: m.More}
}

func decodeHeads(d *decoder, p *feedringv1.Heads) group.Heads {
	return group.Heads{Header: d.header(p.GetHeader()), Heads: d.Heads("heads", p.GetHeads()), More: p.GetMore()}
}

func encodeEvidence(e *encoder, m group.Evidence) *feedringv1.Evidence {
	p := &feedringv1.Evidence{Header: e.header(m.Header)}
	for _, seal := range m.Fork.Entries {
		if seal != nil {
			p.Entries = append(p.Entries, wire.SealTo(seal))
		}
	}
	return p
}

// decodeEvidence checks what the entries say, and not their signatures: whoever takes it does that, if it is of any use.
func decodeEvidence(d *decoder, p *feedringv1.Evidence) group.Evidence {
	m := group.Evidence{Header: d.header(p.GetHeader())}
	if len(p.GetEntries()) != len(m.Fork.Entries) {
		d.Malformed("evidence", "it is two entries")
		return m
	}
	var err error
	if m.Fork, err = wire.ForkOf(wire.SealFrom(p.GetEntries()[0]), wire.SealFrom(p.GetEntries()[1])); errors.Is(err, wire.ErrChain) {
		d.Malformed("evidence", "the entries contradict each other in nothing")
	}
	d.Fail(err)
	return m
}
