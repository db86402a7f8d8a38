package origins

import (
	"context"
	"fmt"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/origin/fetch"
	"github.com/feedring/feedring/internal/web"
	"github.com/feedring/feedring/node/internal/storage"
)

// FirstAddress is the first address of one of this peer's feeds, by any that it has or
// had.
func (o *Feeds) FirstAddress(url string) string {
	o.mu.Lock()
	own := o.feeds.Get(url) != nil
	o.mu.Unlock()
	if own {
		return url
	}
	return o.addresses.FirstOf(url)
}

// recognise returns the spec of the feed that is meant by one of its addresses.
// moves is set where that is the https form of a feed that was known by http: then
// the feed is to be moved there.
func (o *Feeds) recognise(spec feedring.FeedSpec) (known feedring.FeedSpec, moves bool) {
	first := o.FirstAddress(spec.URL)
	if first == spec.URL {
		if first = o.byHTTP(spec.URL); first == "" {
			return spec, false
		}
		moves = true
	}
	if spec.Provider == feedring.ProviderOf(spec.URL) { // nobody chose another
		spec.Provider = feedring.ProviderOf(first)
		if f, ok := o.get(first); ok {
			spec.Provider = f.spec().Provider
		} else if at, ok := o.addresses.Of(first); ok {
			spec.Provider = at.Provider
		}
	}
	spec.URL = first
	return spec, moves
}

// byHTTP is the feed that this peer has or had at the same address by http; empty:
// none, or the address has a history of its own.
func (o *Feeds) byHTTP(url string) string {
	plain := fetch.Downgrade(url)
	if plain == "" {
		return ""
	}
	first := o.FirstAddress(plain)
	if _, own := o.get(url); own || !o.has(first) || o.has(url) {
		return ""
	}
	return first
}

// has reports whether a feed is this peer's, or was.
func (o *Feeds) has(url string) bool {
	if _, ok := o.get(url); ok {
		return true
	}
	if _, ok := o.Store.Head(feedring.FeedRef{URL: url, Publisher: o.Self}); ok {
		return true
	}
	st, err := o.kept(url)
	return err == nil && !st.LastFetch.IsZero()
}

// placed is a state with the address to ask, and with nothing that a former one
// said. A feed that is read from a file is asked for nowhere.
func (o *Feeds) placed(url string, st fetch.State) fetch.State {
	st.URL = url
	if o.File(url) != "" {
		return st
	}
	at, _ := o.addresses.Of(url)
	return st.At(at.Present, at.Former)
}

// present is the address that the world finds a feed at now.
func (o *Feeds) present(url string, st *fetch.State) string {
	if at, ok := o.addresses.Of(url); ok && o.File(url) != "" {
		return at.Present
	}
	if st.URL == "" {
		return url
	}
	return st.Asked()
}

// OtherAddress is an address that people may know a feed by beside its first.
func (o *Feeds) OtherAddress(url string) string {
	if at, ok := o.addresses.Of(url); ok {
		return at.Present
	}
	return fetch.Upgrade(url)
}

// askAnew has a feed fetched where it is now.
func (o *Feeds) askAnew(url string) {
	o.watcher.Remove(url)
	o.watch(url)
	_, _ = o.watcher.Fetch(url) // or when it is its turn
	if st, err := o.State(url); err == nil {
		o.Cache.Present(url, o.present(url, &st))
	}
}

// Move gives a feed another address.
func (o *Feeds) Move(ctx context.Context, from, to string, force bool) (st web.FeedStatus, note string, err error) {
	url := o.FirstAddress(from)
	f, ok := o.get(url)
	if !ok {
		return st, "", notOurs(from)
	}
	known, err := o.State(url)
	if err != nil {
		return st, "", fmt.Errorf("%s was not moved: what is known of it cannot be read: %w", from, err)
	}
	if o.present(url, &known) == to && known.Address == "" {
		return o.feedStatus(url, f), "", nil
	}
	if err := o.refuseMove(url, from, to); err != nil {
		return st, "", err
	}
	if f.file() == "" && !force {
		if note, err = o.parts.Finder.PreviewMove(ctx, from, to); err != nil {
			return st, "", err
		}
	}
	o.changing.Lock()
	defer o.changing.Unlock()
	if f, ok = o.get(url); !ok {
		return st, "", notOurs(from)
	}
	if err := o.addresses.Move(ctx, o.Store, url, to, f.spec().Provider); err != nil {
		return st, "", storage.NotKept(from+" was not moved", err)
	}
	o.askAnew(url)
	o.parts.Subscribers.FeedChanged(url)
	return o.feedStatus(url, f), note, nil
}

// refuseMove returns an error for an address that a feed cannot have.
func (o *Feeds) refuseMove(url, from, to string) error {
	if other := o.FirstAddress(to); other != url {
		if _, ok := o.get(other); ok {
			return &web.MoveError{From: from, To: to}
		}
	}
	if err := o.Refuse(feedring.FeedSpec{URL: to}); err != nil {
		return &web.PrivateAddressError{From: from, URL: to}
	}
	return nil
}
