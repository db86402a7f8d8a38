package integration

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring/internal/host/identity"
	"github.com/feedring/feedring/internal/named"
	"github.com/feedring/feedring/internal/wire"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// vouchedNet is a network of the mode vouched: its first peer made it.
type vouchedNet struct {
	*network
	name  string
	roots []any
	first *peer
}

func newVouchedNet(t *testing.T, feeds ...string) *vouchedNet {
	t.Helper()
	n := newNetwork(t, associationRefresh.String())
	first := n.prepare(nil, feeds...)
	made := command(t, "network", "create", "--label", "Sites of our country", "--mode", "vouched", "--json", "--data", first.data)
	if made.code != 0 || len(made.objects) != 1 || len(made.objects[0].list("roots")) != 2 || made.objects[0].str("charter") == "" {
		t.Fatalf("create: %v", made)
	}
	n.start(first)
	return &vouchedNet{n, made.objects[0].str("network"), made.objects[0].list("roots"), first}
}

// code leads to the network; nobody needs its key, so it may be used again and again.
func (v *vouchedNet) code() string {
	v.t.Helper()
	r := command(v.t, "network", "invite", "--json", "--data", v.first.data)
	if r.code != 0 || len(r.objects) != 1 {
		v.t.Fatalf("invite: %v", r)
	}
	return r.objects[0].str("code")
}

// joined starts a peer that has a code.
func (v *vouchedNet) joined(code string, feeds ...string) *peer {
	v.t.Helper()
	p := v.prepare(nil, feeds...)
	if r := command(v.t, "network", "join", code, "--data", p.data); r.code != 0 {
		v.t.Fatalf("join: %v", r)
	}
	v.start(p)
	return p
}

func (v *vouchedNet) membership(p *peer) (object, string) {
	r := command(v.t, "status", "--data", p.data, "--json")
	if len(r.objects) != 1 {
		return nil, ""
	}
	m, _ := r.objects[0]["membership"].(map[string]any)
	return m, r.stdout
}

// isNamed waits until a peer says that a site names it, or that none does.
func (v *vouchedNet) isNamed(p *peer, site string) {
	v.t.Helper()
	until(v.t, 60*time.Second, "a peer named by "+site, func() bool {
		m, _ := v.membership(p)
		return m != nil && m.str("site") == site && m.str("mode") == "vouched"
	})
}

// titlesAt are those of a query to the network, through a peer, as a client of its own.
func (v *vouchedNet) titlesAt(p *peer, flags ...string) []string {
	return v.query(p, append([]string{"--network", v.name, "--theme", "news"}, flags...)...).titles()
}

// members lists who is in the catalogue that a peer shows.
func (v *vouchedNet) members(p *peer) (ids []string) {
	c := v.ownView(p, "news")
	if c == nil {
		return nil
	}
	for _, row := range c.list("peers") {
		id, _ := row.(map[string]any)["peer"].(string)
		ids = append(ids, id)
	}
	return ids
}

func siteOf(o *origin) string { return strings.TrimPrefix(o.URL, "http://") }

