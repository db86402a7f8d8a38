package orphans

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
	"github.com/feedring/feedring/group/internal/hash"
)

// offers is who has one feed in a row.
type offers struct {
	owners   []feedring.PeerID // who are away, or left in good order
	carriers []feedring.PeerID // others who are there and carry it
	gone     bool              // some of the owners had added it
	there    bool              // somebody who is there offers it, this peer included
	carried  uint64            // the first second since when somebody says that it carries it; 0: nobody does
}

// survey lists the offers of the feeds that nobody who is there offers, and of those that are followed already.
func (k *Keeper) survey() map[string]*offers {
	all, x := map[string]*offers{}, k.group.Index()
	for i := 0; i < len(x.Feeds); {
		url := x.Feeds[i].Ref.URL
		run := x.Offers(url)
		i += len(run)
		if o := k.read(run); k.feeds[url] != nil || !o.there && len(o.owners) > 0 {
			all[url] = o
		}
	}
	for _, r := range x.Left {
		for j := range r.Feeds {
			f := &r.Feeds[j]
			if r.NamedBySite(f.URL) {
				continue
			}
			o := all[f.URL]
			if o == nil {
				o = k.read(x.Offers(f.URL))
			}
			if !o.there || k.feeds[f.URL] != nil {
				o.owners, all[f.URL] = append(o.owners, r.Peer), o
				o.says(f.Carried)
				o.gone = o.gone || f.Carried == 0
			}
		}
	}
	return all
}

// read reads the offers of one feed in the rows of those that did not leave. One who is new here may offer what others are
// gone from to keep volunteers from it: that one counts only if it offered the feed before.
func (k *Keeper) read(run []catalogue.Publication) *offers {
	o := &offers{}
	for _, f := range run {
		switch p := f.Ref.Publisher; {
		case f.Away:
			o.owners, o.gone = append(o.owners, p), o.gone || f.Carried == 0
		case f.Carried == 0:
			o.there = o.there || p == k.cfg.Self || k.group.Known(p) || k.offered(f.Ref)
		case p != k.cfg.Self:
			o.carriers = append(o.carriers, p)
		default:
			continue // it knows that itself
		}
		o.says(f.Carried)
	}
	return o
}

// offered reports whether a peer is remembered as one that offered a feed.
func (k *Keeper) offered(ref feedring.FeedRef) bool {
	f := k.feeds[ref.URL]
	return f != nil && slices.Contains(f.owners, ref.Publisher)
}

func (o *offers) says(carried uint64) {
	if carried > 0 && (o.carried == 0 || carried < o.carried) {
		o.carried = carried
	}
}

// circle lays the volunteers that are there.
func (k *Keeper) circle() catalogue.Circle {
	peers := []feedring.PeerID{k.cfg.Self}
	for _, p := range k.group.Index().Present {
		if m := k.group.Member(p); m.Row != nil && m.Row.Volunteer {
			peers = append(peers, p)
		}
	}
	return catalogue.LayCircle(peers)
}

// candidate is a feed that this peer may carry.
type candidate struct {
	url   string
	row   *catalogue.Row // of who offered it
	since time.Time
	group string // whose feeds go by turns: of one prefix, or of one peer without any
	turn  int
	order uint64
}

// candidate returns a feed that this peer is to carry from now on, as somebody who is known offered it, and of which this
// peer holds something: what was never published here cannot go on. Otherwise it returns when to look again.
func (k *Keeper) candidate(circle catalogue.Circle, url string, f *orphan, o *offers) (c candidate, again time.Time) {
	now, place := k.group.Now(), circle.Place(url, k.cfg.Self, near)
	i := slices.IndexFunc(o.owners, k.group.Known)
	if i < 0 || place == near || len(o.carriers) >= Carriers || !now.Before(f.since.Add(carryFor)) || !k.group.Holds(url) {
		return c, time.Time{}
	}
	if again = f.short.Add(time.Duration(max(1, place)) * k.wait()); now.Before(again) {
		return c, again
	}
	by := o.owners[i]
	c = candidate{url: url, row: k.group.Member(by).Row, since: f.since, group: cmp.Or(string(k.group.Prefix(by)), string(by)), order: hash.Of(string(k.cfg.Self), url)}
	return c, time.Time{}
}

// carry is how a feed is carried.
func (c *candidate) carry() feedring.Feed {
	f := feedring.Feed{URL: c.url}
	if i := slices.IndexFunc(c.row.Feeds, func(f feedring.Feed) bool { return f.URL == c.url }); i >= 0 {
		f = c.row.Feeds[i]
	}
	f.Epoch, f.Carried = 0, uint64(max(1, c.since.Unix()))
	return f
}

// take carries as many of the feeds that are due as there is room for. Their publishers' networks take turns, so that who
// offered very many leaves room for the others. Each volunteer begins with others, so that together they carry more.
func (k *Keeper) take(due []candidate) {
	if len(due) == 0 || len(k.told) >= MaxCarried {
		return
	}
	count, size, own, ownSize, sites := 0, 0, 0, 0, map[string]int{}
	for _, f := range k.feeds {
		if f.carried {
			count, size = count+1, size+catalogue.FeedSize(&f.feed)
			sites[siteOf(f.feed.URL)]++
		}
	}
	row := k.group.Member(k.cfg.Self).Row
	for i := range row.Feeds {
		if row.Feeds[i].Carried == 0 {
			own, ownSize = own+1, ownSize+catalogue.FeedSize(&row.Feeds[i])
		}
	}
	if own > maxOwn || ownSize > maxOwnBytes {
		return
	}
	slices.SortFunc(due, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.url, b.url))
	})
	turns := map[string]int{}
	for i := range due {
		due[i].turn = turns[due[i].group]
		turns[due[i].group]++
	}
	slices.SortStableFunc(due, func(a, b candidate) int { return cmp.Compare(a.turn, b.turn) })
	for i := range due {
		site := siteOf(due[i].url)
		if sites[site] >= maxOfSite {
			continue
		}
		f := due[i].carry()
		if size += catalogue.FeedSize(&f); count >= MaxCarried || size > maxBytes {
			return
		}
		count++
		sites[site]++
		o := k.feeds[f.URL]
		o.carried, o.feed = true, f
	}
}

// siteOf is the last two labels of a feed's host: somebody who made feeds up can have as many names below them as they like.
func siteOf(url string) string {
	name := feedring.HostOf(url).Name()
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		return name[strings.LastIndexByte(name[:i], '.')+1:]
	}
	return name
}
