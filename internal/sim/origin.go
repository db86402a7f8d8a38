package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/sim/disk"
)

// origin is a site with one feed, which posts entries.
type origin struct {
	name     string
	url      string
	provider feedring.Provider
	theme    feedring.Theme
	names    feedring.PeerID // the peer that the site vouches for; empty: none
	posted   []*posted
	feeds    []*feed
	every    time.Duration // between entries, on average
}

type posted struct {
	id        int
	published time.Time
}

// feed is an origin as one node publishes it.
type feed struct {
	node     *node
	origin   *origin
	log      *disk.Log
	known    int   // entries that were published and noted
	promised []int // ids of those that were acknowledged
	was      []int // … before its node's store was lost
	busy     bool

	turn     group.FetchAssignment // who looks, as its machine last said
	mirrored bool                  // others published it too, since its node started
	adopted  bool                  // entries of others stand for its own, since then
	way      time.Duration         // to the origin; 0: unknown
	refused  bool                  // by the origin, for a while
	failures int                   // looks in a row
	vain     bool                  // its node takes its turns and never looks
	carried  uint64                // its node carries it for others since then, in Unix seconds; 0: it does not
	dropped  bool                  // … and does so no more
}

const window = 20 // entries that an origin shows

// publish has a node publish a feed of a theme, from a site of its own unless
// another publishes that address already.
func (w *World) publish(n *node, theme feedring.Theme, name string, every time.Duration) *feed {
	provider := feedring.Provider(name + ".example")
	url := "https://" + string(provider) + "/rss"
	var o *origin
	if i := slices.IndexFunc(w.origins, func(o *origin) bool { return o.url == url && o.theme == theme }); i >= 0 {
		o = w.origins[i]
	} else {
		o = &origin{name: name, url: url, provider: provider, theme: theme, every: every}
		w.origins = append(w.origins, o)
		w.postLater(o)
	}
	l := &disk.Log{Ref: feedring.FeedRef{URL: url, Publisher: n.id}, Index: len(w.logs), Theme: theme, Group: theme.Group(), Provider: provider}
	f := &feed{node: n, origin: o, log: l}
	o.feeds = append(o.feeds, f)
	w.logs, w.feeds = append(w.logs, l), append(w.feeds, f)
	w.byRef[l.Ref] = l
	if !slices.Contains(w.themes, theme) {
		w.themes = append(w.themes, theme)
	}
	return f
}

// offerOf is what a node publishes by the world's feeds.
func (w *World) offerOf(n *node) peer.Offer {
	o := peer.Offer{Addrs: []string{fmt.Sprintf("/ip4/10.0.%d.%d/udp/7377/quic-v1", n.index/250, n.index%250+1)},
		Feeds: map[feedring.Theme][]feedring.Feed{}, Read: n.reads, Volunteer: len(n.reads) > 0}
	for _, f := range w.feeds {
		if f.node == n && !f.dropped {
			o.Feeds[f.origin.theme] = append(o.Feeds[f.origin.theme],
				feedring.Feed{URL: f.origin.url, Title: string(f.origin.provider), Provider: f.origin.provider, Carried: f.carried})
		}
	}
	return o
}

func (w *World) postLater(o *origin) {
	wait := time.Duration(w.random.ExpFloat64() * float64(o.every))
	w.after(max(wait, time.Millisecond), func() {
		if w.quiet {
			return
		}
		w.post(o)
		w.postLater(o)
	})
}

// post makes entries, some of them with an old or a future date, and has every
// publisher find them when it looks.
func (w *World) post(o *origin) {
	for range 1 + w.random.IntN(2) {
		p := &posted{id: w.ids, published: began.Add(w.now)}
		w.ids++
		switch w.random.IntN(10) {
		case 0:
			p.published = p.published.Add(-w.between(0, 2*time.Hour))
		case 1:
			p.published = p.published.Add(time.Hour)
		}
		o.posted = append(o.posted, p)
	}
	for _, f := range o.feeds {
		w.lookSoon(f)
	}
	if w.shares() && w.often(8) {
		w.fetchNow(o)
	}
}

// look has a node look at its origin, and publish what is new there.
func (w *World) look(f *feed) {
	n, o := f.node, f.origin
	if f.busy || !n.runs() || w.rests(f) || f.vain || w.refusedBy(f) {
		return
	}
	f.known = max(f.known, len(o.posted)-window)
	fresh := w.fresh(f)
	if len(fresh) == 0 {
		f.known = len(o.posted)
		w.looked(f)
		return
	}
	b := &batch{id: n.nextID(), feed: f, entries: fresh}
	n.batches = append(n.batches, b)
	f.busy = true
	w.step(n, peer.In{Group: f.log.Group, Input: group.Publish{Batch: b.id, URL: o.url, Entries: len(b.entries)}})
	life := n.life
	w.after(20*time.Second, func() {
		if i := slices.Index(n.batches, b); n.life == life && i >= 0 { // it was given no positions
			n.batches = slices.Delete(n.batches, i, i+1)
			f.busy = false
			w.look(f)
		}
	})
}

// acked notes what was published.
func (f *feed) acked(entries []*posted) {
	f.promise(entries)
	last := entries[len(entries)-1]
	f.known = max(f.known, slices.Index(f.origin.posted, last)+1)
}

// fetchOrigins looks at all of a node's feeds, as it does when it starts. The
// note of what was published may not have been written.
func (w *World) fetchOrigins(n *node) {
	for _, f := range w.feeds {
		if f.node == n {
			f.busy = false
			f.known = max(0, f.known-w.random.IntN(3))
			w.after(w.between(100*time.Millisecond, 3*time.Second), func() { w.look(f) })
		}
	}
}
