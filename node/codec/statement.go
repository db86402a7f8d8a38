package codec

import (
	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/wire"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// Limits of a row, in things.
const (
	maxVouches    = 1000
	maxVouchFeeds = 1000
	maxSite       = 253
	maxGone       = 1000
	maxURL        = 2048
	maxRefs       = wire.MaxHeads // of a list: what is backfilled, what there are copies of
)

func (e *encoder) refs(list []feedring.FeedRef) []*feedringv1.FeedRef {
	return each(list, func(f *feedring.FeedRef) *feedringv1.FeedRef { return e.Ref(*f) })
}

func (d *decoder) refs(name string, list []*feedringv1.FeedRef) []feedring.FeedRef {
	if !d.Within(name, len(list), maxRefs) {
		return nil
	}
	return each(list, func(f **feedringv1.FeedRef) feedring.FeedRef { return d.Ref(name, *f) })
}

func (e *encoder) header(h group.Header) *feedringv1.Header {
	return &feedringv1.Header{Group: h.Group[:], Term: e.Term(h.Term)}
}

func (d *decoder) header(h *feedringv1.Header) group.Header {
	return group.Header{Group: d.Group("group", h.GetGroup()), Term: d.Term("term", h.GetTerm())}
}

// claim: the claimant is the signer.
func (e *encoder) claim(c *group.Claim) *feedringv1.Sealed {
	if c.Seal != nil {
		return wire.SealTo(c.Seal)
	}
	return e.seal(wire.KindClaim, c.Term.Claimant, &feedringv1.ClaimBody{Group: c.Group[:], Number: c.Term.Number})
}

func (d *decoder) claim(of feedring.GroupID, sealed *feedringv1.Sealed) group.Claim {
	var b feedringv1.ClaimBody
	seal := d.open(wire.KindClaim, sealed, &b)
	if seal == nil {
		return group.Claim{}
	}
	c := group.Claim{
		Group: d.Group("claim group", b.GetGroup()),
		Term:  feedring.Term{Number: b.GetNumber(), Claimant: seal.Signer}, Seal: seal,
	}
	d.within(wire.KindClaim, of, c.Group)
	return c
}

// row: the peer is the signer.
func (e *encoder) row(r *group.Row) *feedringv1.Sealed {
	if r.Seal != nil {
		return wire.SealTo(r.Seal)
	}
	return e.seal(wire.KindRow, r.Peer, &feedringv1.RowBody{
		Group: r.Group[:], Incarnation: r.Incarnation, Version: r.Version, AdmittedUnixMs: wire.TimeTo(r.Admitted),
		Addrs: r.Addrs, Feeds: e.Feeds(r.Feeds), FromUnixMs: wire.TimeTo(r.From),
		Backfilling: e.refs(r.Backfilling), Vouches: each(r.Vouches, e.vouch), Left: r.Left, KeepMs: wire.SpanTo(r.Keep),
		Gone: each(r.Gone, e.gone), Fleet: wire.CountTo(r.Capacity), Volunteer: r.Volunteer,
	})
}

func (e *encoder) gone(g *group.Gone) *feedringv1.Gone {
	return &feedringv1.Gone{Feed: e.Ref(g.Ref), Provider: string(g.Provider)}
}

func (d *decoder) gone(g **feedringv1.Gone) group.Gone {
	return group.Gone{Ref: d.Ref("gone", (*g).GetFeed()), Provider: feedring.Provider(d.Text("gone provider", (*g).GetProvider(), maxProvider))}
}

func (e *encoder) vouch(v *group.Vouch) *feedringv1.Vouch {
	return &feedringv1.Vouch{Site: v.Site, Publisher: e.Peer(v.Publisher), Feeds: v.Feeds, AtUnixMs: wire.TimeTo(v.At)}
}

func (e *encoder) rows(list []*group.Row) []*feedringv1.Sealed {
	return each(list, func(r **group.Row) *feedringv1.Sealed { return e.row(*r) })
}

func (d *decoder) row(of feedring.GroupID, sealed *feedringv1.Sealed) group.Row {
	var b feedringv1.RowBody
	seal := d.open(wire.KindRow, sealed, &b)
	if seal == nil || !d.Within("vouches", len(b.GetVouches()), maxVouches) || !d.Within("gone", len(b.GetGone()), maxGone) {
		return group.Row{}
	}
	if len(b.GetFeeds()) > 0 {
		d.Fail(d.verifier.Allow(wire.KindEntry, seal.Signer))
	}
	r := group.Row{
		Group: d.Group("row group", b.GetGroup()), Peer: seal.Signer,
		Incarnation: b.GetIncarnation(), Version: b.GetVersion(), Admitted: d.Time("admitted", b.GetAdmittedUnixMs()),
		Addrs: d.Addrs("addrs", b.GetAddrs()), Feeds: d.Feeds("feeds", b.GetFeeds()), From: d.Time("from", b.GetFromUnixMs()),
		Backfilling: d.refs("backfilling", b.GetBackfilling()),
		Vouches:     each(b.GetVouches(), d.vouch), Left: b.GetLeft(), Keep: d.Span("keep", b.GetKeepMs()), Gone: each(b.GetGone(), d.gone), Capacity: d.Count("fleet", b.GetFleet()), Volunteer: b.GetVolunteer(), Seal: seal,
	}
	d.within(wire.KindRow, of, r.Group)
	return r
}

func (d *decoder) vouch(v **feedringv1.Vouch) group.Vouch {
	return group.Vouch{
		Site: d.Text("vouch site", (*v).GetSite(), maxSite), Publisher: d.Peer("vouch publisher", (*v).GetPublisher()),
		Feeds: d.Texts("vouch feeds", (*v).GetFeeds(), maxVouchFeeds, maxURL), At: d.Time("vouch date", (*v).GetAtUnixMs()),
	}
}

func (d *decoder) rows(of feedring.GroupID, list []*feedringv1.Sealed) []*group.Row {
	if !d.Within("rows", len(list), wire.MaxPeers) {
		return nil
	}
	return eachAllowed(d, list, func(d *decoder, s **feedringv1.Sealed) *group.Row { return new(d.row(of, *s)) })
}

// alive: who is alive is the signer, the manager or its secondary; the term is
// the one that it follows. The machine knows whose sign of life it waits for.
func (e *encoder) alive(a *group.Alive) *feedringv1.Sealed {
	if a.Seal != nil {
		return wire.SealTo(a.Seal)
	}
	return e.seal(wire.KindAlive, e.sealer.ID(), &feedringv1.AliveBody{Group: a.Group[:], Term: e.Term(a.Term), Nonce: a.Nonce})
}

func (d *decoder) alive(sealed *feedringv1.Sealed) group.Alive {
	var b feedringv1.AliveBody
	seal := d.open(wire.KindAlive, sealed, &b)
	if seal == nil {
		return group.Alive{}
	}
	return group.Alive{
		Header: group.Header{Group: d.Group("group", b.GetGroup()), Term: d.Term("term", b.GetTerm())},
		Nonce:  b.GetNonce(), Seal: seal,
	}
}
