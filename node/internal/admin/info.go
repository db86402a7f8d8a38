package admin

import (
	"context"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/web"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/internal/wire/info"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

const (
	infoRead   = 10 * time.Second
	infoAsk    = 500 * time.Millisecond // for each peer that may know a group
	infoAsked  = 4                      // members asked where manager and secondary are away
	infoWithin = 4 * time.Second
)

// ServeInfo answers what commands want to know: the ring, or one group.
func (d *Admin) ServeInfo(from feedring.PeerID, s *wire.Stream) error {
	var req feedringv1.InfoRequest
	if err := s.Receive(&req, infoRead); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(d.ctx, infoWithin)
	defer cancel()
	reply, err := d.info(ctx, &req)
	if err != nil {
		reply = info.Error(err.Error())
	}
	return s.Send(reply, infoRead)
}

func (d *Admin) info(ctx context.Context, req *feedringv1.InfoRequest) (*feedringv1.InfoReply, error) {
	if req.GetTheme() == "" {
		ring, err := d.Ring(ctx)
		return info.RingTo(ring), err
	}
	theme, err := feedring.ParseTheme(req.GetTheme())
	if err != nil {
		return nil, err
	}
	if req.GetMember() {
		c, ok := d.cfg.Loop.View().Catalogue(theme)
		if !ok {
			return info.Error("not a member of " + string(theme)), nil
		}
		return info.CatalogueTo(d.shown(c)), nil
	}
	c, err := d.Catalogue(ctx, theme)
	return info.CatalogueTo(c), err
}

// Ring implements web.Backend.
func (d *Admin) Ring(context.Context) ([]feedring.RingGroup, error) {
	ring := d.cfg.Loop.View().Ring
	if !d.hidesAny() {
		return ring, nil
	}
	return slices.DeleteFunc(slices.Clone(ring), func(g feedring.RingGroup) bool { return d.hides(g.Manager) }), nil
}

// hides reports whether a peer is in no catalogue that this one shows.
func (d *Admin) hides(p feedring.PeerID) bool { return d.cfg.Blocks.Peer(p) || d.cfg.Members.Hides(p) }

func (d *Admin) hidesAny() bool {
	return d.cfg.Blocks.Any() || d.cfg.Members.HidesAny() || d.cfg.Members.RemovesAny()
}

// shown is a catalogue without what is hidden.
func (d *Admin) shown(c feedring.Catalogue) feedring.Catalogue {
	if !d.hidesAny() {
		return c
	}
	peers, named := c.Peers, d.blockedByName(c.Theme)
	c.Peers = []feedring.CataloguePeer{}
	for _, p := range peers {
		if d.hides(p.Peer) {
			continue
		}
		p.Feeds = slices.DeleteFunc(slices.Clone(p.Feeds), func(f feedring.Feed) bool {
			ref := feedring.FeedRef{URL: f.URL, Publisher: p.Peer}
			return d.cfg.Blocks.Feed(ref) || d.cfg.Members.RemovesFeed(ref) || p.Peer != d.id && d.cfg.Blocks.Provider(f.Provider) || named[ref]
		})
		c.Peers = append(c.Peers, p)
	}
	return c
}

// blockedByName is the feeds of this peer's group that give themselves a blocked name: a
// catalogue has the names that they are shown under.
func (d *Admin) blockedByName(theme feedring.Theme) map[feedring.FeedRef]bool {
	m, ok := d.cfg.Loop.View().Memberships[theme]
	if !ok {
		return nil
	}
	named := make(map[feedring.FeedRef]bool)
	for i := range m.Members {
		row := m.Members[i].Row
		for _, f := range row.Feeds {
			if row.Peer != d.id && d.cfg.Blocks.Provider(f.Provider) {
				named[feedring.FeedRef{URL: f.URL, Publisher: row.Peer}] = true
			}
		}
	}
	return named
}

// Catalogue implements web.Backend: a member answers from its own view, any
// other peer asks the manager, else the secondary, else a member.
func (d *Admin) Catalogue(ctx context.Context, theme feedring.Theme) (feedring.Catalogue, error) {
	view := d.cfg.Loop.View()
	if c, ok := view.Catalogue(theme); ok {
		return d.shown(c), nil
	}
	asked := leaders(view, theme)
	if len(asked) == 0 {
		return feedring.Catalogue{}, &web.UnknownThemeError{Theme: theme, Near: d.suggest(theme)}
	}
	if c, ok := d.firstCatalogue(ctx, asked, theme); ok {
		return d.shown(c), nil
	}
	// Manager and secondary are both away: the address book names members.
	found, err := d.cfg.Host.FindGroup(ctx, theme.Group())
	if err != nil {
		d.cfg.Log.Debug("address book", "theme", theme, "err", err)
	}
	var members []feedring.PeerID
	for _, p := range found {
		if !slices.Contains(asked, p.ID) {
			d.cfg.Host.Learn(p.ID, p.Addrs)
			members = append(members, p.ID)
		}
	}
	if c, ok := d.firstCatalogue(ctx, members[:min(len(members), infoAsked)], theme); ok {
		return d.shown(c), nil
	}
	return feedring.Catalogue{}, &web.SilentGroupError{Theme: theme}
}

// firstCatalogue asks one peer after the other.
func (d *Admin) firstCatalogue(ctx context.Context, ids []feedring.PeerID, theme feedring.Theme) (feedring.Catalogue, bool) {
	for _, id := range ids {
		c, err := d.askCatalogue(ctx, id, theme)
		if err == nil {
			return c, true
		}
		d.cfg.Host.Suspect(id)
		d.cfg.Log.Debug("catalogue", "theme", theme, "asked", id.Short(), "err", err)
	}
	return feedring.Catalogue{}, false
}

func (d *Admin) askCatalogue(ctx context.Context, id feedring.PeerID, theme feedring.Theme) (feedring.Catalogue, error) {
	ctx, cancel := context.WithTimeout(ctx, infoAsk)
	defer cancel()
	raw, err := d.cfg.Host.Open(ctx, id, wire.VerbInfo, true)
	if err != nil {
		return feedring.Catalogue{}, err
	}
	s := wire.NewStream(raw)
	defer s.Close()
	if err := s.Send(&feedringv1.InfoRequest{Theme: string(theme), Member: true}, infoAsk); err != nil {
		return feedring.Catalogue{}, err
	}
	var reply feedringv1.InfoReply
	if err := s.Receive(&reply, infoAsk); err != nil {
		return feedring.Catalogue{}, err
	}
	return info.CatalogueFrom(&reply)
}

// leaders returns who may tell of a group that this peer is not in: its manager,
// then its secondary.
func leaders(view *peer.View, theme feedring.Theme) []feedring.PeerID {
	var ids []feedring.PeerID
	for _, g := range view.Ring {
		if g.Theme != theme {
			continue
		}
		ids = append(ids, g.Manager)
		if g.Secondary != "" {
			ids = append(ids, g.Secondary)
		}
	}
	return ids
}

// suggest returns a theme of the ring that is spelled almost like one that nobody
// publishes; empty: none.
func (d *Admin) suggest(theme feedring.Theme) string {
	var names []string
	for _, g := range d.cfg.Loop.View().Ring {
		names = append(names, string(g.Theme))
	}
	return feedring.Nearest(string(theme), names)
}
