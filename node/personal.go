package node

import (
	"context"
	"errors"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client"
	"github.com/feedring/feedring/internal/match"
	"github.com/feedring/feedring/internal/readerfeeds/personal"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/vouch"
	"github.com/feedring/feedring/internal/web"
	"github.com/feedring/feedring/node/internal/storage"
)

// openPersonal reads the personal feeds that this peer keeps.
func (n *Node) openPersonal() (err error) {
	n.personal, err = personal.Open(personal.Config{Self: n.ID(), Store: n.store, Peer: personalPeer{n}, Log: n.log})
	return err
}

// standsBehind names the site that a feed's entries may speak for: this peer's
// own feeds it read there itself.
func (n *Node) standsBehind(theme feedring.Theme, ref feedring.FeedRef) string {
	if ref.Publisher != n.ID() {
		return n.vouchedBy(theme)(ref)
	}
	sites := vouch.SitesOf(ref.URL)
	if len(sites) == 0 {
		return ""
	}
	return sites[len(sites)-1]
}

// feedPersonal gives personal feeds what the store gets: first what came while
// nobody looked.
func (n *Node) feedPersonal() {
	sub := n.readers.Delivery.Subscribe() // before the store is read: nothing falls between
	defer sub.Close()
	n.givePersonal(n.store.Refs())
	for {
		select {
		case <-n.ctx.Done():
			return
		case <-sub.Ready():
			n.givePersonal(sub.Take())
		}
	}
}

func (n *Node) givePersonal(changed []feedring.FeedRef) {
	for _, ref := range changed {
		if err := n.personal.Stored(n.ctx, ref); err != nil && n.ctx.Err() == nil {
			n.log.Warn("personal feeds miss entries until more come", "feed", ref.URL, "err", err)
		}
	}
}

// personalPeer is this peer as personal feeds see it. They ask the network as every
// reader here does.
type personalPeer struct{ node *Node }

func (p personalPeer) Open(it *store.Item) (*feedring.Entry, error) { return p.node.readers.Open(it) }

func (p personalPeer) Read(ctx context.Context, ref feedring.FeedRef, after feedring.Position) ([]store.Item, error) {
	return p.node.readers.Delivery.After(ctx, ref, after)
}

func (p personalPeer) Site(theme feedring.Theme, ref feedring.FeedRef) string {
	return p.node.standsBehind(theme, ref)
}

func (p personalPeer) Listed(url string) bool { return p.node.origins.Private(url) }

func (p personalPeer) Kept(feeds int) {
	if feeds%personalStep == 0 {
		allowMemory(feeds)
	}
}

func (p personalPeer) Changed(secret string) {
	if p.node.hub != nil {
		p.node.hub.Changed(ofPersonal + secret)
	}
}

func (p personalPeer) Query(ctx context.Context, q feedring.Query) ([]feedring.Entry, bool, error) {
	answer, err := p.node.Query(ctx, web.Ask{Query: q, Private: q.Theme == ""})
	return answer.Entries, answer.Final.Status != feedring.Incomplete, err
}

func (p personalPeer) Follow(ctx context.Context, theme feedring.Theme, from feedring.Cursor, begun func(feedring.Cursor),
	each func(e *feedring.Entry, through feedring.Position)) error {
	comes := func(e feedring.Entry, at feedring.Cursor) error {
		each(&e, at[e.Ref()])
		return nil
	}
	return p.node.readers.Client().Follow(ctx, feedring.Query{Theme: theme}, client.FollowOptions{
		Updates: true, Cursor: from, Retracted: comes, History: comes,
		First: func(a client.Answer) error {
			if from == nil {
				begun(a.Cursor)
			}
			return nil
		},
	}, comes)
}

func (p personalPeer) Themes() (themes []feedring.Theme) {
	for _, g := range p.node.loop.View().Ring {
		themes = append(themes, g.Theme)
	}
	return themes
}

func (p personalPeer) Stored(theme feedring.Theme) bool {
	return p.node.loop.View().Roles[theme].Role != feedring.RoleNone
}

// personalFeeds are the personal feeds as the front sees them.
type personalFeeds struct{ room *personal.Reflector }

func (p personalFeeds) Subscriptions() []web.Subscription {
	var all []web.Subscription
	for _, s := range p.room.Subscriptions() {
		all = append(all, web.Subscription(s))
	}
	return all
}

func (p personalFeeds) Subscribe(ctx context.Context, q feedring.Query, stem bool) (web.Subscription, error) {
	s, err := p.room.Subscribe(ctx, q, stem)
	var syntax *match.SyntaxError
	switch {
	case err == nil, errors.As(err, &syntax), errors.Is(err, personal.ErrTooMany):
		return web.Subscription(s), err
	default:
		return web.Subscription{}, storage.NotKept("the personal feed was not made", err)
	}
}

func (p personalFeeds) Unsubscribe(ctx context.Context, id string) error {
	err := p.room.Unsubscribe(ctx, id)
	switch {
	case errors.Is(err, personal.ErrUnknown):
		return web.ErrUnknown.Of(errors.New("this peer keeps no personal feed with this id"))
	case err != nil:
		return storage.NotKept("the personal feed is revoked, but may be back after a restart", err)
	}
	return nil
}

func (p personalFeeds) State(secret string) (web.PersonalState, bool) {
	s, ok := p.room.State(secret)
	return personalState(&s), ok
}

func (p personalFeeds) Read(ctx context.Context, secret string) (web.PersonalState, []feedring.Entry, error) {
	f, err := p.room.Feed(ctx, secret)
	if errors.Is(err, personal.ErrUnknown) {
		err = web.ErrUnknown.Of(errors.New("there is no such feed, or it was revoked"))
	}
	return personalState(&f.State), f.Entries, err
}

func personalState(s *personal.State) web.PersonalState {
	return web.PersonalState{Subscription: web.Subscription(s.Subscription), Version: s.Version, Modified: s.Modified}
}
