package preview

import (
	"context"
	"net/url"
	"sync"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/web"
)

// What a list of feeds may take to be fetched before its feeds are added: as
// many hosts at once as the watcher asks, and no host for long, so that a few that
// hang do not hold back all others.
const (
	findAllWithin = 6 * time.Second
	findEach      = 3 * time.Second
	findAtOnce    = 32
)

// FindFeeds looks for those of a list.
func (f *Finder) FindFeeds(ctx context.Context, specs []feedring.FeedSpec) []web.Sought {
	ctx, cancel := context.WithTimeout(ctx, findAllWithin)
	defer cancel()
	said := make([]web.Sought, len(specs))
	hosts := make(chan []int)
	var workers sync.WaitGroup
	for range findAtOnce {
		workers.Go(func() {
			for places := range hosts {
				for _, i := range places {
					said[i] = f.findOf(ctx, specs[i])
				}
			}
		})
	}
	first := make(map[string]int) // the place of each address: lists name a feed in each of its folders
	for _, places := range byHost(specs, first) {
		hosts <- places
	}
	close(hosts)
	workers.Wait()
	for i, spec := range specs {
		said[i] = said[first[spec.URL]]
	}
	return said
}

// byHost returns the places of feeds, those of one host together: they are asked
// for one after the other, and each address once, at its first place.
func byHost(specs []feedring.FeedSpec, first map[string]int) [][]int {
	var all [][]int
	at := make(map[string]int)
	for i, spec := range specs {
		if _, twice := first[spec.URL]; twice {
			continue
		}
		first[spec.URL] = i
		host := spec.URL
		if u, err := url.Parse(spec.URL); err == nil {
			host = u.Host
		}
		j, ok := at[host]
		if !ok {
			j, at[host] = len(all), len(all)
			all = append(all, nil)
		}
		all[j] = append(all[j], i)
	}
	return all
}

// findOf looks for one feed of a list. Once the time is over none is looked for.
func (f *Finder) findOf(ctx context.Context, spec feedring.FeedSpec) web.Sought {
	if ctx.Err() != nil || f.mirrored(spec) {
		return web.Sought{Found: web.Found{URL: spec.URL, Unasked: ctx.Err() != nil}}
	}
	within, cancel := context.WithTimeout(ctx, findEach)
	defer cancel()
	found, err := f.find(within, spec)
	return web.Sought{Found: found, Err: err}
}

// mirrored reports whether another peer of the group offers a feed: then somebody
// fetches it already.
func (f *Finder) mirrored(spec feedring.FeedSpec) bool {
	group, in := f.cfg.Views.View().Memberships[spec.Theme]
	if !in {
		return false
	}
	for _, m := range group.Members {
		for _, offered := range m.Row.Feeds {
			if m.Row.Peer != f.cfg.Self && offered.URL == spec.URL {
				return true
			}
		}
	}
	return false
}
