package origins

import (
	"math"
	"strings"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/keyed"
)

// origin is one feed, of which there may be a million: 32 bytes and the address.
// Its state is on disk, and in dirtyStates while fetches come too often to write each down.
type origin struct {
	url  string
	more *more // nil: a private feed whose provider is a part of its address

	at, length uint8 // of the provider in url, where there is no more

	fixed   bool // of the configuration
	moved   bool // its log lacks what fetches found before: what they left is not gone on from
	adopted bool // of some entries those of a mirror stand for its own, since this peer started
	failing bool // as the last fetch found
	revived bool // added again though its origin took it away, or withheld, and not fetched since
}

// more is what most private feeds have not. It does not change.
type more struct {
	provider feedring.Provider
	theme    feedring.Theme
	share    feedring.Share
	file     string
	weight   float64 // 0: by its readers
	carried  uint64  // for others, since nobody has offered it since that Unix second; 0: its owner added it
}

func newOrigin(spec feedring.FeedSpec) *origin {
	f := &origin{url: spec.URL}
	at := strings.Index(spec.URL, string(spec.Provider))
	if at >= 0 && at <= math.MaxUint8 && len(spec.Provider) <= math.MaxUint8 && spec.Theme == "" && spec.Share == "" && spec.File == "" && spec.Weight == 0 {
		f.at, f.length = uint8(at), uint8(len(spec.Provider))
		return f
	}
	f.more = &more{provider: spec.Provider, theme: spec.Theme, share: spec.Share, file: spec.File, weight: spec.Weight}
	return f
}

// newFeeds is a table of feeds by their addresses, empty.
func newFeeds() *keyed.Set[string, origin] {
	return keyed.New(func(f *origin) string { return f.url })
}

// spec is what was asked for.
func (f *origin) spec() feedring.FeedSpec {
	if f.more == nil {
		return feedring.FeedSpec{URL: f.url, Provider: feedring.Provider(f.url[f.at : int(f.at)+int(f.length)])}
	}
	return feedring.FeedSpec{URL: f.url, Provider: f.more.provider, Theme: f.more.theme, Share: f.more.share, File: f.more.file, Weight: f.more.weight}
}

// theme is empty for a private feed.
func (f *origin) theme() feedring.Theme {
	if f.more == nil {
		return ""
	}
	return f.more.theme
}

// file is what is read instead of the address; empty: nothing is.
func (f *origin) file() string {
	if f.more == nil {
		return ""
	}
	return f.more.file
}

// carried is since when a feed is carried for others; 0: it is not.
func (f *origin) carried() uint64 {
	if f.more == nil {
		return 0
	}
	return f.more.carried
}
