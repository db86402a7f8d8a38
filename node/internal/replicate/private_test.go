package replicate

import (
	"bytes"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/wire/polls"
)

func TestPollHidesPrivateFeeds(t *testing.T) {
	p := newPollers(t)
	private := testSpec
	private.Theme = ""
	p.publisher.append(t, private, entries(1, 5)...)
	r := p.served()
	unknown, err := polled(t, r, polls.Request{Feed: feedring.FeedRef{URL: testURL + "/no", Publisher: p.ref.Publisher}, Dictionary: "12345678"})
	check(t, err)
	first := log(t, p.publisher.Store, p.ref)[0]
	guess := polls.NewDictionary(p.ref, first.Payload, first.Hash).Name()
	for _, ask := range []polls.Request{{Feed: p.ref}, {Feed: p.ref, After: first.Position, Dictionary: guess}} {
		got, err := polled(t, r, ask)
		check(t, err)
		if len(got) == 0 || !bytes.Equal(got, unknown) {
			t.Errorf("a private feed is answered with %x, an unknown one with %x", got, unknown)
		}
	}
	if n := p.publisher.Store.Entries(func(h *store.Head) bool { return !h.Private }); n != 0 {
		t.Errorf("%d private entries are counted", n)
	}
}

// TestPollForTheFutureWalksNoLog: nothing can be fresh, so the log is not walked.
func TestPollForTheFutureWalksNoLog(t *testing.T) {
	p := newPollers(t)
	p.publisher.append(t, testSpec, entries(1, 5)...)
	r := p.served()
	last := r.Store.LogHead(p.ref).Position
	before := feedring.Position{Epoch: last.Epoch, Sequence: last.Sequence - 1}
	for _, at := range []struct{ after, want feedring.Position }{{feedring.Position{}, before}, {before, before}, {last, last}} {
		if got := r.onlyNewest(p.ref, at.after); got != at.want {
			t.Errorf("after %v it reads from %v, not %v", at.after, got, at.want)
		}
	}
	if got := r.onlyNewest(feedring.FeedRef{URL: "x", Publisher: "y"}, before); got != before {
		t.Errorf("an unknown feed is read from %v", got)
	}
	if _, err := polled(t, r, polls.Request{Feed: p.ref, Fresh: time.Now().Add(time.Hour)}); err != nil {
		t.Error(err)
	}
}
