package peerbook

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/feedring/feedring/internal/standing"
)

// TestKeysOfOnePrefixDisplaceNobody: a thousand keys of one prefix keep two places, and the
// peers that were met before keep theirs.
func TestKeysOfOnePrefixDisplaceNobody(t *testing.T) {
	b, now := NewMet(), time.Unix(1e9, 0)
	away := func(peer.ID) bool { return false }
	for i := range 100 {
		b.Meet(peer.ID(fmt.Sprint("honest", i)), standing.Prefix(fmt.Sprintf("10.%d.0.0/24", i)), now, away)
	}
	for i := range 1000 {
		b.Meet(peer.ID(fmt.Sprint("hostile", i)), "192.0.2.0/24", now.Add(time.Duration(i+1)*time.Second), away)
	}
	all := b.Newest(false)
	if len(all) != 102 || all[0] != "hostile999" || all[1] != "hostile998" {
		t.Errorf("%d are known, the newest are %q", len(all), all[:2])
	}
}

// TestMostAreKept: who was not met for longest makes room, and who has no prefix is not
// counted by one.
func TestMostAreKept(t *testing.T) {
	b, now := NewMet(), time.Unix(1e9, 0)
	b.Recall("saved", "")
	if len(b.Newest(false)) != 0 || len(b.Newest(true)) != 1 {
		t.Error("a saved peer counts as met")
	}
	for i := range maxMet {
		b.Meet(peer.ID(fmt.Sprint("p", i)), "", now.Add(time.Duration(i)*time.Second), func(peer.ID) bool { return false })
	}
	if all := b.Newest(true); len(all) != maxMet || slices.Contains(all, peer.ID("saved")) {
		t.Errorf("%d are known", len(all))
	}
}

func TestSharedPrefix(t *testing.T) {
	b := NewMet()
	shares := func(want standing.Prefix) {
		t.Helper()
		if p, shared := b.Shared(); p != want && shared || shared != (want != "") {
			t.Errorf("shared: %q %t, want %q", p, shared, want)
		}
	}
	nobody := func(peer.ID) bool { return false }
	shares("")
	b.Meet("a", "192.0.2.0/24", time.Unix(1, 0), nobody)
	shares("") // one peer shares with nobody
	b.Meet("b", "192.0.2.0/24", time.Unix(2, 0), nobody)
	shares("192.0.2.0/24")
	b.Meet("c", "", time.Unix(3, 0), nobody)
	shares("")
}

// TestConnectedPeersStay: keys of a prefix do not displace peers of it that are connected.
func TestConnectedPeersStay(t *testing.T) {
	b, now := NewMet(), time.Unix(1e9, 0)
	honest := func(id peer.ID) bool { return id == "honest" }
	b.Meet("honest", "192.0.2.0/24", now, honest)
	for i := range 10 {
		b.Meet(peer.ID(fmt.Sprint("hostile", i)), "192.0.2.0/24", now.Add(time.Duration(i+1)*time.Second), honest)
	}
	if all := b.Newest(false); len(all) != 2 || all[0] != "hostile9" || all[1] != "honest" {
		t.Errorf("known: %q", all)
	}
	everybody := func(peer.ID) bool { return true }
	b.Meet("later", "192.0.2.0/24", now.Add(time.Hour), everybody)
	if all := b.Newest(false); len(all) != 2 || all[0] != "hostile9" {
		t.Errorf("known where all are connected: %q", all)
	}
}
