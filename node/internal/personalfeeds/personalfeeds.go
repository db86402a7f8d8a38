// Package personalfeeds gives personal feeds what this peer stores, and shows them
// to the page and the API.
package personalfeeds

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client"
	"github.com/feedring/feedring/internal/match"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/readerfeeds/personal"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/web"
	"github.com/feedring/feedring/node/internal/readers"
	"github.com/feedring/feedring/node/internal/storage"
)

// listed is how many feeds one page of a list has: all are gone through for each page.
const listed = 10_000

// Views tells what the machine knows.
type Views interface{ View() *peer.View }

// Sites names the sites that stand behind feeds.
type Sites interface {
	StandsBehind(theme feedring.Theme, ref feedring.FeedRef) string
}

// Copies knows whose words entries are.
type Copies interface {
	SiteCopies(theme feedring.Theme, ref feedring.FeedRef) bool
	Attribute(e *feedring.Entry, told string)
}

// Origins are this peer's own feeds.
type Origins interface{ Private(url string) bool }

// Blocks tells what the owner of this peer hides.
type Blocks interface {
	Any() bool
	Changes() uint64 // another number whenever something else is hidden
	Entry(*feedring.Entry) bool
}

// Hub tells subscribers.
type Hub interface{ PersonalChanged(secret string) }

// Config is what personal feeds need of the peer.
type Config struct {
	Self      feedring.PeerID
	Fleet     bool          // this peer is in a fleet
	Freshness time.Duration // for how long members of a group hold each other's entries
	Store     *store.Store
	Readers   *readers.Server
	Blocks    Blocks
	Views     Views
	Sites     Sites
	Copies    Copies
	Origins   Origins
	Hub       Hub
	Log       *slog.Logger
}

// Feeds are the personal feeds that this peer keeps. It implements web.Personal.
type Feeds struct {
	*personal.Reflector
	cfg    Config
	counts *counts
}

// Open reads them.
func Open(cfg Config) (*Feeds, error) {
	counts := newCounts()
	kept, err := personal.Open(personal.Config{Self: cfg.Self, Fleet: cfg.Fleet, Store: cfg.Store, Peer: asPeer{&cfg, counts}, Log: cfg.Log})
	return &Feeds{kept, cfg, counts}, err
}

// Deliver gives personal feeds what the store gets until ctx ends: first what came
// while nobody looked.
func (f *Feeds) Deliver(ctx context.Context) {
	sub := f.cfg.Readers.Delivery.Subscribe() // before the store is read: nothing falls between
	defer sub.Close()
	f.give(ctx, f.cfg.Store.Refs(), time.Time{})
	for {
		select {
		case <-ctx.Done():
			return
		case <-sub.Ready():
			since := sub.Since()
			f.give(ctx, sub.Take(), since)
		}
	}
}

func (f *Feeds) give(ctx context.Context, changed []feedring.FeedRef, since time.Time) {
	for _, ref := range changed {
		if err := f.Stored(ctx, ref, since); err != nil && ctx.Err() == nil {
			f.cfg.Log.Warn("personal feeds miss entries until more come", "feed", ref.URL, "err", err)
		}
	}
}

// asPeer is this peer as personal feeds see it. They ask the network as every
// reader here does.
type asPeer struct {
	*Config
	*counts
}

func (p asPeer) Open(it *store.Item) (*feedring.Entry, error) { return p.Readers.Open(it) }

func (p asPeer) Read(ctx context.Context, ref feedring.FeedRef, after feedring.Position) ([]store.Item, error) {
	return p.Readers.Delivery.After(ctx, ref, after)
}

func (p asPeer) Site(theme feedring.Theme, ref feedring.FeedRef) string {
	return p.Sites.StandsBehind(theme, ref)
}

func (p asPeer) SiteCopies(theme feedring.Theme, ref feedring.FeedRef) bool {
	return p.Copies.SiteCopies(theme, ref)
}

func (p asPeer) Attribute(e *feedring.Entry) { p.Copies.Attribute(e, e.VouchedBy) }

func (p asPeer) Listed(url string) bool { return p.Origins.Private(url) }

func (p asPeer) Changed(secret string) {
	p.Hub.PersonalChanged(secret)
}

// Query asks this peer's own store where any peer that the network could name would find
// no more: who serves a fleet after a loss has very many lists to fill.
func (p asPeer) Query(ctx context.Context, q feedring.Query, private bool) ([]feedring.Entry, bool, error) {
	if p.holds(&q, time.Now()) {
		entries, err := p.Readers.Held(ctx, web.Ask{Query: q})
		return entries, true, err
	}
	answer, err := p.Readers.Query(ctx, web.Ask{Query: q, Private: private})
	return answer.Entries, answer.Final.Status != feedring.Incomplete, err
}

