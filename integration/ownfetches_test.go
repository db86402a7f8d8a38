package integration

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/feedring/feedring/group"
)

// TestOwnFetchesUnderAttack is a member that offers the victim's feed and a made-up one of its
// host, asks for the assignment as the nearest to the origin, and fetches nothing: the victim
// fetches as often as a peer alone, and publishes what is new. In the one case the feed is at
// home and the member is not; in the other the site names the victim, and the member does not
// say so.
func TestOwnFetchesUnderAttack(t *testing.T) {
	t.Parallel()
	for name, private := range map[string]string{"at home": "new", "named by its site": "settled"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOrigin(t)
			f, alone := newFeed("victim", 3), newFeed("alone", 3)
			url, aloneURL := o.feed(f), o.feed(alone)
			newNetwork(t, "500ms").peer(nil, "news=alone@"+aloneURL)
			n := newNetwork(t, "500ms", "--private-peers", private)
			victim := n.peer(nil, "news=victim@"+url)
			if private == "settled" {
				o.serve(wellKnown, says(t, map[string]any{"network": "main", "peers": []string{victim.id}}))
			}
			n.formed(map[string]int{"news": 1}, victim)
			m := newMember(t, victim)
			until(t, 20*time.Second, "the stranger admitted", func() bool { return n.admitted(victim) == 2 })
			if private == "settled" {
				until(t, 30*time.Second, "a look at the site", func() bool { return o.hits(wellKnown, http.StatusOK) > 0 })
			}
			row := m.row
			row.Version++
			row.Feeds[0].URL = url
			made := row.Feeds[0]
			made.URL = o.URL + "/made-up"
			row.Feeds = append(row.Feeds, made)
			m.mu.Lock()
			m.row = row
			m.mu.Unlock()
			m.hears(1)
			attack := func() {
				m.mu.Lock()
				h := m.header()
				m.mu.Unlock()
				m.say(m.sealer, nil, group.Rows{Header: h, Rows: []*group.Row{&row}}, group.AssignmentsWanted{Header: h, Feeds: []group.AssignmentRequest{
					{URL: url, Distance: time.Millisecond, Fetchers: 1, Fetching: true}, {URL: made.URL, Distance: time.Millisecond, Fetchers: 1, Fetching: true}}})
			}
			attack()
			m.hears(1)
			own, others := o.hits("victim", 0), o.hits("alone", 0)
			for i := range 10 {
				at := o.hits("alone", 0)
				f.add(fmt.Sprintf("news %d", i), "x", time.Time{})
				attack()
				until(t, 10*time.Second, "a fetch of the peer that is alone", func() bool { return o.hits("alone", 0) > at })
			}
			own, others = o.hits("victim", 0)-own, o.hits("alone", 0)-others
			t.Logf("%d fetches of the victim, %d of a peer alone", own, others)
			if own < others-2 {
				t.Errorf("the victim fetched %d times, a peer alone %d times", own, others)
			}
			until(t, 10*time.Second, "what is new", func() bool { return len(n.query(victim, "--theme", "news", "--provider", "victim").entries()) >= 3+10 })
		})
	}
}
