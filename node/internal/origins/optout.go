package origins

import (
	"context"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store"
)

// OptOuts tells which feeds this peer does not publish, because their publishers do not
// want to be mirrored.
type OptOuts interface {
	Withheld(url string) bool
	// Refusal is why a feed is withheld; nil: it is not.
	Refusal(url string) error
	// MayPublish takes in what a fetch found, and returns an error if its entries are
	// not to be published.
	MayPublish(ctx context.Context, url string, noMirrors bool) error
	// FeedRead takes in whether a feed that was read refuses mirrors.
	FeedRead(url string, noMirrors bool)
	// Bars is why this peer may publish no feed; nil: it may, now or once a site names it.
	Bars() error
	// Recheck asks anew about a feed that is withheld, and returns an error if it still is.
	Recheck(ctx context.Context, url string) error
}

// anybody may be mirrored.
type anybody struct{}

func (anybody) Withheld(string) bool                           { return false }
func (anybody) Refusal(string) error                           { return nil }
func (anybody) MayPublish(context.Context, string, bool) error { return nil }
func (anybody) FeedRead(string, bool)                          {}
func (anybody) Bars() error                                    { return nil }
func (anybody) Recheck(context.Context, string) error          { return nil }

// bindable reports whether a feed is published, and not read from a file: who has the
// file is no mirror.
func (f *origin) bindable() bool { return f.theme() != "" && f.file() == "" }

// withheld reports whether a feed is not published, because its publisher does not want
// that.
func (o *Feeds) withheld(f *origin) bool { return f.bindable() && o.OptOuts.Withheld(f.url) }

// Bindable lists the feeds that a publisher's word may bind.
func (o *Feeds) Bindable() (urls []string) {
	for url, f := range o.public() {
		if f.bindable() {
			urls = append(urls, url)
		}
	}
	return urls
}

// Free reports whether a feed is this peer's, and no publisher's word binds it: private
// ones, and files.
func (o *Feeds) Free(url string) bool {
	f, ok := o.get(url)
	return ok && !f.bindable()
}

// Address is where a feed is fetched.
func (o *Feeds) Address(url string) string {
	st, err := o.State(url)
	if err != nil {
		return url
	}
	return st.Asked()
}

// OptOutChanged begins or ceases to fetch and offer a feed, as it is withheld now.
func (o *Feeds) OptOutChanged(url string) {
	o.changing.Lock()
	defer o.changing.Unlock()
	f, ok := o.get(url)
	if !ok {
		return
	}
	if !o.withheld(&f) {
		if st, err := o.State(url); err == nil {
			o.serve(f.spec(), &st)
		}
		o.Offers.Now()
		return // the group says who fetches it
	}
	o.watcher.Remove(url)
	o.keepBackoff(&f)
	o.ceased(url)
	o.Cache.Withdraw(url)
	o.fetchFirst(url)
	o.Offers.Now()
	o.parts.Subscribers.FeedChanged(url)
	o.parts.Subscribers.HubNamed(url, "", "")
}

// Erase forgets what this peer published of a feed that is withheld. Its log begins
// anew above all positions that it had, which others may hold still.
func (o *Feeds) Erase(ctx context.Context, url string) error {
	o.changing.Lock()
	defer o.changing.Unlock()
	ref := feedring.FeedRef{URL: url, Publisher: o.Self}
	last := o.Store.LogHead(ref).Position
	if err := o.Store.Forget(ctx, ref); err != nil {
		return err
	}
	for _, key := range []string{feedState + url, feedKnown + url} {
		if err := o.Store.Delete(ctx, store.BucketFeed, key); err != nil {
			return err
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.recent.drop(url)
	if o.erased == nil {
		o.erased = make(map[string]uint64)
	}
	o.erased[url] = last.Epoch + 1
	return nil
}
