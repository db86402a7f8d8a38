package group

import (
	"slices"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// keepers makes peers of a cluster keep copies for 30 days.
func (c *cluster) keepers(ids ...feedring.PeerID) {
	c.alter = func(cfg *Config) {
		if slices.Contains(ids, cfg.Self) {
			cfg.Keep = 30 * 24 * time.Hour
		}
	}
}

func refAt(peer feedring.PeerID) feedring.FeedRef {
	return feedring.FeedRef{URL: "https://" + string(peer) + ".example/rss", Publisher: peer}
}

// lookup asks a manager for everything since long ago.
func (c *cluster) lookup(at feedring.PeerID, provider string, age time.Duration) Placed {
	c.placed = nil
	c.step(c.nodes[at], Receive{From: "client", Message: Place{
		Header: Header{Group: testTheme.Group()}, ID: feedring.QueryID{byte(c.rng.Uint64()), 7}, Client: "reader",
		Provider: provider, Since: c.now.Add(-age), Within: 2 * time.Second,
	}})
	c.run(2 * time.Second)
	if len(c.placed) != 1 {
		return Placed{}
	}
	return c.placed[0]
}

func servers(p Placed) (ids []feedring.PeerID) {
	for _, g := range p.Grants {
		ids = append(ids, g.Provider.ID)
	}
	return ids
}

// TestCopiesOfSeveralKeepers: what one keeper lacks the next is asked for, and
// the manager may be one of them.
func TestCopiesOfSeveralKeepers(t *testing.T) {
	c := newCluster(5)
	c.keepers("p00", "p03")
	ids := c.group(4)
	for _, id := range ids {
		c.publish(id, refAt(id).URL)
	}
	c.run(time.Second)
	c.step(c.nodes["p00"], Kept{Copies: []Copy{{Feed: refAt("p01")}}})
	c.step(c.nodes["p03"], Kept{Copies: []Copy{{Feed: refAt("p02"), Since: c.now.Add(-200 * time.Hour)}}})
	c.crash("p01")
	c.crash("p02")
	c.run(5 * time.Second)
	got := c.lookup("p00", "", 100*time.Hour)
	if len(got.Missing) > 0 || !slices.Equal(got.Copies, []string{"news/p01.example", "news/p02.example"}) && !slices.Equal(got.Copies, []string{"news/p02.example", "news/p01.example"}) {
		t.Errorf("missing %v, from copies %v", got.Missing, got.Copies)
	}
	who := servers(got)
	slices.Sort(who)
	if !slices.Equal(who, []feedring.PeerID{"p00", "p03"}) {
		t.Errorf("%v serve; each once is enough", who)
	}
	for _, g := range got.Grants {
		if g.Own || len(g.Alternates) > 0 {
			t.Errorf("%s serves its own feeds only: %v; alternates that promised nothing: %v", g.Provider.ID, g.Own, g.Alternates)
		}
	}
	if got := c.lookup("p00", "", 300*time.Hour); !slices.Equal(got.Missing, []string{"news/p02.example"}) || !slices.Equal(got.Copies, []string{"news/p01.example"}) {
		t.Errorf("beyond a copy's reach: missing %v, from copies %v", got.Missing, got.Copies)
	}
}

// TestCopyBehindIsNotWhole: who was told of entries that it does not hold has no
// whole copy, and neither has who was told nothing of its reach.
func TestCopyBehindIsNotWhole(t *testing.T) {
	c := newCluster(6)
	c.keepers("p02")
	ids := c.group(3)
	c.publish("p01", refAt("p01").URL)
	c.run(time.Second)
	m := c.nodes[ids[2]].m
	old := c.now.Add(-100 * time.Hour)
	if got := m.replicator.Whole([]feedring.FeedRef{refAt("p01")}, old); got != nil {
		t.Error("its reach was never told, and it has", got)
	}
	c.step(c.nodes["p02"], Kept{Copies: []Copy{{Feed: refAt("p01")}, {Feed: refAt("p02")}}})
	if got := m.replicator.Whole([]feedring.FeedRef{refAt("p01"), refAt("p02"), refAt("p00")}, old); !slices.Equal(got, []feedring.FeedRef{refAt("p01")}) {
		t.Error("it has whole copies of", got)
	}
	m.replicator.Heads[refAt("p01")].Advertised.Sequence++
	if got := m.replicator.Whole([]feedring.FeedRef{refAt("p01")}, old); got != nil {
		t.Error("it lacks the newest entry, and has", got)
	}
}

// TestNoKeeperIsAskedWhereNoneIs: without a keeper nobody is asked for copies.
func TestNoKeeperIsAskedWhereNoneIs(t *testing.T) {
	c := newCluster(7)
	c.group(3)
	c.publish("p01", refAt("p01").URL)
	c.run(time.Second)
	c.step(c.nodes["p02"], Kept{Copies: []Copy{{Feed: refAt("p01")}}}) // of one that keeps nothing
	c.crash("p01")
	c.run(5 * time.Second)
	c.sent = func(s Send) {
		if a, is := s.Message.(Assign); is && len(a.Copies) > 0 {
			t.Errorf("%s is asked for copies", s.To)
		}
	}
	if got := c.lookup("p00", "p01.example", 100*time.Hour); !slices.Equal(got.Missing, []string{"news/p01.example"}) || got.Copies != nil {
		t.Errorf("missing %v, from copies %v", got.Missing, got.Copies)
	}
}

// TestKeeperAsksForWhatItKeeps: it polls for older entries than others do, and
// goes on behind a gap where they do.
func TestKeeperAsksForWhatItKeeps(t *testing.T) {
	c := newCluster(8)
	c.keepers("p01")
	c.group(2)
	ref := refAt("p00")
	for id, keep := range map[feedring.PeerID]time.Duration{"p00": 24 * time.Hour, "p01": 30 * 24 * time.Hour} {
		m := c.nodes[id].m
		f := m.replicator.Request(ref, feedring.Position{}, "p00")
		if f.Fresh != m.now.Add(-keep) || (id == "p01") != (f.Gap == m.now.Add(-24*time.Hour)) {
			t.Errorf("%s asks for entries since %s, with gaps before %s", id, f.Fresh, f.Gap)
		}
	}
	if row := c.nodes["p00"].m.members["p01"].row; row.Keep != 30*24*time.Hour {
		t.Errorf("its row says that it keeps copies for %s", row.Keep)
	}
}

// TestForgottenPublisher: the row of who is away for a day is forgotten by all,
// and a keeper's names its feeds from then on, until it is back.
func TestForgottenPublisher(t *testing.T) {
	c := newCluster(9)
	c.alter = func(cfg *Config) {
		cfg.Refresh = 10 * time.Minute
		if cfg.Self == "p02" {
			cfg.Keep = 30 * 24 * time.Hour
		}
	}
	c.group(3)
	c.run(time.Hour)
	c.publish("p01", refAt("p01").URL)
	c.run(time.Hour)
	c.step(c.nodes["p02"], Kept{Copies: []Copy{{Feed: refAt("p01"), Provider: "p01.example"}}})
	c.crash("p01")
	c.run(27 * time.Hour)
	m := c.nodes["p00"].m
	for _, id := range []feedring.PeerID{"p00", "p02"} {
		if c.nodes[id].m.members["p01"] != nil {
			t.Fatalf("%s has not forgotten the publisher", id)
		}
	}
	if got := c.lookup("p00", "p01.example", 100*time.Hour); !got.Served || len(got.Missing) > 0 || !slices.Equal(got.Copies, []string{"news/p01.example"}) || !slices.Equal(servers(got), []feedring.PeerID{"p02"}) {
		t.Errorf("%+v", got)
	}
	if got := m.View().Serves("p01.example"); got {
		t.Error("the catalogue lists who is forgotten")
	}
	back := c.start("p01")
	c.step(back, Enter{Via: []feedring.PeerID{"p00"}})
	c.run(2 * time.Hour)
	if row := m.members["p02"].row; len(row.Gone) > 0 {
		t.Errorf("the publisher is back, and the keeper names %v", row.Gone)
	}
	// It withdrew the feed: that is its own decision.
	c.step(back, Describe{})
	c.step(c.nodes["p02"], Kept{Copies: []Copy{{Feed: refAt("p01")}}})
	c.run(time.Hour)
	if m.Serves("p01.example") {
		t.Error("what its publisher offers no more is served")
	}
}

// TestManagerConfirms: a grant names the manager last where it may serve, so that a client
// whose answer is empty asks it, however many others tell no load.
func TestManagerConfirms(t *testing.T) {
	c := newCluster(8)
	ids := c.group(9)
	for _, id := range ids {
		c.publish(id, refAt(id).URL)
	}
	c.run(3 * time.Second)
	byOthers := 0
	for range 20 {
		for _, g := range c.lookup("p00", "", time.Hour).Grants {
			manager := c.nodes["p00"].m.lead.claim.Term.Claimant
			if g.Provider.ID == manager {
				continue
			}
			byOthers++
			if n := len(g.Alternates); n != 3 || g.Alternates[n-1].ID != manager || g.Ticket.Peers[n] != manager {
				t.Errorf("%s serves, with %v; the manager is %s", g.Provider.ID, g.Ticket.Peers[1:], manager)
			}
		}
	}
	if byOthers == 0 {
		t.Error("the manager serves all itself")
	}
}
