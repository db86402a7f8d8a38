package node

import (
	"maps"
	"slices"
	"strings"

	"github.com/feedring/feedring"
)

// origin is one feed, of which there may be a million. Its state is on disk, and
// here while looks come too often to write each down.
type origin struct {
	spec    feedring.FeedSpec
	fixed   bool    // of the configuration
	moved   bool    // its log lacks what looks found before: what they left is not gone on from
	adopted bool    // of some entries those of a mirror stand for its own, since this peer started
	failing bool    // as the last look found
	revived bool    // added again though its origin took it away, and not looked at since
	title   string  // of a public feed
	saved   int64   // Unix nanoseconds of the last look that is on disk; 0: none
	recent  *recent // nil: all is on disk
}

// set makes a feed this peer's.
func (o *origins) set(f *origin) {
	if strings.Contains(f.spec.URL, string(f.spec.Provider)) { // the same bytes once
		at := strings.Index(f.spec.URL, string(f.spec.Provider))
		f.spec.Provider = feedring.Provider(f.spec.URL[at : at+len(f.spec.Provider)])
	}
	o.feeds[f.spec.URL] = f
	if f.spec.Theme == "" && f.spec.File == "" {
		delete(o.few, f.spec.URL)
		return
	}
	if o.few == nil {
		o.few = make(map[string]*origin)
	}
	o.few[f.spec.URL] = f
}

// count returns how many feeds are public, and how many private.
func (o *origins) count() (public, private int) {
	for _, f := range o.few {
		if f.spec.Theme != "" {
			public++
		}
	}
	return public, len(o.feeds) - public
}

// get returns a feed as it is now.
func (o *origins) get(url string) (origin, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if f, ok := o.feeds[url]; ok {
		return *f, true
	}
	return origin{}, false
}

// urls lists all feeds, in order.
func (o *origins) urls() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Sorted(maps.Keys(o.feeds))
}

// public copies the feeds that are published.
func (o *origins) public() map[string]origin {
	o.mu.Lock()
	defer o.mu.Unlock()
	public := make(map[string]origin, len(o.few))
	for url, f := range o.few {
		if f.spec.Theme != "" {
			public[url] = *f
		}
	}
	return public
}

// spec is what was asked for of a feed; false: it is not one of this peer's.
func (o *origins) spec(url string) (feedring.FeedSpec, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if f, ok := o.feeds[url]; ok {
		return f.spec, true
	}
	return feedring.FeedSpec{}, false
}

// file is what is read instead of a feed's URL; empty: nothing is.
func (o *origins) file(url string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if f, ok := o.feeds[url]; ok {
		return f.spec.File
	}
	return ""
}

// files are those of all feeds that have one.
func (o *origins) files() map[string]string {
	o.mu.Lock()
	defer o.mu.Unlock()
	files := make(map[string]string)
	for url, f := range o.few {
		if f.spec.File != "" {
			files[url] = f.spec.File
		}
	}
	return files
}

// private reports whether a private feed is among this peer's feeds now.
func (o *origins) private(url string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	f, ok := o.feeds[url]
	return ok && f.spec.Theme == ""
}

// privateRefs is not nil.
func (o *origins) privateRefs() []feedring.FeedRef {
	refs := []feedring.FeedRef{}
	o.mu.Lock()
	defer o.mu.Unlock()
	for url, f := range o.feeds {
		if f.spec.Theme == "" {
			refs = append(refs, feedring.FeedRef{URL: url, Publisher: o.self})
		}
	}
	return refs
}
