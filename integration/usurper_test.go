package integration

import (
	"testing"
	"time"
)

// TestUsurper is an admitted member that says again and again, to all peers of its group, that
// its higher claim is acknowledged. No honest peer follows it, the manager stays, and readers
// are served as before.
func TestUsurper(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	const period = 3 * time.Second
	n := newNetwork(t, period.String(), "--interval", "200ms") // on a loaded machine nobody misses the manager for so long
	published := newFeed("p", 3)
	p := n.peer(nil, "news=p@"+o.feed(published))
	q := n.peer([]*peer{p}, "news=q@"+o.feed(newFeed("q", 3)))
	s := n.peer([]*peer{p}, "news=s@"+o.feed(newFeed("s", 3)))
	honest := []*peer{p, q, s}
	n.formed(map[string]int{"news": 3}, honest...)
	m := n.admittedMember(honest...)
	lead := n.manager("news", honest...)
	before := n.ownView(lead, "news").num("term")
	follower := n.follow(q, "--theme", "news")
	follower.event(t, 20*time.Second, "the first answer", func(o object) bool { return o.str("event") == "answered" })

	facing := make([]*stranger, len(honest))
	for i, victim := range honest {
		facing[i] = m.facing(victim)
	}
	began := time.Now()
	looks, led, others, failed := 0, 0, 0, 0
	for round := range 60 {
		highest := 0
		for _, victim := range honest {
			c := n.ownView(victim, "news")
			if c == nil {
				continue
			}
			looks++
			highest = max(highest, c.num("term"))
			switch c.str("manager") {
			case lead.id:
			case string(m.sealer.ID()):
				led++
			default:
				others++
			}
		}
		for _, to := range facing {
			to.say(m.sealer, nil, m.usurpation(uint64(highest+1))...)
		}
		if round%10 == 5 {
			if r := n.query(honest[round/10%3], "--theme", "news", "--provider", "q"); r.code != 0 || len(r.entries()) != 3 {
				failed++
			}
		}
	}
	published.add("after it", "x", time.Time{})
	follower.event(t, 20*time.Second, "an entry after it", func(o object) bool { return o.str("title") == "after it" })
	after := n.ownView(lead, "news").num("term")
	t.Logf("of %d looks %d found the hostile member manager, %d another one; %d of 6 queries failed; the term went from %d to %d", looks, led, others, failed, before, after)
	if most := 2 * (int(time.Since(began)/period) + 2); after-before > most {
		t.Errorf("the term rose by %d, of %d at most", after-before, most)
	}
	if led > 0 || others > 0 || failed > 0 || looks == 0 || after == before {
		t.Error("the group did not keep its manager")
	}
}
