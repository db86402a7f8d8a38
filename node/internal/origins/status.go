package origins

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/origin/document"
	"github.com/feedring/feedring/internal/origin/files"
	"github.com/feedring/feedring/internal/safehttp"
	"github.com/feedring/feedring/internal/web"
)

// Feeds are of all feeds, or of those that are published.
func (o *Feeds) Feeds(private bool) []web.FeedStatus {
	urls := slices.Sorted(maps.Keys(o.public()))
	if private {
		urls = o.urls()
	}
	feeds := make([]web.FeedStatus, 0, len(urls))
	for _, url := range urls {
		if f, ok := o.get(url); ok {
			feeds = append(feeds, o.feedStatus(url, f))
		}
	}
	return feeds
}

func (o *Feeds) feedStatus(url string, f origin) web.FeedStatus {
	known, err := o.State(url)
	if err != nil {
		known.LastError = "what is known of this feed cannot be read: " + err.Error()
	}
	ref := feedring.FeedRef{URL: url, Publisher: o.Self}
	st := web.FeedStatus{
		URL: url, Fetched: o.present(url, &known), Theme: f.theme(), Provider: f.spec().Provider, Share: f.spec().Share, Weight: f.spec().Weight, Title: known.Title,
		LastFetch: wholeSecond(known.LastFetch), LastOK: wholeSecond(known.LastSuccess), NextFetch: wholeSecond(known.NextFetch),
		Error: known.LastError, Private: known.Private, Gone: known.Gone && known.NextFetch.IsZero(), Fixed: f.fixed, File: f.file(),
	}
	if f.carried() > 0 {
		st.Carried = time.Unix(int64(f.carried()), 0).UTC()
	}
	if known.Omitted > 0 {
		st.Taken, st.In = document.MaxItems, document.MaxItems+known.Omitted
	}
	if st.Gone {
		st.Error += ": it is fetched no more, until it is pinged or added again"
	}
	if t := o.assignments.of(url).FetchAssignment; t.Mirrors || t.By != "" && t.Slot == 0 {
		st.FetchedBy = t.By
		if t.Slots > 1 {
			st.Turn, st.Turns = t.Slot, t.Slots
		}
	}
	if refusal := o.OptOuts.Refusal(url); refusal != nil && f.bindable() {
		st.OptedOut = errors.Is(refusal, web.ErrOptedOut)
		st.Withheld = errors.As(refusal, new(*web.RemovedError)) || errors.As(refusal, new(*web.ReaderError))
		st.NextFetch, st.FetchedBy, st.Error = time.Time{}, "", refusal.Error()
	} else if o.assignments.fetchedElsewhere(f.spec()) {
		st.Rests, st.NextFetch, st.Error = true, time.Time{}, ""
	}
	if n, err := o.Store.Current(ref); err != nil {
		o.Log.Warn("the entries of a feed could not be counted", "url", url, "err", err)
	} else {
		st.Entries = n
	}
	if known.Feedring != "" {
		st.Join, st.SitePeer = o.parts.Finder.Joinable(url, known.Feedring)
	}
	if f.theme() != "" {
		st.VouchedBy = o.VouchedBy(f.theme(), ref)
		st.Front, st.Readers = o.parts.Subscribers.FeedAddress(url), o.Cache.Readers(url)
	}
	return st
}

// wholeSecond is a time as it is told to people and programs.
func wholeSecond(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }

// Add keeps feeds and fetches them.
func (o *Feeds) Add(ctx context.Context, specs []feedring.FeedSpec, titles []string) []web.Added {
	said := make([]web.Added, len(specs))
	var places []int
	var sound []feedring.FeedSpec
	var named []string
	for i, spec := range specs {
		if said[i].Err = o.Refuse(spec); said[i].Err == nil {
			places, sound = append(places, i), append(sound, spec)
			if len(titles) > 0 {
				named = append(named, titles[i])
			}
		}
	}
	returns := make([]bool, len(sound))
	for j, spec := range sound {
		known, _ := o.recognise(spec)
		returns[j] = o.hasHistory(known)
	}
	restored := false
	for j, added := range o.addAll(ctx, sound, named) {
		said[places[j]] = added
		restored = restored || returns[j] && added.Err == nil && !added.Known
	}
	if restored {
		o.parts.Personal.Restore()
	}
	return said
}

// hasHistory reports whether a private feed has entries here of an earlier time, which
// no fetch finds again.
func (o *Feeds) hasHistory(spec feedring.FeedSpec) bool {
	h, ok := o.Store.Head(feedring.FeedRef{URL: spec.URL, Publisher: o.Self})
	return ok && h.Private && spec.Theme == ""
}

// Refuse returns an error for a feed that this peer would never fetch or read. A
// name may still turn out to lead to a private address.
func (o *Feeds) Refuse(spec feedring.FeedSpec) error {
	u, err := url.Parse(spec.URL)
	if err == nil && !o.AllowPrivate && safehttp.IsPrivateHost(u.Hostname()) {
		err = &web.PrivateAddressError{URL: spec.URL, Host: u.Hostname()}
	}
	if err == nil && spec.Theme != "" {
		if err = cmp.Or(o.OptOuts.Bars(), o.Identity.Yields()); err != nil {
			err = fmt.Errorf("%s was not added: %w", spec.URL, err)
		}
	}
	if err != nil || spec.File == "" {
		return err
	}
	var wrong *files.NoFileError
	if errors.As(files.Check(spec.File), &wrong) {
		return &web.NoFileError{URL: spec.URL, Path: wrong.Path, Folder: wrong.Folder}
	}
	return nil
}

// Remove forgets a feed.
func (o *Feeds) Remove(ctx context.Context, url string) error {
	url = o.FirstAddress(url)
	err := o.remove(ctx, url)
	if err == nil {
		o.parts.Personal.Withdraw(url)
		o.parts.Subscribers.FeedChanged(url)
		o.parts.Subscribers.HubNamed(url, "", "")
	}
	return err
}

// Status is of one feed.
func (o *Feeds) Status(url string) (web.FeedStatus, error) {
	url = o.FirstAddress(url)
	f, ok := o.get(url)
	if !ok {
		return web.FeedStatus{}, notOurs(url)
	}
	return o.feedStatus(url, f), nil
}

// Knows reports whether a feed is there already, or was: then its address was
// fetched.
func (o *Feeds) Knows(spec feedring.FeedSpec) bool {
	if _, ok := o.get(o.FirstAddress(spec.URL)); ok {
		return true
	}
	st, err := o.kept(spec.URL)
	return err == nil && !st.LastSuccess.IsZero()
}
