package peerbook

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedring/feedring"
)

// TestOnlyTheSameAddressesAreKnown: and those for a minute.
func TestOnlyTheSameAddressesAreKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := NewRecentAddrs()
		one, two := []string{"/ip4/1.2.3.4/tcp/1"}, []string{"/ip4/1.2.3.4/tcp/1", "/ip4/1.2.3.4/tcp/2"}
		told := func(id string, addrs []string) bool { return r.Again(feedring.PeerID(id), addrs) }
		if told("a", one) || !told("a", one) {
			t.Error("the second time is news")
		}
		if told("b", one) {
			t.Error("known of another peer")
		}
		if told("a", two) || told("a", one) {
			t.Error("a change is no news")
		}
		time.Sleep(recentFor)
		if told("a", one) {
			t.Error("no news after a while, though addresses are forgotten one day")
		}
	})
}
