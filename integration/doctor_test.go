package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// doctor returns what the doctor says of one thing, and the command's exit.
func (p *peer) doctor(t testing.TB, name string) (object, int) {
	t.Helper()
	r := command(t, "doctor", "--json", "--data", p.data, "--timeout", "30s")
	for _, o := range r.objects {
		if o.str("name") == name {
			return o, r.code
		}
	}
	t.Fatalf("doctor says nothing of %s: %v", name, r)
	return nil, 0
}

// TestDoctorBlamesThePeerAlone: what others' private feeds lack is noted, and a
// place that was not joined is named with the reason.
func TestDoctorBlamesThePeerAlone(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	n := newNetwork(t, "500ms")
	p := n.peer(nil, "news=good@"+o.feed(newFeed("good", 1)))
	broken := o.URL + "/broken"
	if r := command(t, "feed", "add", "--force", "--data", p.data, broken); r.code != 0 {
		t.Fatal(r)
	}
	until(t, 20*time.Second, "a look at the private feed", func() bool {
		c, _ := p.doctor(t, "private feeds")
		return c["note"] == true && strings.Contains(c.str("detail"), broken+": 404")
	})
	if c, code := p.doctor(t, "feeds"); code != 0 || c["ok"] != true {
		t.Errorf("beside a private feed that fails: exit %d, %v", code, c)
	}
	if r := command(t, "feed", "add", "--force", "--theme", "news", "--data", p.data, o.URL+"/missing"); r.code != 0 {
		t.Fatal(r)
	}
	until(t, 20*time.Second, "a published feed that fails", func() bool {
		c, code := p.doctor(t, "feeds")
		return code == 1 && c["ok"] == false && strings.Contains(c.str("detail"), "/missing: 404")
	})

	n.extra = []string{"--join", "nobody.invalid"}
	q := n.peer([]*peer{p})
	until(t, 20*time.Second, "why a place was not joined", func() bool {
		c, code := q.doctor(t, "peers")
		return code == 0 && c["note"] == true && strings.Contains(c.str("detail"), "connected to 1; nobody.invalid was not reached: ")
	})
	alone := n.peer(nil)
	until(t, 20*time.Second, "a failure where nobody was reached", func() bool {
		c, code := alone.doctor(t, "peers")
		return code == 1 && c["ok"] == false && strings.Contains(c.str("detail"), "nobody.invalid was not reached: ")
	})
}

// TestDoctorNamesAllowPrivateFeeds, and a peer that is started with it fetches at
// once what was refused before.
func TestDoctorNamesAllowPrivateFeeds(t *testing.T) {
	t.Parallel()
	n := newNetwork(t, "500ms")
	p := n.prepare(nil, "news=own@"+newOrigin(t).feed(newFeed("own", 2)))
	p.args = slices.DeleteFunc(p.args, func(arg string) bool { return arg == "--allow-private-feeds" })
	p.args = append(p.args, "--interval", "1h")
	n.start(p)
	until(t, 20*time.Second, "the advice", func() bool {
		c, code := p.doctor(t, "feeds")
		return code == 1 && strings.Contains(c.str("advice"), "serve --allow-private-feeds")
	})
	p.stop(t, 10*time.Second)
	p.args = append(p.args, "--allow-private-feeds")
	n.start(p)
	until(t, 20*time.Second, "the feed, with an interval of an hour", func() bool {
		return len(n.query(p, "--theme", "news").entries()) == 2
	})
	if c, _ := p.doctor(t, "feeds"); c["ok"] != true {
		t.Errorf("after that: %v", c)
	}
}

// TestDoctorVouchesAsFeedListDoes: a site that names the peer, of which its group
// does not know, does not make the doctor call a feed vouched for.
func TestDoctorVouchesAsFeedListDoes(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	n := newNetwork(t, "300ms")
	p := n.peer(nil, "news=site@"+o.feed(newFeed("site", 1)))
	n.formed(map[string]int{"news": 1}, p)
	o.publish(vouchDocument(t, p))
	listed := func() string {
		r := command(t, "feed", "list", "--json", "--data", p.data)
		if r.code != 0 || len(r.objects) != 1 {
			t.Fatal(r)
		}
		return r.objects[0].str("vouched_by")
	}
	c, _ := p.doctor(t, "vouched")
	if listed() != "" || c["note"] != true || !strings.HasPrefix(c.str("detail"), "0 of 1 published feeds; named by ") {
		t.Errorf("alone: feed list %q, doctor %v", listed(), c)
	}
	q := n.peer([]*peer{p}, "news=other@"+newOrigin(t).feed(newFeed("other", 1)))
	n.formed(map[string]int{"news": 2}, p, q)
	until(t, 60*time.Second, "a vouch that the group knows", func() bool {
		c, _ := p.doctor(t, "vouched")
		return listed() != "" && c["note"] == nil && c.str("detail") == "1 of 1 published feeds"
	})
}

// TestDoctorOfIPv6 is a peer with an IPv6 address alone, which everybody reaches.
func TestDoctorOfIPv6(t *testing.T) {
	t.Parallel()
	i := newInternet(t)
	n := newNetwork(t, "500ms")
	address := func(m *machine) string { return strings.Replace(m.addr, "25.7.0.", "2606:4700:7::", 1) }
	dual, only := i.public("dual"), i.public("only")
	for _, m := range []*machine{dual, only} {
		i.ip("-n", m.space, "-6", "addr", "add", address(m)+"/64", "dev", "out", "nodad")
	}
	i.ip("-n", only.space, "addr", "del", only.addr+"/24", "dev", "out")
	first := dual.peer(n, nil, "news=dual@"+dual.origin().feed(newFeed("dual", 1)))
	first.addr = fmt.Sprintf("/ip6/%s/udp/7377/quic-v1/p2p/%s", address(dual), first.id)
	p := only.peer(n, []*peer{first}, "news=only@"+only.origin().feed(newFeed("only", 1)))
	until(t, 40*time.Second, "what is said once relays are there", func() bool {
		c, _ := p.doctor(t, "reachable from outside")
		if strings.Contains(c.str("detail"), "router") {
			t.Fatalf("doctor: %v", c)
		}
		return strings.Contains(c.str("detail"), "relays") || strings.Contains(c.str("detail"), "dialled back")
	})
}
