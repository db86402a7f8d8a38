package peer

import (
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// A theme that is only read is joined once somebody founded its group, and never
// founded; a feed of one's own in it changes that, and without a reason to be
// there the group is left.
func TestReadOnly(t *testing.T) {
	c := newCluster(t)
	c.start("a")
	c.start("b", "a")
	read := func(feeds map[feedring.Theme][]feedring.Feed, themes ...feedring.Theme) {
		c.step("a", Offer{Addrs: []string{"/memory/a"}, Feeds: feeds, Read: themes})
	}
	is := func(when string, news, science feedring.Role) {
		t.Helper()
		v := c.peers["a"].View()
		if v.Roles["news"].Role != news || v.Roles["science"].Role != science || !v.Settled() {
			t.Errorf("%s: %v, settled %v", when, v.Roles, v.Settled())
		}
	}
	read(nil, "news", "science")
	c.run(30*time.Second, func() bool { return false })
	is("before anybody published", feedring.RoleNone, feedring.RoleNone)
	c.publish("b", "news=lemonde.fr")
	c.run(10*time.Second, func() bool { return false })
	is("when news was founded", feedring.RoleSecondary, feedring.RoleNone)
	for _, p := range c.peers["b"].View().Groups["news"].Peers {
		if p.Peer == "a" && (p.Feeds == nil || len(p.Feeds) > 0) {
			t.Errorf("its feeds are %v", p.Feeds)
		}
	}
	if n := len(c.peers["b"].View().Groups["news"].Peers); n != 2 {
		t.Errorf("news has %d peers", n)
	}
	read(map[feedring.Theme][]feedring.Feed{"science": {{URL: "https://lwn.example/", Provider: "lwn.example"}}}, "news", "science")
	c.run(10*time.Second, func() bool { return false })
	is("with a feed of science", feedring.RoleSecondary, feedring.RoleManager)
	read(nil, "science")
	c.run(10*time.Second, func() bool { return false })
	is("without a reason for news", feedring.RoleNone, feedring.RoleManager)
	if n := len(c.peers["b"].View().Groups["news"].Peers); n != 1 {
		t.Errorf("news has %d peers after it left", n)
	}
}

// Who leaves the group that it led, and does not reach its others, does not know that
// nobody serves its theme.
func TestLeavesOthersOutOfReach(t *testing.T) {
	c := newCluster(t)
	c.start("a")
	c.publish("a", "news=lemonde.fr")
	c.start("b", "a")
	c.publish("b", "news=lwn.net")
	c.run(10*time.Second, func() bool { return false })
	if v := c.peers["a"].View(); v.Roles["news"].Role != feedring.RoleManager || len(v.Groups["news"].Peers) != 2 {
		t.Fatalf("before: %v", v.Roles)
	}
	c.kill("b") // or a cut: a hears nothing of it
	c.run(2*time.Second, func() bool { return false })
	c.step("a", Offer{Addrs: []string{"/memory/a"}})
	c.run(time.Second, func() bool { return false })
	if f := c.ask("a", feedring.Query{Theme: "news"}, 10*time.Second); f.Status != feedring.Incomplete {
		t.Errorf("of what the other serves: %s", finalText(f))
	}
}

// Who only reads, alone or among others who do, and finds nobody else: a theme
// that nobody serves is answered as such at once, its own themes too.
func TestReadOnlyAnswersAlone(t *testing.T) {
	for _, others := range [][]feedring.PeerID{nil, {"b"}} {
		c := newCluster(t)
		for _, id := range others {
			c.start(id)
			c.step(id, Offer{Addrs: []string{"/memory/" + string(id)}, Read: []feedring.Theme{"news"}})
		}
		c.start("a", others...)
		c.step("a", Offer{Addrs: []string{"/memory/a"}, Read: []feedring.Theme{"news"}})
		c.run(5*time.Second, func() bool { return false })
		for _, theme := range []feedring.Theme{"science", "news", ""} {
			began := c.now
			f := c.ask("a", feedring.Query{Theme: theme}, 10*time.Second)
			if took := c.now.Sub(began); f.Status != feedring.Unsatisfied || len(f.Missing) > 0 || took > time.Second {
				t.Errorf("beside %v, theme %q: %s after %v", others, theme, finalText(f), took)
			}
		}
	}
}
