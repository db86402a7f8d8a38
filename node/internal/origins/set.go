package origins

import (
	"slices"

	"github.com/feedring/feedring"
)

// set makes a feed this peer's.
func (o *Feeds) set(f *origin) {
	o.feeds.Put(f)
	if f.more == nil || f.more.theme == "" && f.more.file == "" {
		delete(o.few, f.url)
		return
	}
	if o.few == nil {
		o.few = make(map[string]*origin)
	}
	o.few[f.url] = f
}

// call gives a public feed its title, as the last fetch found it.
func (o *Feeds) call(url, title string) {
	if o.titles == nil {
		o.titles = make(map[string]string)
	}
	o.titles[url] = title
}

// title is that of a public feed.
func (o *Feeds) title(url string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.titles[url]
}

// count returns how many feeds are public, and how many private.
func (o *Feeds) count() (public, private int) {
	for _, f := range o.few {
		if f.theme() != "" {
			public++
		}
	}
	return public, o.feeds.Len() - public
}

// get returns a feed as it is now.
func (o *Feeds) get(url string) (origin, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if f := o.feeds.Get(url); f != nil {
		return *f, true
	}
	return origin{}, false
}

// urls lists all feeds, in order.
func (o *Feeds) urls() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	urls := make([]string, 0, o.feeds.Len())
	for f := range o.feeds.All() {
		urls = append(urls, f.url)
	}
	slices.Sort(urls)
	return urls
}

// public copies the feeds that are published.
func (o *Feeds) public() map[string]origin {
	o.mu.Lock()
	defer o.mu.Unlock()
	public := make(map[string]origin, len(o.few))
	for url, f := range o.few {
		if f.theme() != "" {
			public[url] = *f
		}
	}
	return public
}

// Spec is what was asked for of a feed; false: it is not one of this peer's.
func (o *Feeds) Spec(url string) (feedring.FeedSpec, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if f := o.feeds.Get(url); f != nil {
		return f.spec(), true
	}
	return feedring.FeedSpec{}, false
}

// File is what is read instead of a feed's URL; empty: nothing is.
func (o *Feeds) File(url string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if f := o.feeds.Get(url); f != nil {
		return f.file()
	}
	return ""
}

// Weight implements watch.Weights.
func (o *Feeds) Weight(url string) (fixed float64, readers int) {
	o.mu.Lock()
	f := o.feeds.Get(url)
	if f != nil && f.more != nil {
		fixed = f.more.weight
	}
	o.mu.Unlock()
	if fixed > 0 {
		return fixed, 0
	}
	return 0, o.parts.Subscribers.WeighedReaders(url)
}

// Files are those of all feeds that have one.
func (o *Feeds) Files() map[string]string {
	o.mu.Lock()
	defer o.mu.Unlock()
	files := make(map[string]string)
	for url, f := range o.few {
		if file := f.file(); file != "" {
			files[url] = file
		}
	}
	return files
}

// FileChanged fetches a feed; one that is being removed is not fetched.
func (o *Feeds) FileChanged(url string) { _, _ = o.watcher.Fetch(url) }

// Private reports whether a private feed is among this peer's feeds now.
func (o *Feeds) Private(url string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	f := o.feeds.Get(url)
	return f != nil && f.theme() == ""
}

// PrivateRefs is not nil.
func (o *Feeds) PrivateRefs() []feedring.FeedRef {
	refs := []feedring.FeedRef{}
	o.mu.Lock()
	defer o.mu.Unlock()
	for f := range o.feeds.All() {
		if f.theme() == "" {
			refs = append(refs, feedring.FeedRef{URL: f.url, Publisher: o.Self})
		}
	}
	return refs
}

// OffersPrivately reports whether a private feed has a provider of that name.
func (o *Feeds) OffersPrivately(provider string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for f := range o.feeds.All() {
		if f.theme() == "" && f.spec().Provider.Matches(provider) {
			return true
		}
	}
	return false
}

// WhileOffered calls f with what this peer offers to each group. No feed is added or
// removed meanwhile.
func (o *Feeds) WhileOffered(f func(map[feedring.Theme][]feedring.Feed)) {
	o.changing.Lock()
	defer o.changing.Unlock()
	f(o.Offered())
}
