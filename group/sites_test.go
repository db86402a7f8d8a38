package group

import (
	"slices"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
)

// A feed that can no longer be asked about loses its word when that is too old,
// though the site goes on naming the publisher for another feed.
func TestVouchesExpireByFeed(t *testing.T) {
	m, err := New(Config{Theme: testTheme, Self: "p1", Refresh: time.Hour, Attempts: 3, Freshness: 24 * time.Hour}, State{}, testStart)
	if err != nil {
		t.Fatal(err)
	}
	const a, b = "https://a.lemonde.fr/rss", "https://b.lemonde.fr/rss"
	now, gone := testStart, testStart.Add(time.Hour)
	var todo []Input
	step := func(in Input) {
		for _, out := range m.Step(now, in) {
			switch out := out.(type) {
			case Persist:
				todo = append(todo, Persisted{Token: out.Token})
			case Check:
				known := out.Feed.URL == a || now.Before(gone)
				todo = append(todo, Checked{Feed: out.Feed, Vouched: known, Unknown: !known, Vouch: Vouch{Site: "lemonde.fr", Publisher: "p1"}})
			}
		}
	}
	words := func() []string {
		if v := m.me().row.Vouches; len(v) == 1 {
			return v[0].Feeds
		}
		return nil
	}
	step(Describe{Feeds: []feedring.Feed{{URL: a, Provider: "lemonde.fr"}, {URL: b, Provider: "lemonde.fr"}}})
	step(Establish{})
	both := 0
	for now.Sub(testStart) < 50*time.Hour {
		for len(todo) > 0 {
			in := todo[0]
			todo = todo[1:]
			step(in)
		}
		if slices.Equal(words(), []string{a, b}) {
			both++
			if age := now.Sub(testStart); age > catalogue.VouchAge+3*time.Hour {
				t.Fatalf("the word for a feed that was last seen in the first hour stands after %v", age)
			}
		}
		now = m.Deadline()
		step(Tick{})
	}
	if both == 0 || !slices.Equal(words(), []string{a}) {
		t.Errorf("in the end %v, and both %d times", words(), both)
	}
}

// A site that names nobody is asked often at first and once a day in the end,
// until somebody asks for a look.
func TestFailedSiteChecksBecomeRare(t *testing.T) {
	for _, refresh := range []time.Duration{time.Second, 10 * time.Second, 5 * time.Minute, 10 * time.Minute} {
		t.Run(refresh.String(), func(t *testing.T) { looksBecomeRare(t, refresh) })
	}
}

func looksBecomeRare(t *testing.T, refresh time.Duration) {
	c := newCluster(1)
	c.alter = func(cfg *Config) { cfg.Refresh = refresh }
	n := c.nodes[c.group(1)[0]]
	own := feedring.FeedRef{URL: n.feeds[0].URL, Publisher: n.id}
	c.run(3600 * refresh)
	looks := n.m.sites.Tries(own)
	c.step(n, CheckSites{})
	c.run(10 * refresh)
	if again := n.m.sites.Tries(own); looks > 40 || again == 0 || again >= looks {
		t.Errorf("%d looks in 3600 periods, then %d in ten", looks, again)
	}
}
