package node

import (
	"bytes"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/fleet"
	"github.com/feedring/feedring/internal/fleetkey"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/web"
)

// fleetKey makes the key of a fleet.
func fleetKey(t testing.TB) (file string, theme feedring.Theme) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "fleet.key")
	theme, err := fleetkey.New(file)
	check(t, err)
	return file, theme
}

func fleetPeer(t testing.TB, file string, join ...*Node) *Node {
	cfg := peerConfig(t, "", join...)
	cfg.Feeds, cfg.FleetKey = nil, file
	cfg.Refresh = 1500 * time.Millisecond // an eighth late is a missed deadline, and these look for each other all at once
	return startPeer(t, cfg)
}

// present lists whom a peer sees in its fleet.
func (n *Node) present() (ids []feedring.PeerID) {
	for _, m := range n.fleet.members.Members() {
		if m.Present {
			ids = append(ids, m.Peer)
		}
	}
	return ids
}

// Peers with the key find each other, whatever others claim of their group: a stranger
// founds it first, and leads a group of its own, of which the fleet hears nothing.
func TestAFleetFindsItsPeersBehindAStranger(t *testing.T) {
	file, theme := fleetKey(t)
	door := startPeer(t, peerConfig(t, "door.example"))
	cfg := peerConfig(t, "", door)
	cfg.Feeds, cfg.Read = nil, []feedring.Theme{theme}
	stranger := startPeer(t, cfg)
	eventually(t, "the stranger leads the group", func() bool {
		v := stranger.loop.View().Fleet
		_, leads := door.loop.View().Addrs[stranger.ID()]
		return v != nil && v.Manager == stranger.ID() && leads
	})
	a := fleetPeer(t, file, door, stranger)
	b := fleetPeer(t, file, door, stranger)
	c := fleetPeer(t, file, door, stranger)
	eventually(t, "three peers in the fleet", func() bool {
		return len(a.present()) == 3 && len(b.present()) == 3 && len(c.present()) == 3
	})
	for _, n := range []*Node{a, b, c} {
		v := n.loop.View().Fleet
		if n.fleet.link.Shown(stranger.ID()) || v.Manager == stranger.ID() {
			t.Errorf("%s counts the stranger in, or follows it: %s", n.ID().Short(), v.Manager.Short())
		}
		for _, m := range v.Members {
			if m.Row.Peer == stranger.ID() {
				t.Errorf("%s lists the stranger", n.ID().Short())
			}
		}
	}
	if v := stranger.loop.View().Fleet; len(v.Members) != 1 {
		t.Errorf("the stranger learned of %d peers", len(v.Members)-1)
	}
	if g := door.loop.View().Ring; len(g) != 1 || g[0].Theme != testTheme {
		t.Errorf("the ring shows %v", g)
	}

	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/nothing", nil)
	check(t, err)
	var answer *http.Response // two that do not lead the group may have shown each other nothing yet
	eventually(t, "an answer of another peer of the fleet", func() bool {
		answer, err = a.fleet.link.RoundTrip(b.ID(), r)
		return err == nil
	})
	if answer.StatusCode != http.StatusNotFound || answer.Body.Close() != nil {
		t.Errorf("answered %s", answer.Status)
	}
	if _, err := a.fleet.link.RoundTrip(stranger.ID(), r); err == nil {
		t.Error("a peer of the fleet asked a stranger")
	}

	kill(a)
	eventually(t, "one is away", func() bool { return len(b.present()) == 2 && len(c.present()) == 2 })
	if all := b.fleet.members.Members(); len(all) != 3 {
		t.Errorf("who was killed is forgotten: %v", all)
	}
	back := a.cfg
	again := startPeer(t, back)
	eventually(t, "and is back", func() bool { return len(b.present()) == 3 && len(again.present()) == 3 })
}

// A stranger that speaks the fleet's verb is answered nothing.
func TestAStrangerIsAnsweredNothing(t *testing.T) {
	file, _ := fleetKey(t)
	other, _ := fleetKey(t)
	a := fleetPeer(t, file)
	b := fleetPeer(t, other, a) // of another fleet: its link speaks the verb
	for _, path := range []string{"/", "/fleet/v1/sums", "/feeds/x.atom", "/api/v1/status"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		check(t, err)
		if answer, err := b.fleet.link.Send(a.ID(), r); err == nil {
			t.Errorf("%s was answered: %s", path, answer.Status)
		}
	}
	if b.fleet.link.Greet(t.Context(), a.ID()) == nil || a.fleet.link.Shown(b.ID()) || b.fleet.link.Shown(a.ID()) {
		t.Error("a peer of another fleet was let in")
	}
}

// A peer that keeps rows of a fleet and is started without the key says so, and serves none
// of the fleet's feeds; with the key it serves those that are there still.
func TestAFleetThatIsLeftIsTold(t *testing.T) {
	file, _ := fleetKey(t)
	var said bytes.Buffer
	cfg := peerConfig(t, "")
	cfg.Feeds, cfg.HTTP, cfg.Logger = nil, "127.0.0.1:0", slog.New(slog.NewTextHandler(&said, nil))
	var feeds []web.Subscription // one that stays, and one that is revoked
	polled := func(n *Node, feed web.Subscription) int {
		t.Helper()
		code, _, _ := polledAs(t, n.front.Address()+web.PersonalPath+feed.Secret+".atom", "one", "")
		return code
	}
	for _, start := range []struct{ rows, key bool }{{false, false}, {true, true}, {true, false}, {true, false}, {true, true}} {
		said.Reset()
		if cfg.FleetKey = ""; start.key {
			cfg.FleetKey = file
		}
		n := startPeer(t, cfg)
		left := start.rows && !start.key
		if got := slices.Contains(n.Readiness().Warnings, web.WarnLeftFleet); got != left {
			t.Errorf("%v: readiness warns: %v", start, n.Readiness().Warnings)
		}
		switch {
		case left:
			for _, f := range feeds {
				if _, open := n.personal.State(f.Secret); open || polled(n, f) != http.StatusServiceUnavailable {
					t.Errorf("%v: a feed of the fleet: open %t, answered %d", start, open, polled(n, f))
				}
			}
			id, _ := fleet.ParseID(feeds[1].ID)
			check(t, n.store.Delete(t.Context(), store.BucketFleet, fleet.Key{Kind: fleet.Feed, ID: id}.Record()))
		case start.key && feeds == nil:
			for len(feeds) < 2 {
				eventually(t, "a feed of the fleet", func() bool {
					f, err := n.fleet.service.Subscribe(t.Context(), "", feedring.Query{Theme: testTheme, Limit: 10 + len(feeds)}, false)
					if err == nil {
						feeds = append(feeds, f)
					}
					return err == nil
				})
				eventually(t, "it is served", func() bool { return polled(n, feeds[len(feeds)-1]) == http.StatusOK })
			}
		case start.key:
			eventually(t, "one feed is served, and the other one is gone", func() bool {
				return polled(n, feeds[0]) == http.StatusOK && n.personal.Holds(feeds[0].ID) && !n.personal.Holds(feeds[1].ID)
			})
		}
		kill(n)
		if got := strings.Contains(said.String(), "without --fleet-key"); got != left {
			t.Errorf("%v: it logged:\n%s", start, said.String())
		}
	}
}
