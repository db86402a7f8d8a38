package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring/group"
)

// TestStandInThatKeepsBack is a member that gets a feed assigned which another member offers too,
// and publishes nothing of it. In the one case it says each second that it just fetched, in the
// other nothing: the peer that rests for it finds that out, fetches the feed itself, and publishes
// what is there.
func TestStandInThatKeepsBack(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"it lies", "it is silent"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOrigin(t)
			f := newFeed("shared", 3)
			// An address of this machine that is not at home: there all peers fetch for themselves.
			url := strings.Replace(o.feed(f), "127.0.0.1", "0.0.0.0", 1)
			n := newNetwork(t, "250ms", "--private-peers", "new")
			p := n.peer(nil, "news=own@"+o.feed(newFeed("own", 3)))
			n.formed(map[string]int{"news": 1}, p)
			m := newMember(t, p)
			until(t, 20*time.Second, "the stranger admitted", func() bool { return n.admitted(p) == 2 })
			row := m.row
			row.Version++
			row.Feeds[0].URL = url
			m.mu.Lock()
			m.row = row
			m.mu.Unlock()
			m.hears(1)
			says := func(last *group.LastFetch) {
				m.mu.Lock()
				h := m.header()
				m.mu.Unlock()
				m.say(m.sealer, nil, group.Rows{Header: h, Rows: []*group.Row{&row}}, group.AssignmentsWanted{Header: h, Feeds: []group.AssignmentRequest{
					{URL: url, Distance: time.Millisecond, Fetchers: 1, Fetching: true, Last: last}}})
			}
			says(nil)
			m.hears(1)
			if r := command(t, "feed", "add", url, "--theme", "news", "--data", p.data, "--json"); r.code != 0 {
				t.Fatal(r)
			}
			until(t, 30*time.Second, "rest", func() bool {
				return slices.ContainsFunc(command(t, "feed", "list", "--json", "--data", p.data).objects, func(o object) bool { return o["rests"] == true && o.str("looked_at_by") == string(m.sealer.ID()) })
			})
			before := o.hits("shared", 0)
			f.add("kept back", "x", time.Time{})
			var last *group.LastFetch
			if name == "it lies" {
				last = &group.LastFetch{}
			}
			at := time.Now()
			next := at
			shown := until(t, 60*time.Second, "what was kept back", func() bool {
				if now := time.Now(); !now.Before(next) {
					says(last)
					next = now.Add(time.Second)
				}
				return strings.Contains(fmt.Sprint(n.query(p, "--theme", "news").entries()), "kept back")
			})
			t.Logf("%s: shown after %s, %d requests until then", name, shown.Round(time.Second/10), o.hits("shared", 0)-before)
		})
	}
}
