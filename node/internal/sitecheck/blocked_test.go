package sitecheck

import (
	"testing"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
)

type blocksOne struct{ url string }

func (b blocksOne) Feed(ref feedring.FeedRef) bool { return ref.URL == b.url }

// TestBlockedSitesAreNotAsked: a checker that could ask nobody finds out nothing, and says
// so.
func TestBlockedSitesAreNotAsked(t *testing.T) {
	c := New(t.Context(), Config{Blocks: blocksOne{"https://spam.example/feed"}})
	got := c.check(siteCheck{Check: group.Check{Feed: feedring.FeedRef{URL: "https://spam.example/feed", Publisher: "somebody"}}})
	if !got.Unknown || got.Vouched {
		t.Errorf("%+v", got)
	}
}
