package group

import (
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// A group remembers the version of a row that it forgot, so that it does not
// come back from elsewhere. Its owner comes back all the same, though it lost its
// store and begins below that version, or slept and says what it said before.
func TestForgottenMemberReturns(t *testing.T) {
	for name, test := range map[string]struct {
		goes, returns func(c *cluster, gone *testNode)
		young         bool // the manager started anew since, and remembers nothing
	}{
		"its store lost": {goes: crashed, returns: emptied},
		"its store lost, the manager a newer one": {goes: crashed, returns: emptied, young: true},
		"asleep": {goes: asleep, returns: awake},
		"cut off": {
			goes: func(c *cluster, gone *testNode) { c.split([]feedring.PeerID{gone.id}, c.others(gone.id)) },
			returns: func(c *cluster, gone *testNode) {
				c.heal()
				c.step(gone, (&script{cluster: c}).rivalOf("p00")) // the map shows both
			},
		},
		"left, its store lost": {goes: func(c *cluster, gone *testNode) { c.step(gone, Depart{}) }, returns: emptied},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(1)
			c.alter = func(cfg *Config) { cfg.Refresh = 10 * time.Minute }
			ids := c.group(4)
			gone := c.nodes[ids[3]]
			for range 2 { // incarnations
				c.crash(gone.id)
				c.step(c.start(gone.id), Enter{Via: ids[:1]})
				c.run(time.Hour)
			}
			test.goes(c, gone)
			c.run(30 * time.Hour)
			if test.young {
				lead, err := c.leader()
				if err != nil {
					t.Fatal(err)
				}
				clear(c.nodes[lead].m.expired)
			}
			for _, id := range ids[:3] {
				if m := c.nodes[id].m; m.members[gone.id] != nil {
					t.Fatalf("%s does not forget it", id)
				}
			}
			test.returns(c, gone)
			c.run(2 * time.Hour)
			backAgain(t, c, gone)
		})
	}
}

// backAgain checks that a peer is in its group again, and what it says is heard.
func backAgain(t *testing.T, c *cluster, gone *testNode) {
	t.Helper()
	if _, err := c.leader(); err != nil {
		t.Fatal(err)
	}
	url := gone.feeds[0].URL
	c.publish(gone.id, url)
	c.run(time.Hour)
	row := gone.m.me().row
	for _, id := range c.others(gone.id) {
		m := c.nodes[id].m
		if mem := m.members[gone.id]; mem == nil || mem.away || mem.row.Version != row.Version || mem.row.Incarnation != row.Incarnation {
			t.Errorf("%s does not know its row %d.%d", id, row.Incarnation, row.Version)
		}
		if held := m.replicator.Heads[feedring.FeedRef{URL: url, Publisher: gone.id}]; held == nil || held.Pos != gone.head(feedring.FeedRef{URL: url, Publisher: gone.id}).Position {
			t.Errorf("%s does not hold what it published", id)
		}
	}
}

func crashed(c *cluster, gone *testNode) { c.crash(gone.id) }

// emptied starts a peer that lost its store.
func emptied(c *cluster, gone *testNode) {
	gone.disk, gone.store = State{}, map[feedring.FeedRef][]testEntry{}
	c.step(c.start(gone.id), Enter{Via: c.others(gone.id)})
}

func asleep(c *cluster, gone *testNode) { gone.paused = true }

// awake goes on, and nothing of what it was sent meanwhile has waited.
func awake(c *cluster, gone *testNode) {
	gone.held = nil
	c.resume(gone.id)
}

func (c *cluster) others(than feedring.PeerID) []feedring.PeerID {
	var others []feedring.PeerID
	for _, id := range c.ids() {
		if id != than {
			others = append(others, id)
		}
	}
	return others
}

// What is forgotten does not come back from elsewhere.
func TestForgottenRowStaysForgotten(t *testing.T) {
	c := newCluster(1)
	c.alter = func(cfg *Config) { cfg.Refresh = 10 * time.Minute }
	ids := c.group(4)
	row := c.nodes[ids[3]].m.me().row
	c.crash(ids[3])
	c.run(30 * time.Hour)
	m := c.nodes[ids[0]].m // the manager
	rows := Rows{Header: m.header(), Rows: []*Row{row}}
	join := Join{Header: m.header(), Row: *row}
	for _, msg := range []Message{rows, join} {
		c.step(c.nodes[ids[0]], Receive{From: ids[1], Message: msg})
		c.step(c.nodes[ids[2]], Receive{From: ids[1], Message: msg})
		c.run(time.Hour)
		for _, id := range ids[:3] {
			if c.nodes[id].m.members[ids[3]] != nil {
				t.Errorf("%s takes the row of who is forgotten from another (%s)", id, msg.Verb())
			}
		}
	}
}
