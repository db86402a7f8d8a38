package client_test

import (
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client"
	"github.com/feedring/feedring/internal/wire"
)

// gone is a cache that has dropped entries of one feed, whose publisher is
// away, beside another publisher.
type gone struct {
	w                 *world
	cache, away, here *fakePeer
	gap               feedring.FeedRef
	found             atomic.Int64 // finals
	listed            atomic.Bool  // the publisher that is away is named all the same
}

func newGone(t *testing.T) *gone {
	w := newWorld(t)
	g := &gone{w: w, cache: w.peer(2), away: w.peer(3), here: w.peer(4)}
	g.gap = feedring.FeedRef{URL: "https://news.example/feed", Publisher: g.away.id}
	g.cache.final = g.final
	return g
}

// final finds the cache for what is fresh, and publishers for what is not.
func (g *gone) final(ask wire.Ask) feedring.Final {
	g.found.Add(1)
	if ask.Query.Since.IsZero() || time.Since(ask.Query.Since) < 24*time.Hour {
		return g.w.answers(themes{"news": {g.cache}})(ask)
	}
	f := g.w.answers(themes{"news": {g.here}})(ask)
	f.Grants[0].Own = true
	f.Status, f.Missing = feedring.Incomplete, []string{"news/news.example"}
	g.here.change(func(p *fakePeer) {
		if p.down {
			f.Grants = nil
		}
	})
	if g.listed.Load() {
		away := g.w.answers(themes{"news": {g.away}})(ask).Grants[0]
		away.Own = true
		f.Status, f.Missing, f.Grants = feedring.Answered, nil, append(f.Grants, away)
	}
	return f
}

// drop takes the entries of the feed up to a title from the cache.
func (g *gone) drop(through string) {
	g.cache.change(func(p *fakePeer) {
		log := g.w.logs["news"]
		last := slices.IndexFunc(log, func(it item) bool { return it.entry.Title == through })
		var kept []item
		for i, it := range log {
			if it.entry.Ref() != g.gap || i > last {
				kept = append(kept, it)
			}
		}
		g.w.logs["news"] = kept
		p.absent = func(c feedring.Cursor) []feedring.FeedRef {
			if at, ok := c[g.gap]; ok && at.Sequence < log[last].entry.Position.Sequence {
				return []feedring.FeedRef{g.gap}
			}
			return nil
		}
	})
}

// A feed whose entries are gone everywhere while its publisher is away is gone
// on with after a while, from where there is something; others are not held up,
// nothing is shown twice, and the reader is told of that feed alone. Where the
// peer that refuses names no feed, it is told of each whose publisher is away.
func TestFollowGivesUpGap(t *testing.T) {
	for _, c := range []struct {
		alone bool // the other publisher is away too
		names bool // the peer that refuses says what it lacks
		gaps  int
	}{{false, false, 1}, {true, false, 2}, {false, true, 1}, {true, true, 1}} {
		synctest.Test(t, func(t *testing.T) {
			g := newGone(t)
			g.w.publish(g.away, "news", "a1")
			g.w.publish(g.here, "news", "h1")
			told := make(chan client.Gap, 8)
			o := client.FollowOptions{Gap: func(gap client.Gap) { told <- gap }}
			r := follow(t, g.w.client(g.cache), feedring.Query{Theme: "news"}, o, nil)
			rest(time.Second)
			g.cache.kill()
			g.here.change(func(p *fakePeer) { p.down = c.alone })
			g.w.publish(g.away, "news", "a2")
			g.w.publish(g.away, "news", "a3")
			g.drop("a2")
			g.cache.change(func(p *fakePeer) { p.down, p.names = false, c.names })
			rest(30 * time.Second)
			if len(told) != 0 {
				t.Fatalf("given up at once: %v", <-told)
			}
			rest(5 * time.Minute)
			var gaps []client.Gap
			for range len(told) {
				gaps = append(gaps, <-told)
			}
			want := client.Gap{Theme: "news", Feed: g.gap, After: feedring.Position{Epoch: 1, Sequence: 1}}
			if !slices.Contains(gaps, want) || len(gaps) != c.gaps {
				t.Errorf("%+v: gaps: %+v", c, gaps)
			}
			g.w.publish(g.here, "news", "h2")
			g.w.publish(g.away, "news", "a4")
			rest(time.Second)
			r.wants(t, "h1", "a1", "a3", "h2", "a4")
			found := g.found.Load()
			rest(time.Hour)
			if more := g.found.Load() - found; more != 0 {
				t.Errorf("it goes on searching: %d times in an hour", more)
			}
			r.end()
		})
	}
}

// A publisher that comes back in time fills the gap.
func TestFollowWaitsForPublisher(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGone(t)
		g.w.publish(g.away, "news", "a1")
		o := client.FollowOptions{Gap: func(gap client.Gap) { t.Errorf("given up: %v", gap) }}
		r := follow(t, g.w.client(g.cache), feedring.Query{Theme: "news"}, o, nil)
		rest(time.Second)
		g.cache.kill()
		g.w.publish(g.away, "news", "a2")
		g.w.publish(g.away, "news", "a3")
		log := slices.Clone(g.w.logs["news"])
		g.drop("a2")
		g.cache.change(func(p *fakePeer) { p.down = false })
		rest(20 * time.Second)
		g.cache.change(func(p *fakePeer) {
			g.w.logs["news"] = log
			p.absent = nil
		})
		rest(2 * time.Minute)
		r.wants(t, "a1", "a2", "a3")
		r.end()
	})
}

// A publisher that its group still names, but that this client cannot reach, is
// waited for no longer than one that is away.
func TestFollowGivesUpUnreached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGone(t)
		g.w.publish(g.away, "news", "a1")
		told := make(chan client.Gap, 8)
		o := client.FollowOptions{Gap: func(gap client.Gap) { told <- gap }}
		r := follow(t, g.w.client(g.cache), feedring.Query{Theme: "news"}, o, nil)
		rest(time.Second)
		g.cache.kill()
		g.away.kill()
		g.listed.Store(true)
		g.w.publish(g.away, "news", "a2")
		g.w.publish(g.away, "news", "a3")
		g.drop("a2")
		g.cache.change(func(p *fakePeer) { p.down = false })
		rest(30 * time.Second)
		if len(told) != 0 {
			t.Fatalf("given up at once: %v", <-told)
		}
		rest(5 * time.Minute)
		want := client.Gap{Theme: "news", Feed: g.gap, After: feedring.Position{Epoch: 1, Sequence: 1}}
		if len(told) != 1 || <-told != want {
			t.Errorf("%d more gaps", len(told))
		}
		r.wants(t, "a1", "a3")
		r.end()
	})
}
