package origins

import (
	"context"
	"errors"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/origin/fetch"
	"github.com/feedring/feedring/internal/origin/watch"
	"github.com/feedring/feedring/node/internal/publish"
)

// Changed is called by the watcher with new entries. An error makes the
// watcher find them again.
func (o *Feeds) Changed(ctx context.Context, url string, entries []feedring.Entry, next fetch.State) error {
	o.mu.Lock()
	f := o.feeds.Get(url)
	o.mu.Unlock()
	if f == nil {
		return errors.New("the feed was removed")
	}
	if f.bindable() {
		if err := o.OptOuts.MayPublish(ctx, url, next.NoMirrors); err != nil {
			return watch.ReportedError{Err: err} // by optouts
		}
	}
	err := o.publish(ctx, f.spec(), o.news(f, entries))
	o.Cache.Keep(url)
	if err == nil {
		err = o.put(context.WithoutCancel(ctx), url, next)
	}
	if o.Storage.Refused(time.Now(), err) || errors.Is(err, publish.ErrElsewhere) {
		return watch.ReportedError{Err: err} // by storage, by tellPresence
	}
	return err
}

// FetchEnded is called by the watcher after each fetch.
func (o *Feeds) FetchEnded(url string, st fetch.State) {
	st = o.placed(url, st) // it may have moved meanwhile
	o.Cache.Keep(url)
	o.Cache.Plan(url, st.NextFetch)
	o.Cache.Present(url, o.present(url, &st))
	o.mu.Lock()
	f := o.feeds.Get(url)
	if f == nil {
		o.mu.Unlock()
		return
	}
	public := f.theme() != ""
	renamed := public && o.titles[url] != publicTitle(&st)
	if public {
		o.looks.Add(1)
		o.call(url, publicTitle(&st))
	}
	f.failing = st.LastError != ""
	due := o.remembers(f, &st)
	o.mu.Unlock()
	if due {
		if err := o.save(context.Background(), url); err != nil {
			o.Log.Warn("what is known of a feed was not saved: its entries are told apart again after a restart", "url", url, "err", err)
			o.forgetSome()
		}
	}
	if renamed {
		o.Offers.Soon()
	}
	if public {
		o.assignments.fetchEnded(f.spec(), &st)
		o.claim(f)
	}
	if public && st.Failures == 0 && !st.Refused {
		if f.bindable() {
			o.OptOuts.FeedRead(url, st.NoMirrors)
		}
		o.parts.Subscribers.HubNamed(url, st.Hub, st.Self)
	}
}

// publicTitle is the title that a feed gives itself: what somebody's list calls it is
// not for others.
func publicTitle(st *fetch.State) string {
	if st.LastSuccess.IsZero() {
		return ""
	}
	return st.Title
}

// publish stores new entries of an own feed, and has its subscribers told, unless
// all are history.
func (o *Feeds) publish(ctx context.Context, spec feedring.FeedSpec, entries []feedring.Entry) error {
	err := o.parts.Publisher.Publish(ctx, spec, entries)
	if err == nil && spec.Theme != "" {
		if anyNews(entries) || o.Mirrors(spec.URL) != nil {
			o.parts.Subscribers.FeedChanged(spec.URL)
		}
		o.parts.Subscribers.FeedPublished(spec.URL)
	}
	return err
}
