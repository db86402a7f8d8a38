package sitecheck

import (
	"cmp"
	"context"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/vouch"
	"github.com/feedring/feedring/node/internal/tasks"
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
	for _, key := range []markKey{{publisher: "somebody", feed: "https://spam.example/feed"}, {publisher: "somebody", name: "spam.example"}} {
		running := &tasks.Group{}
		c := New(t.Context(), Config{Blocks: blocksOne{cmp.Or(key.feed, "https://"+key.name)}, Tasks: running})
		c.marks.want(key, "spam.example", func(context.Context) (vouch.Verdict, error) {
			t.Errorf("a mark of %v is looked for", key)
			return vouch.Verdict{}, nil
		})
		running.End(time.Minute)
	}
}