// TestVouchedNetwork: in a network of the mode vouched whoever has a key asks and follows,
// and who publishes must be named by a site. A stranger that squats is in no catalogue and
// none of its entries is anywhere, until its own site names it; then it is admitted without
// a restart.
func TestVouchedNetwork(t *testing.T) {
	t.Parallel()
	sites := []*origin{newOrigin(t), newOrigin(t), newOrigin(t)}
	url := sites[0].feed(newFeed("first", 2))
	v := newVouchedNet(t, "news=first@"+url)
	if m, all := v.membership(v.first); m == nil || m.str("site") != "" || !strings.Contains(all, "no site names this peer") {
		t.Errorf("the founder that no site names says %v", m)
	}
	if got := v.ring(v.first); len(got) != 0 {
		t.Errorf("nobody is named, and there are groups: %v", got)
	}
	if advice := command(t, "vouch", "--data", v.first.data); advice.code != 0 || strings.Contains(advice.stdout, `rel="feedring"`) ||
		!strings.Contains(advice.stdout, "guest of this vouched network") {
		t.Errorf("vouch says %v", advice)
	}
	if ring := command(t, "ring", "--data", v.first.data); !strings.Contains(ring.stderr, "no site names this peer") || !strings.Contains(ring.stderr, `"feedring vouch --data `) {
		t.Errorf("ring says %v", ring)
	}
	if empty := command(t, "network", "members", "--data", v.first.data); empty.code != 0 || !strings.Contains(empty.stderr, `"feedring vouch --data `) {
		t.Errorf("members says %v", empty)
	}
	sites[0].publish(vouchDocument(t, v.first))
	v.isNamed(v.first, siteOf(sites[0]))
	code := v.code()

	second := v.joined(code, "news=second@"+sites[1].feed(newFeed("second", 2)))
	sites[1].publish(vouchDocument(t, second))
	// The squatter publishes the first one's feed, and one of its own; it has the name
	// of the network only.
	later := newFeed("squatter", 2)
	squatter := v.prepare([]*peer{v.first}, "news=squatter@"+url, "news=squatter@"+sites[2].feed(later))
	squatter.args = append(squatter.args, "--network", v.name)
	v.start(squatter)
	for _, p := range []*peer{v.first, second} {
		until(t, 60*time.Second, "two peers and four entries", func() bool {
			return len(v.members(p)) == 2 && len(v.titlesAt(p)) == 4
		})
	}
	// The squatter asks and follows.
	until(t, 60*time.Second, "what the squatter is answered", func() bool {
		return len(command(t, "query", "--theme", "news", "--json", "--data", squatter.data).entries()) == 4
	})
	follower := start(t, "follow", "--theme", "news", "--json", "--peer", second.addr, "--network", v.name)
	follower.event(t, 20*time.Second, "the follower's first answer", func(o object) bool { return o.str("event") == "answered" })
	if m, all := v.membership(squatter); m == nil || m.str("mode") != "vouched" || m.str("site") != "" || !strings.Contains(all, "feedring vouch") {
		t.Errorf("the squatter's status says %v", all)
	}
	for _, p := range []*peer{v.first, second} {
		for _, id := range v.members(p) {
			if id == squatter.id {
				t.Error("the squatter is in a catalogue")
			}
		}
	}

	sites[2].publish(vouchDocument(t, squatter))
	v.isNamed(squatter, siteOf(sites[2]))
	for _, p := range []*peer{v.first, second, squatter} {
		until(t, 60*time.Second, "three peers, and the entries of the third", func() bool {
			return len(v.members(p)) == 3 && len(v.titlesAt(p, "--provider", "squatter")) >= 2
		})
	}
	later.add("news of the newcomer", "about things", time.Time{})
	follower.event(t, 30*time.Second, "the newcomer's entry at the follower", func(o object) bool { return o.str("title") == "news of the newcomer" })

	// A root ends it.
	root, _ := v.roots[1].(string)
	if r := command(t, "network", "expel", squatter.id, "--root", root, "--data", v.first.data); r.code != 0 {
		t.Fatalf("expel: %v", r)
	}
	for _, p := range []*peer{v.first, second} {
		until(t, 30*time.Second, "catalogues without the expelled peer", func() bool { return len(v.members(p)) == 2 })
	}
	until(t, 30*time.Second, "the expelled peer alone", func() bool {
		status := command(t, "status", "--data", squatter.data, "--json").objects
		m, _ := v.membership(squatter)
		return m != nil && m["expelled"] == true && len(status) == 1 && status[0].num("peers") == 0
	})
	if r := command(t, "network", "admit", squatter.id, "--root", root, "--data", v.first.data); r.code != 0 {
		t.Fatalf("admit: %v", r)
	}
	until(t, 60*time.Second, "the peer that was admitted anew", func() bool { return len(v.members(second)) == 3 })

	// Over a restart it is known who is named.
	second.stop(t, 10*time.Second)
	v.start(second)
	until(t, 60*time.Second, "the peer that came back", func() bool { return len(v.members(second)) == 3 })
	if r := command(t, "network", "invite", "--role", "read", "--data", v.first.data); r.code != 2 || !strings.Contains(r.stderr, "nobody needs a credential") {
		t.Errorf("invite to read: %v", r)
	}
	if r := command(t, "query", "--theme", "news", "--json", "--data", filepath.Join(v.dir, "none"), "--peer", v.first.addr); r.code != 1 || !strings.Contains(r.stderr, v.name) {
		t.Errorf("without the network's name: %v", r)
	}
}

