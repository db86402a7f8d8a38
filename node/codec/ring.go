package codec

import (
	"fmt"
	"math"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/wire"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
	"github.com/feedring/feedring/ring"
)

// maxGroups is the largest ring, in groups.
const maxGroups = 50_000

func ringForms() []form {
	return []form{
		as(encodeSwap, decodeSwap),
		as(encodeVersions, decodeVersions),
		as(encodeRingRows, decodeRingRows),
		as(encodeSearch, decodeSearch),
		as(encodeSearchAck, decodeSearchAck),
		as(encodeFoundGroup, decodeFoundGroup),
		as(encodeExhausted, decodeExhausted),
	}
}

// ringRow: the manager is the claimant and the signer; the theme names the
// group.
func (e *encoder) ringRow(r *ring.Row) *feedringv1.Sealed {
	if r.Seal != nil {
		return wire.SealTo(r.Seal)
	}
	if r.Group != r.Theme.Group() || r.Manager.ID != r.Term.Claimant {
		e.Fail(fmt.Errorf("ringrow of %q: %w: group or manager contradict theme or term", r.Theme, wire.ErrMalformed))
	}
	return e.seal(wire.KindRingRow, r.Term.Claimant, &feedringv1.RingRowBody{
		Theme: string(r.Theme), Number: r.Term.Number, Version: r.Version, Acknowledged: r.Acknowledged,
		Secondary: e.Peer(r.Secondary), ManagerAddrs: r.Manager.Addrs, Deputy: e.Info(r.Deputy),
		Peers: wire.CountTo(r.Peers), Feeds: wire.CountTo(r.Feeds), Clients: wire.CountTo(r.Clients), Gone: r.Gone,
	})
}

func (d *decoder) ringRow(sealed **feedringv1.Sealed) *ring.Row {
	var b feedringv1.RingRowBody
	seal := d.open(wire.KindRingRow, *sealed, &b)
	if seal == nil {
		return &ring.Row{}
	}
	theme := d.Theme("theme", b.GetTheme())
	if theme == "" {
		d.Malformed("theme", "empty")
	}
	return &ring.Row{
		Group: theme.Group(), Theme: theme, Term: feedring.Term{Number: b.GetNumber(), Claimant: seal.Signer},
		Version: b.GetVersion(), Acknowledged: b.GetAcknowledged(), Secondary: d.Maybe("secondary", b.GetSecondary()),
		Manager: feedring.PeerInfo{ID: seal.Signer, Addrs: d.Addrs("manager addrs", b.GetManagerAddrs())},
		Deputy:  d.Info("deputy", b.GetDeputy()),
		Peers:   d.Count("peers", b.GetPeers()), Feeds: d.Count("feeds", b.GetFeeds()), Clients: d.Count("clients", b.GetClients()),
		Gone: b.GetGone(), Seal: seal,
	}
}

func (e *encoder) lost(l *ring.Lost) *feedringv1.Sealed {
	if l.Seal != nil {
		return wire.SealTo(l.Seal)
	}
	return e.seal(wire.KindLost, l.By, &feedringv1.LostBody{Group: l.Group[:], Term: e.Term(l.Term), Version: l.Version})
}

func (d *decoder) lost(sealed **feedringv1.Sealed) ring.Lost {
	var b feedringv1.LostBody
	seal := d.open(wire.KindLost, *sealed, &b)
	if seal == nil {
		return ring.Lost{}
	}
	return ring.Lost{
		Group: d.Group("group", b.GetGroup()), Term: d.Term("term", b.GetTerm()), Version: b.GetVersion(),
		By: seal.Signer, Seal: seal,
	}
}

func encodeSwap(_ *encoder, m ring.Swap) *feedringv1.Swap {
	return &feedringv1.Swap{Hash: m.Hash, Parts: m.Parts}
}

func decodeSwap(_ *decoder, p *feedringv1.Swap) ring.Swap {
	return ring.Swap{Hash: p.GetHash(), Parts: p.GetParts()}
}

func encodeVersions(e *encoder, m ring.Versions) *feedringv1.Versions {
	p := &feedringv1.Versions{
		Hash: m.Hash, Parts: m.Parts,
		Have: each(m.Have, func(v *ring.RowVersion) *feedringv1.RingRowVersion {
			return &feedringv1.RingRowVersion{
				Group: v.Group[:], Term: e.Term(v.Term), Version: v.Version, Acknowledged: v.Acknowledged, Lost: v.Lost,
			}
		}),
	}
	if len(m.Within) > 0 {
		p.Within, p.MoreWithin = m.Within[0], m.Within[1:]
	}
	return p
}

func decodeVersions(d *decoder, p *feedringv1.Versions) ring.Versions {
	if !d.Within("versions", len(p.GetHave()), maxGroups) || !d.Within("parts", len(p.GetParts()), ring.MaxParts) ||
		!d.Within("parts told", 64*(1+len(p.GetMoreWithin())), ring.MaxParts) {
		return ring.Versions{}
	}
	var within []uint64
	if p.GetWithin() != 0 || len(p.GetMoreWithin()) > 0 {
		within = append([]uint64{p.GetWithin()}, p.GetMoreWithin()...)
	}
	return ring.Versions{
		Hash: p.GetHash(), Parts: p.GetParts(), Within: within,
		Have: each(p.GetHave(), func(v **feedringv1.RingRowVersion) ring.RowVersion {
			return ring.RowVersion{
				Group: d.Group("group", (*v).GetGroup()), Term: d.Term("term", (*v).GetTerm()),
				Version: (*v).GetVersion(), Acknowledged: (*v).GetAcknowledged(), Lost: (*v).GetLost(),
			}
		}),
	}
}

func encodeRingRows(e *encoder, m ring.Rows) *feedringv1.RingRows {
	return &feedringv1.RingRows{Rows: each(m.Rows, func(r **ring.Row) *feedringv1.Sealed { return e.ringRow(*r) }), Lost: each(m.Lost, e.lost), Want: groupsTo(m.Want)}
}

func decodeRingRows(d *decoder, p *feedringv1.RingRows) ring.Rows {
	if !d.Within("rows", len(p.GetRows()), wire.MaxPeers) || !d.Within("marks", len(p.GetLost()), wire.MaxPeers) {
		return ring.Rows{}
	}
	return ring.Rows{
		Rows: eachAllowed(d, p.GetRows(), (*decoder).ringRow), Lost: eachAllowed(d, p.GetLost(), (*decoder).lost), Want: d.Groups("want", p.GetWant(), maxGroups),
	}
}

func groupsTo(groups []feedring.GroupID) [][]byte {
	return each(groups, func(g *feedring.GroupID) []byte { return g[:] })
}

// numberTo is a number that may be negative, as it travels.
func numberTo(n int) int32 { return int32(min(max(n, math.MinInt32), math.MaxInt32)) }
