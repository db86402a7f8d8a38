// Package info is what a peer tells of its groups and of the ring when it is
// asked: as frames, and back.
package info

import (
	"fmt"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/peerid"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

const (
	maxRole    = 16
	maxVouched = 1000
	maxGroups  = 50_000
)

// Error answers a request for information that cannot be given here or
// now.
func Error(text string) *feedringv1.InfoReply {
	return ErrorOf(feedringv1.ErrorKind_ERROR_KIND_UNAVAILABLE, text)
}

// ErrorOf is Error of another kind.
func ErrorOf(kind feedringv1.ErrorKind, text string) *feedringv1.InfoReply {
	return &feedringv1.InfoReply{Answer: &feedringv1.InfoReply_Error{Error: wire.ErrorTo(kind, text)}}
}

// CatalogueTo is a group as it travels.
func CatalogueTo(c feedring.Catalogue) *feedringv1.InfoReply {
	return &feedringv1.InfoReply{Answer: &feedringv1.InfoReply_Catalogue{Catalogue: &feedringv1.Catalogue{
		Theme: string(c.Theme), Manager: peerid.Bytes(c.Manager), Secondary: peerid.Bytes(c.Secondary), Term: c.Term,
		Peers: wire.Each(c.Peers, cataloguePeerTo),
	}}}
}

func cataloguePeerTo(p *feedring.CataloguePeer) *feedringv1.CataloguePeer {
	var e wire.Encoder
	to := &feedringv1.CataloguePeer{
		Peer: peerid.Bytes(p.Peer), Role: p.Role, Feeds: e.Feeds(p.Feeds), Addrs: p.Addrs, VouchedBy: p.VouchedBy, KeepMs: wire.SpanTo(time.Duration(p.KeepSeconds) * time.Second),
	}
	if p.Clients != nil {
		clients := wire.CountTo(*p.Clients)
		to.Clients = &clients
	}
	return to
}

// CatalogueFrom is the inverse of CatalogueTo. An error that the other side
// told is a *RemoteError.
func CatalogueFrom(r *feedringv1.InfoReply) (feedring.Catalogue, error) {
	if told := r.GetError(); told != nil {
		return feedring.Catalogue{}, wire.ErrorFrom(told)
	}
	b := r.GetCatalogue()
	var d wire.Decoder
	if b == nil {
		d.Malformed("answer", "no catalogue")
	}
	c := feedring.Catalogue{
		Theme: d.Theme("theme", b.GetTheme()), Manager: d.Maybe("manager", b.GetManager()),
		Secondary: d.Maybe("secondary", b.GetSecondary()), Term: b.GetTerm(),
	}
	if d.Within("peers", len(b.GetPeers()), wire.MaxPeers) {
		c.Peers = wire.Each(b.GetPeers(), func(p **feedringv1.CataloguePeer) feedring.CataloguePeer { return cataloguePeerFrom(&d, *p) })
	}
	if d.Err() != nil {
		return feedring.Catalogue{}, fmt.Errorf("catalogue: %w", d.Err())
	}
	return c, nil
}

func cataloguePeerFrom(d *wire.Decoder, p *feedringv1.CataloguePeer) feedring.CataloguePeer {
	from := feedring.CataloguePeer{
		Peer: d.Peer("peer", p.GetPeer()), Role: d.Text("role", p.GetRole(), maxRole),
		Feeds: d.Feeds("feeds", p.GetFeeds()), Addrs: d.Addrs("addrs", p.GetAddrs()),
		VouchedBy: d.Texts("vouched by", p.GetVouchedBy(), maxVouched, wire.MaxSite), KeepSeconds: int64(d.Span("keep", p.GetKeepMs()) / time.Second),
	}
	for i := range from.Feeds { // a peer of before tells names as they are given
		f := &from.Feeds[i]
		f.Provider, _ = feedring.NameOf(f.URL, f.Provider, from.VouchedBy...)
	}
	if from.Feeds == nil {
		from.Feeds = []feedring.Feed{} // of a peer that only reads: a list that is empty, not none
	}
	if p.Clients != nil {
		clients := d.Count("clients", p.GetClients())
		from.Clients = &clients
	}
	return from
}

// RingTo is the ring as it travels.
func RingTo(groups []feedring.RingGroup) *feedringv1.InfoReply {
	return &feedringv1.InfoReply{Answer: &feedringv1.InfoReply_Ring{Ring: &feedringv1.Ring{
		Groups: wire.Each(groups, func(g *feedring.RingGroup) *feedringv1.RingGroup {
			return &feedringv1.RingGroup{
				Theme: string(g.Theme), Manager: peerid.Bytes(g.Manager), Secondary: peerid.Bytes(g.Secondary), Term: g.Term,
				Peers: wire.CountTo(g.Peers), Feeds: wire.CountTo(g.Feeds), Clients: wire.CountTo(g.Clients),
			}
		}),
	}}}
}

// RingFrom is the inverse of RingTo. An error that the other side told is a
// *RemoteError.
func RingFrom(r *feedringv1.InfoReply) ([]feedring.RingGroup, error) {
	if told := r.GetError(); told != nil {
		return nil, wire.ErrorFrom(told)
	}
	var d wire.Decoder
	if r.GetRing() == nil {
		d.Malformed("answer", "no ring")
	}
	list := r.GetRing().GetGroups()
	if !d.Within("groups", len(list), maxGroups) {
		return nil, fmt.Errorf("ring: %w", d.Err())
	}
	groups := wire.Each(list, func(g **feedringv1.RingGroup) feedring.RingGroup { return ringGroupFrom(&d, *g) })
	if d.Err() != nil {
		return nil, fmt.Errorf("ring: %w", d.Err())
	}
	return groups, nil
}

func ringGroupFrom(d *wire.Decoder, g *feedringv1.RingGroup) feedring.RingGroup {
	return feedring.RingGroup{
		Theme: d.Theme("theme", g.GetTheme()), Manager: d.Maybe("manager", g.GetManager()),
		Secondary: d.Maybe("secondary", g.GetSecondary()), Term: g.GetTerm(),
		Peers: d.Count("peers", g.GetPeers()), Feeds: d.Count("feeds", g.GetFeeds()), Clients: d.Count("clients", g.GetClients()),
	}
}