// clocks is by how much the clocks of members may differ: they count as complete all the
// same.
const clocks = 5 * time.Second

// holds reports whether this peer holds all that a query finds: it is a member of the
// theme's group and complete, as who serves a lookup is. What is older than the freshness
// only publishers have.
func (p asPeer) holds(q *feedring.Query, now time.Time) bool {
	fresh := now.Add(-p.Freshness)
	if !q.Since.IsZero() && !q.Since.After(fresh) {
		return false
	}
	is, member := p.Views.View().Memberships[q.Theme]
	return member && is.Holds(fresh.Add(min(clocks, p.Freshness/10)))
}

func (p asPeer) Follow(ctx context.Context, theme feedring.Theme, from feedring.Cursor, begun func(feedring.Cursor),
	each func(e *feedring.Entry, through feedring.Position)) error {
	comes := func(e feedring.Entry, at feedring.Cursor) error {
		each(&e, at[e.Ref()])
		return nil
	}
	return p.Readers.Client().Follow(ctx, feedring.Query{Theme: theme}, client.FollowOptions{
		Updates: true, Cursor: from, Retracted: comes, History: comes,
		First: func(a client.Answer) error {
			if from == nil {
				begun(a.Cursor)
			}
			return nil
		},
	}, comes)
}

func (p asPeer) Themes() (themes []feedring.Theme) {
	for _, g := range p.Views.View().Ring {
		themes = append(themes, g.Theme)
	}
	return themes
}

func (p asPeer) Stored(theme feedring.Theme) bool {
	return p.Views.View().Roles[theme].Role != feedring.RoleNone
}

// Subscriptions implements web.Personal. Here and below there is no user but the owner.
func (f *Feeds) Subscriptions(_ context.Context, _, after string) (page []web.Subscription, next string, err error) {
	some, next := f.Reflector.Subscriptions(after, listed)
	for _, s := range some {
		page = append(page, web.Subscription(s))
	}
	return page, next, nil
}

// Subscribe implements web.Personal.
func (f *Feeds) Subscribe(ctx context.Context, _ string, q feedring.Query, stem bool) (web.Subscription, error) {
	s, err := f.Reflector.Subscribe(ctx, q, stem)
	var syntax *match.SyntaxError
	switch {
	case err == nil, errors.As(err, &syntax):
		return web.Subscription(s), err
	case errors.Is(err, personal.ErrTooMany):
		return web.Subscription{}, &web.LimitError{Of: web.Subscriptions, Most: personal.MaxSubscriptions}
	default:
		return web.Subscription{}, storage.NotKept("the personal feed was not made", err)
	}
}

// Unsubscribe implements web.Personal.
func (f *Feeds) Unsubscribe(ctx context.Context, _, id string) error {
	err := f.Reflector.Unsubscribe(ctx, id)
	switch {
	case errors.Is(err, personal.ErrUnknown):
		return web.ErrUnknown.Of(errors.New("this peer keeps no personal feed with this id"))
	case err != nil:
		return storage.NotKept("the personal feed is revoked, but may be back after a restart", err)
	}
	return nil
}

// State implements web.Personal.
func (f *Feeds) State(secret string) (web.PersonalState, bool) {
	s, ok := f.Reflector.State(secret)
	return f.personalState(&s), ok
}

// Read implements web.Personal.
func (f *Feeds) Read(ctx context.Context, secret string) (web.PersonalState, []feedring.Entry, error) {
	kept, err := f.Reflector.Feed(ctx, secret)
	if errors.Is(err, personal.ErrUnknown) {
		err = web.ErrUnknown.Of(errors.New("there is no such feed, or it was revoked"))
	}
	if f.cfg.Blocks.Any() {
		kept.Entries = slices.DeleteFunc(slices.Clone(kept.Entries), func(e feedring.Entry) bool { return f.cfg.Blocks.Entry(&e) })
	}
	return f.personalState(&kept.State), kept.Entries, err
}

// personalState is another one when something else is hidden. Modified is not: a reader
// that goes by it alone is shown that with the next entry.
func (f *Feeds) personalState(s *personal.State) web.PersonalState {
	const spread = 1 << 40 // versions count changes
	return web.PersonalState{
		Subscription: web.Subscription(s.Subscription), Fleet: s.Adopted, Version: s.Version + f.cfg.Blocks.Changes()*spread, Modified: s.Modified,
	}
}
