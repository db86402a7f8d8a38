package node

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/presence"
	"github.com/feedring/feedring/internal/vouch"
	"github.com/feedring/feedring/internal/web"
)

// checkOf is what the doctor says of one thing.
func checkOf(t *testing.T, n *Node, name string) web.Check {
	t.Helper()
	for _, c := range n.Doctor(t.Context()) {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("the doctor says nothing of %s", name)
	return web.Check{}
}

// TestDoctorOfFeeds: a published feed that cannot be read fails, a private one is
// noted.
func TestDoctorOfFeeds(t *testing.T) {
	site := newPages(t, map[string]string{"/good": aFeed})
	cfg := peerConfig(t, "own.example")
	cfg.AllowPrivateFeeds = true
	cfg.Feeds = []feedring.FeedSpec{{URL: site.URL + "/good", Theme: testTheme, Provider: "own.example"}}
	n := startPeer(t, cfg)
	broken := feedring.FeedSpec{URL: site.URL + "/broken", Provider: "p.example"}
	check(t, addFeed(t, n, broken))
	eventually(t, "looks", func() bool {
		st, err := n.Feed(broken.URL)
		good, err2 := n.Feed(site.URL + "/good")
		return err == nil && err2 == nil && st.Error != "" && good.Entries == 1
	})
	if c := checkOf(t, n, "feeds"); !c.OK || c.Detail != "1 published, all well" {
		t.Errorf("beside a private feed that fails: %+v", c)
	}
	if c := checkOf(t, n, "private feeds"); !c.OK || !c.Note || !strings.Contains(c.Detail, "1 of 1 could not be read: "+broken.URL+": 404") {
		t.Errorf("a private feed that fails: %+v", c)
	}
	public := feedring.FeedSpec{URL: site.URL + "/missing", Theme: testTheme, Provider: "p.example"}
	check(t, addFeed(t, n, public))
	eventually(t, "a look", func() bool {
		st, err := n.Feed(public.URL)
		return err == nil && st.Error != ""
	})
	if c := checkOf(t, n, "feeds"); c.OK || !strings.Contains(c.Detail, public.URL+": 404") || strings.Contains(c.Detail, broken.URL) {
		t.Errorf("a published feed that fails: %+v", c)
	}
}

// TestDoctorVouchesAsTheListDoes: a site that names the peer, but for one of its
// two feeds, does not make the doctor call both vouched for.
func TestDoctorVouchesAsTheListDoes(t *testing.T) {
	var n *Node
	var served *httptest.Server
	served = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/.well-known/") {
			_, _ = w.Write([]byte(aFeed))
			return
		}
		doc, _ := json.Marshal(vouch.Document{Network: "test", Peers: []feedring.PeerID{n.ID()}, Feeds: []string{served.URL + "/a"}})
		_, _ = w.Write(doc)
	}))
	defer served.Close()
	cfg := peerConfig(t, "a.example")
	cfg.AllowPrivateFeeds = true
	cfg.Feeds = nil
	n = startPeer(t, cfg)
	for _, path := range []string{"/a", "/b"} {
		check(t, addFeed(t, n, feedring.FeedSpec{URL: served.URL + path, Theme: testTheme, Provider: "a.example"}))
	}
	eventually(t, "a role", n.Ready)
	if c := checkOf(t, n, "vouched"); !c.Note || !strings.HasPrefix(c.Detail, "0 of 2 published feeds") || c.Advice != web.AdviseConfirm {
		t.Errorf("alone: %+v", c)
	}
	other := peerConfig(t, "b.example", n)
	other.AllowPrivateFeeds = true
	formed(t, n, startPeer(t, other))
	eventually(t, "one feed is vouched for", func() bool {
		st, err := n.Feed(served.URL + "/a")
		return err == nil && st.VouchedBy != ""
	})
	if st, err := n.Feed(served.URL + "/b"); err != nil || st.VouchedBy != "" {
		t.Errorf("the other feed: %+v, %v", st, err)
	}
	c := checkOf(t, n, "vouched")
	if !c.OK || !c.Note || !strings.HasPrefix(c.Detail, "1 of 2 published feeds") || !strings.Contains(c.Detail, "has not confirmed for all of their feeds") {
		t.Errorf("%+v", c)
	}
}

// TestDoctorOfJoins: of each place that was not reached it is told why.
func TestDoctorOfJoins(t *testing.T) {
	cfg := peerConfig(t, "own.example")
	other := startPeer(t, peerConfig(t, "other.example"))
	cfg.Join = []string{other.Started().Addrs[0], "nobody.invalid"}
	n := startPeer(t, cfg)
	eventually(t, "a join that fails", func() bool {
		c := checkOf(t, n, "peers")
		return c.OK && c.Note && strings.Contains(c.Detail, "connected to 1; nobody.invalid was not reached: ") && !strings.Contains(c.Detail, cfg.Join[0])
	})
	for _, j := range n.Joins() {
		if (j.Error != "") != (j.Join == "nobody.invalid") {
			t.Errorf("%+v", j)
		}
	}
}

// TestDoctorOfTheSilent: of a process that is silent because another one has its
// key the identity fails, not what comes of the silence.
func TestDoctorOfTheSilent(t *testing.T) {
	cfg := peerConfig(t, "own.example")
	cfg.Join = []string{"nobody.invalid"}
	n := startPeer(t, cfg)
	eventually(t, "a join that fails", func() bool { return strings.Contains(checkOf(t, n, "peers").Detail, "was not reached") })
	if c := checkOf(t, n, "peers"); c.OK {
		t.Errorf("alone without a cause: %+v", c)
	}
	eventually(t, "it publishes", func() bool { now, _ := n.identity.State(); return now.State == presence.Publishes && n.Ready() })
	n.identity.Decided(t.Context(), presence.Changed{State: presence.Yields, Rival: &presence.Statement{Instance: 1}})
	eventually(t, "no role", func() bool { return !n.Ready() })
	for _, name := range []string{"peers", "roles"} {
		if c := checkOf(t, n, name); !c.OK || !c.Note || !strings.Contains(c.Detail, "takes part in no group while another one runs with its key") || strings.HasPrefix(c.Detail, ";") {
			t.Errorf("%s: %+v", name, c)
		}
	}
	if c := checkOf(t, n, "identity"); c.OK {
		t.Errorf("%+v", c)
	}
}
