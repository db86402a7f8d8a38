package peer

import (
	"fmt"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/peer/internal/limits"
)

// TestPlacesOfStrangers floods a manager with lookups: who has no entry gets few
// places, and takes none of those of who has one.
func TestPlacesOfStrangers(t *testing.T) {
	c := newCluster(t)
	c.start("a")
	c.publish("a", "news=lemonde.fr")
	c.start("b", "a")
	c.publish("b", "sport=equipe.fr")
	c.start("d", "a")
	c.publish("d", "news=bbc.co.uk")
	c.run(20*time.Second, nil)
	m := c.peers["a"].Machine
	n := 0
	answered := func(from feedring.PeerID, times int) (answers int) {
		for range times {
			n++
			q := group.Place{
				Header: group.Header{Group: feedring.Theme("news").Group()}, Client: "reader", Within: time.Second,
				ID: feedring.QueryID{byte(n), byte(n >> 8)}, Provider: "lemonde.fr",
			}
			for _, out := range m.Step(c.now, Receive{From: from, Message: q}) {
				s, ok := out.(*Send)
				if !ok {
					continue
				}
				switch message := s.Message.(type) { // room at a itself, or asked for at d
				case group.Placed:
					answers += of(message.ID == q.ID)
				case group.Assign:
					answers += of(message.ID == q.ID)
				}
			}
		}
		return answers
	}
	if got := answered("stranger", 500); got != limits.OutsiderEach {
		t.Errorf("a stranger was given %d places", got)
	}
	all := limits.OutsiderEach
	for i := range 100 {
		all += answered(feedring.PeerID(fmt.Sprint("s", i)), limits.OutsiderEach)
	}
	if all != limits.OutsiderAll {
		t.Errorf("strangers were given %d places", all)
	}
	for _, from := range []feedring.PeerID{"b", "d"} {
		if got := answered(from, 500); got != 500 {
			t.Errorf("%s was given %d places of 500", from, got)
		}
	}
	c.now = c.now.Add(limits.OutsiderWindow)
	if got := answered("stranger", 10); got != 10 {
		t.Errorf("later a stranger was given %d places of 10", got)
	}
}

func of(is bool) int {
	if is {
		return 1
	}
	return 0
}
