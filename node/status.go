package node

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/origin/document"
	"github.com/feedring/feedring/internal/origin/fetch"
	"github.com/feedring/feedring/internal/safehttp"
	"github.com/feedring/feedring/internal/web"
)

// Feeds implements web.Backend.
func (n *Node) Feeds(private bool) []web.FeedStatus {
	urls := slices.Sorted(maps.Keys(n.origins.public()))
	if private {
		urls = n.origins.urls()
	}
	feeds := make([]web.FeedStatus, 0, len(urls))
	for _, url := range urls {
		if f, ok := n.origins.get(url); ok {
			feeds = append(feeds, n.feedStatus(url, f))
		}
	}
	return feeds
}

func (n *Node) feedStatus(url string, f origin) web.FeedStatus {
	known, err := n.origins.State(url)
	if err != nil {
		known.LastError = "what is known of this feed cannot be read: " + err.Error()
	}
	ref := feedring.FeedRef{URL: url, Publisher: n.ID()}
	st := web.FeedStatus{
		URL: url, Fetched: n.origins.present(url, &known), Theme: f.theme(), Provider: f.spec().Provider, Share: f.spec().Share, Title: known.Title,
		LastFetch: wholeSecond(known.LastLook), LastOK: wholeSecond(known.LastSuccess), NextFetch: wholeSecond(known.NextLook),
		Error: known.LastError, Gone: known.Gone && known.NextLook.IsZero(), Fixed: f.fixed, File: f.file(),
	}
	if known.Omitted > 0 {
		st.Taken, st.In = document.MaxItems, document.MaxItems+known.Omitted
	}
	if st.Gone {
		st.Error += ": it is looked at no more, until it is pinged or added again"
	}
	if t := n.origins.lookers.of(url).FetchAssignment; t.Mirrors || t.By != "" && t.Slot == 0 {
		st.LookedAt = t.By
		if t.Slots > 1 {
			st.Turn, st.Turns = t.Slot, t.Slots
		}
	}
	if n.origins.lookers.rests(f.spec()) {
		st.Rests, st.NextFetch, st.Error = true, time.Time{}, ""
	}
	if h, ok := n.store.Head(ref); ok {
		st.Entries = h.Count
	}
	if known.Feedring != "" {
		st.Join, st.SitePeer = n.joinable(url, known.Feedring)
	}
	if f.theme() != "" {
		st.VouchedBy = n.vouchedBy(f.theme())(ref)
		st.Front, st.Readers = n.frontAddress(url), n.own.Readers(url)
	}
	return st
}

// wholeSecond is a time as it is told to people and programs.
func wholeSecond(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }

// AddFeeds implements web.Backend.
func (n *Node) AddFeeds(ctx context.Context, specs []feedring.FeedSpec, titles []string) []web.Added {
	said := make([]web.Added, len(specs))
	var places []int
	var sound []feedring.FeedSpec
	var named []string
	for i, spec := range specs {
		if said[i].Err = n.refuse(spec); said[i].Err == nil {
			places, sound = append(places, i), append(sound, spec)
			if len(titles) > 0 {
				named = append(named, titles[i])
			}
		}
	}
	returns := make([]bool, len(sound))
	for j, spec := range sound {
		known, _ := n.origins.recognise(spec)
		returns[j] = n.kept(known)
	}
	restored := false
	for j, added := range n.origins.addAll(ctx, sound, named) {
		said[places[j]] = added
		restored = restored || returns[j] && added.Err == nil && !added.Known
	}
	if restored {
		n.personal.Restore()
	}
	return said
}

// kept reports whether a private feed has entries here of an earlier time, which
// no look finds again.
func (n *Node) kept(spec feedring.FeedSpec) bool {
	h, ok := n.store.Head(feedring.FeedRef{URL: spec.URL, Publisher: n.origins.self})
	return ok && h.Private && spec.Theme == ""
}

// refuse returns an error for a feed that this peer would never fetch or read. A
// name may still turn out to lead to a private address.
func (n *Node) refuse(spec feedring.FeedSpec) error {
	u, err := url.Parse(spec.URL)
	if err == nil && !n.cfg.AllowPrivateFeeds && safehttp.IsPrivateHost(u.Hostname()) {
		err = &web.PrivateAddressError{URL: spec.URL, Host: u.Hostname()}
	}
	if err == nil && spec.Theme != "" {
		if err = n.identity.yields(); err != nil {
			err = fmt.Errorf("%s was not added: %w", spec.URL, err)
		}
	}
	if err != nil || spec.File == "" {
		return err
	}
	if err := fetch.CheckFile(spec.File); err != nil {
		return fmt.Errorf("%s was not added: %w", spec.URL, err)
	}
	return nil
}

// RemoveFeed implements web.Backend.
func (n *Node) RemoveFeed(ctx context.Context, url string) error {
	url = n.origins.identity(url)
	err := n.origins.remove(ctx, url)
	if err == nil {
		n.personal.Withdraw(url)
		n.hubChanged(url)
		n.namesHub(url, "", "")
	}
	return err
}

// Feed implements web.Backend.
func (n *Node) Feed(url string) (web.FeedStatus, error) {
	url = n.origins.identity(url)
	f, ok := n.origins.get(url)
	if !ok {
		return web.FeedStatus{}, notOurs(url)
	}
	return n.feedStatus(url, f), nil
}