// TestSquatterOfAVouchedNetwork: a hostile peer that takes itself for one that a site names
// joins, publishes and leads as a member does. Nobody has it in a catalogue, and nobody its
// entries, until a site names it.
func TestSquatterOfAVouchedNetwork(t *testing.T) {
	t.Parallel()
	sites := []*origin{newOrigin(t), newOrigin(t), newOrigin(t)}
	url := sites[0].feed(newFeed("first", 2))
	v := newVouchedNet(t, "news=first@"+url)
	sites[0].publish(vouchDocument(t, v.first))
	v.isNamed(v.first, siteOf(sites[0]))
	code := v.code()

	squatter := v.prepare(nil, "news=squatter@"+url, "news=squatter@"+sites[2].feed(newFeed("squatter", 2)), "sport=squatter@"+sites[2].feed(newFeed("sport", 2)))
	if r := command(t, "network", "join", code, "--data", squatter.data); r.code != 0 {
		t.Fatalf("join: %v", r)
	}
	key, err := identity.Load(squatter.data)
	must(t, err)
	sealer, err := wire.NewSealer(key, v.name)
	must(t, err)
	forged, err := json.Marshal([]named.Named{{Peer: sealer.ID(), Site: siteOf(sites[2]), At: time.Now()}})
	must(t, err)
	must(t, os.WriteFile(filepath.Join(squatter.data, "network", "named"), forged, 0o600))
	v.start(squatter)
	until(t, 60*time.Second, "the squatter, connected and with entries that it published", func() bool {
		m, _ := v.membership(squatter)
		status := command(t, "status", "--data", squatter.data, "--json").objects
		return m != nil && m.str("site") != "" && len(status) == 1 && status[0].num("peers") > 0 && status[0].num("entries") > 0
	})
	// Who comes later is admitted, and what it publishes comes to all that accept it.
	second := v.joined(code, "news=second@"+sites[1].feed(newFeed("second", 2)))
	sites[1].publish(vouchDocument(t, second))
	for _, p := range []*peer{v.first, second} {
		until(t, 60*time.Second, "two peers and four entries", func() bool {
			return len(v.titlesAt(p)) >= 4 && slices.Contains(v.members(p), second.id) && slices.Contains(v.members(p), v.first.id)
		})
		if ids := v.members(p); len(ids) != 2 {
			t.Errorf("the catalogue has %v; the squatter is %s", ids, squatter.id)
		}
		if got := v.titlesAt(p); len(got) != 4 {
			t.Errorf("the entries are %q", got)
		}
		r := command(t, "ring", "--json", "--data", p.data)
		if len(r.objects) != 1 || r.objects[0].str("theme") != "news" || r.objects[0].str("manager") == squatter.id {
			t.Errorf("the ring is %v", r)
		}
	}
	if asked := sites[2].hits(wellKnown, http.StatusNotFound); asked == 0 || asked > 60 {
		t.Errorf("the squatter's site was asked %d times", asked)
	}

	sites[2].publish([]byte(`{"network":"` + v.name + `","peers":["` + squatter.id + `"]}`))
	for _, p := range []*peer{v.first, second} {
		until(t, 60*time.Second, "three peers, and the entries of the third", func() bool {
			return len(v.members(p)) == 3 && len(v.titlesAt(p, "--provider", "squatter")) >= 2
		})
	}
}

// TestHelloOfAVouchedNetwork: nobody must show a credential, or even say hello. Who does
// is told the mode and the charter.
func TestHelloOfAVouchedNetwork(t *testing.T) {
	t.Parallel()
	site := newOrigin(t)
	v := newVouchedNet(t, "news=first@"+site.feed(newFeed("first", 2)))
	site.publish(vouchDocument(t, v.first))
	v.isNamed(v.first, siteOf(site))
	o := newOutsider(t, v.name)
	hello, err := wire.AppendFrame(nil, &feedringv1.Hello{})
	must(t, err)
	answer := o.asks(v.first, wire.ProtocolID(v.name, wire.VerbHello), hello)
	var said feedringv1.Hello
	must(t, wire.NewStream(&onlyAnswer{strings.NewReader(string(answer))}).Receive(&said, 0))
	if said.GetRefusal() != 0 || said.GetMode() != 2 || said.GetSite() != siteOf(site) || len(said.GetCharter()) == 0 {
		t.Errorf("hello is answered %v", &said)
	}
	// Nobody must say hello.
	info, err := wire.AppendFrame(nil, &feedringv1.InfoRequest{Theme: "news"})
	must(t, err)
	other := newOutsider(t, v.name)
	until(t, 30*time.Second, "an answer without a hello", func() bool {
		return len(other.asks(v.first, wire.ProtocolID(v.name, wire.VerbInfo), info)) > 0
	})
}
