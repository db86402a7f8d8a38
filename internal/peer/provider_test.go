package peer

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// A query for a provider that names no theme finds the provider in whichever
// groups it is, whoever is asked, and is unsatisfied only where it is in none.
func TestProviderOfAnyGroup(t *testing.T) {
	for name, routing := range map[string]Routing{"shortcut": Shortcut, "ring": RingOnly} {
		t.Run(name, func(t *testing.T) {
			const groups = 5
			c := newCluster(t)
			c.cfg.Routing = routing
			want := map[string][]feedring.Theme{"nobody.org": nil}
			for i := range groups {
				theme, own := feedring.Theme(fmt.Sprint("theme", i)), fmt.Sprintf("p%d.org", i)
				want[own] = []feedring.Theme{theme}
				spec := fmt.Sprintf("%s=%s", theme, own)
				if i%2 == 1 { // one that is in two groups
					spec += ",both.org"
					want["both.org"] = append(want["both.org"], theme)
				}
				if i == 0 {
					c.start(peerName(i))
				} else {
					c.start(peerName(i), peerName(0))
				}
				c.publish(peerName(i), spec)
			}
			c.start("member", peerName(0)) // and a second and a third peer of a group
			c.publish("member", "theme2=other.org")
			c.start("mere", peerName(0))
			c.publish("mere", "theme2=other.org")
			c.start("reader", peerName(0)) // of no group
			if !c.run(10*time.Second, func() bool { return c.agree(groups) }) {
				t.Fatal("they do not see each other")
			}
			c.run(5*time.Second, nil)
			for _, at := range c.names {
				for provider, themes := range want {
					f := c.ask(at, feedring.Query{Provider: provider}, 10*time.Second)
					var found []feedring.Theme
					for _, g := range f.Grants {
						found = append(found, g.Theme)
					}
					slices.Sort(found)
					status := feedring.Answered
					if len(themes) == 0 {
						status = feedring.Unsatisfied
					}
					if f.Status != status || !slices.Equal(found, themes) || len(f.Missing) > 0 {
						t.Errorf("%s at %s: %s", provider, at, finalText(f))
					}
				}
			}
		})
	}
}
