package group

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// A member that claims to have everything, tells of entries that nobody can
// have, answers polls with noise and makes room for no reader costs readers its
// own feed, and nothing else: neither of those that were there before it, nor of
// who came later.
func TestLiarHidesOnlyItself(t *testing.T) {
	for name, feeds := range map[string]int{"its one feed": 1, "more than a row excepts": 300} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(5)
			ids := c.group(4)
			manager, liar := ids[0], ids[3]
			c.publish(ids[1], c.nodes[ids[1]].feeds[0].URL)
			c.run(time.Second)
			l := newLiar(c, liar, feeds)
			for range 20 {
				l.tell()
				c.run(time.Second)
			}
			late := c.start("late")
			c.step(late, Enter{Via: []feedring.PeerID{manager}})
			for range 60 {
				l.tell()
				c.run(time.Second)
			}
			for _, id := range []feedring.PeerID{ids[0], ids[1], ids[2], "late"} {
				if row := c.nodes[id].m.me().row; row.From.After(c.now.Add(-c.nodes[id].m.cfg.Freshness + time.Minute)) {
					t.Errorf("%s has the others' feeds only since %v", id, row.From)
				}
			}
			l.refuses(t, manager)
		})
	}
}

// liar is a member of whose feeds nothing can be had.
type liar struct {
	c     *cluster
	id    feedring.PeerID
	heads []feedring.Head
}

func newLiar(c *cluster, id feedring.PeerID, feeds int) *liar {
	l := &liar{c: c, id: id}
	own := c.nodes[id].feeds[0].URL
	for i := range feeds {
		url := own
		if i > 0 {
			url = fmt.Sprintf("%s/%d", own, i)
		}
		l.heads = append(l.heads, feedring.Head{Feed: feedring.FeedRef{URL: url, Publisher: id}})
	}
	c.noise = func(from feedring.PeerID) bool { return from == id }
	c.loss = func(from, _ feedring.PeerID, m Message) bool {
		_, room := m.(Assigned)
		return room && from == id
	}
	return l
}

// tell says that there is more than it said before.
func (l *liar) tell() {
	for i := range l.heads {
		l.heads[i].Position = feedring.Position{Epoch: uint64(l.c.now.Unix()), Sequence: 1 << 40}
	}
	header := Header{Group: testTheme.Group(), Term: l.c.nodes[l.id].m.term()}
	for _, to := range l.c.ids() {
		if to != l.id {
			l.c.step(l.c.nodes[to], Receive{From: l.id, Message: Heads{Header: header, Heads: slices.Clone(l.heads)}})
		}
	}
}

// refuses asks the manager for everything.
func (l *liar) refuses(t *testing.T, manager feedring.PeerID) {
	t.Helper()
	for since, own := range map[time.Duration]bool{0: false, time.Hour: false, 48 * time.Hour: true} {
		before := len(l.c.placed)
		asked := map[feedring.PeerID]int{}
		l.c.sent = func(s Send) {
			if _, ok := s.Message.(Assign); ok {
				asked[s.To]++
			}
		}
		q := Place{Header: Header{Group: testTheme.Group()}, ID: feedring.QueryID{byte(before), 7}, Client: "reader", Within: 5 * time.Second}
		if since > 0 {
			q.Since = l.c.now.Add(-since)
		}
		l.c.step(l.c.nodes[manager], Receive{From: "client", Message: q})
		l.c.run(6 * time.Second)
		if len(l.c.placed) == before {
			t.Fatal("no answer")
		}
		answer := l.c.placed[before]
		served := slices.ContainsFunc(answer.Grants, func(g feedring.Grant) bool { return g.Own == own && g.Provider.ID != l.id })
		for p, times := range asked {
			if times > 1 {
				t.Errorf("since %v: %s was asked for room %d times", since, p, times)
			}
		}
		if !served || len(answer.Missing) > 1 || len(answer.Missing) == 1 && answer.Missing[0] != "news/"+string(l.id)+".example" {
			t.Errorf("since %v: grants %v, missing %v", since, answer.Grants, answer.Missing)
		}
	}
}
