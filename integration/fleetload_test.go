package integration

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestFullFleetPeerGivesFeedsAway loads a peer that has room for as many personal feeds as the
// two others of its fleet together, until it uses more than 85 % of the memory that it may
// use. It tells a tenth less room, so the others take slots of its; its lists lose what their
// readers polled, down to ten entries, and nothing else; every feed stays where it was said.
func TestFullFleetPeerGivesFeedsAway(t *testing.T) {
	t.Parallel()
	const room, stories = 2 << 14, 20 // of two parts, which are one of a tenth less
	o := newOrigin(t)
	news := newFeed("news", stories)
	n := newNetwork(t, "1s")
	publisher := n.peer(nil, "news=news@"+o.feed(news))
	n.formed(map[string]int{"news": 1}, publisher)
	f := newFleet(n, 2, publisher)
	c := f.add(publisher, func(p *peer) { p.args = append(p.args, "--interests", fmt.Sprint(room)) })
	f.whole(3)
	a := f.peers[0]
	c.env = []string{fmt.Sprintf("GOMEMLIMIT=%dB", f.member(c).num("memory_bytes")*5/4)}
	c.kill()
	f.start(c)
	f.whole(3)
	before := f.member(c)
	if before.num("capacity") != room {
		t.Fatalf("without load it tells room for %d: %v", before.num("capacity"), before)
	}

	ask := func(words string) {
		for range 40 {
			f.subscribeTo(a, fmt.Sprintf(`{"theme":"news","q":%q}`, words))
		}
	}
	ask("story")
	unread := f.ledger
	f.ledger = nil
	ask("story things")
	last := fmt.Sprintf("news story %d", stories-1)
	f.polled(last, f.peers...)
	loads := 0
	until(t, 2*time.Minute, "a peer with a full memory tells less room", func() bool {
		if loads < 20 {
			f.load(loads)
			loads++
		}
		return f.member(c).num("capacity") < room
	})
	t.Logf("after %d feeds of many words", loads*loadFeeds)
	if got := f.member(c).num("capacity"); got != room*9/10 {
		t.Errorf("it tells room for %d, not a tenth less than %d", got, room)
	}
	until(t, 30*time.Second, "others serve some of its slots", func() bool {
		return f.member(c).num("serves") < before.num("serves")*3/4
	})
	f.whole(3)

	var whole, short int
	for _, path := range f.ledger {
		switch shown := strings.Count(string(call(t, a, "GET", path, "").body), ">news story "); shown {
		case stories:
			whole++
		case 10:
			short++
		default:
			t.Errorf("a list that was polled shows %d of %d entries", shown, stories)
		}
	}
	if whole == 0 || short == 0 {
		t.Errorf("%d lists are whole and %d shortened", whole, short)
	}
	f.ledger = append(f.ledger, unread...)
	news.add("story after it", "about things", time.Time{})
	f.polled("story after it", f.peers...)
	for _, path := range unread {
		if shown := strings.Count(string(call(t, a, "GET", path, "").body), ">news story "); shown != stories {
			t.Errorf("a list that nobody polled shows %d of %d entries", shown, stories)
		}
	}
}

// load makes personal feeds of many words that no entry has, some at each peer.
func (f *fleetOf) load(number int) {
	f.t.Helper()
	const words, atOnce = 200, 8
	var asking sync.WaitGroup
	for k := range atOnce {
		asking.Go(func() {
			p := f.peers[k%len(f.peers)]
			for i := number*loadFeeds + k; i < (number+1)*loadFeeds; i += atOnce {
				var q strings.Builder
				for w := range words {
					fmt.Fprintf(&q, " OR x%d", i*words+w)
				}
				if r := call(f.t, p, "POST", "/api/v1/subscriptions", fmt.Sprintf(`{"theme":"news","q":"nothing%s"}`, &q), p.token(f.t)); r.code != 201 {
					f.t.Errorf("subscribe under load: %v", r)
				}
			}
		})
	}
	asking.Wait()
}

// loadFeeds is how many personal feeds load makes.
const loadFeeds = 300

// member is what a peer's fleet says of it.
func (f *fleetOf) member(of *peer) object {
	f.t.Helper()
	r := command(f.t, "fleet", "--json", "--data", f.peers[0].data)
	for _, fleet := range r.objects {
		for _, one := range fleet.list("peers") {
			if is := object(one.(map[string]any)); is.str("peer") == of.id {
				return is
			}
		}
	}
	f.t.Fatalf("the fleet does not name %s: %v", of.id, r)
	return nil
}
