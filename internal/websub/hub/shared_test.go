package hub

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedring/feedring/internal/websub/hub/ledger"
)

// What another peer kept is told what is there once, and then what comes. Where the other
// peer takes it back nobody is told anything, here or there.
func TestASubscriptionThatAnotherPeerKeptIsToldOnce(t *testing.T) {
	virtual(t, func(t *testing.T, r *rig) {
		s := ledger.Subscription{Topic: topicA, Callback: "https://x.example/cb", Secret: "key", Expires: time.Now().Add(time.Hour)}
		r.site.set("a", 0)
		if r.Restore(s) {
			t.Error("of a topic that is not there yet")
		}
		r.site.set("a", 1)
		for range 2 {
			if !r.Restore(s) {
				t.Error("it is not taken")
			}
		}
		synctest.Wait()
		if got := r.calls.posted(); len(got) != 1 || got[0].body != "a is 1" || got[0].header.Get("X-Hub-Signature") == "" {
			t.Errorf("%v", got)
		}
		r.change("a", 2)
		if got := r.calls.posted(); len(got) != 1 || got[0].body != "a is 2" {
			t.Errorf("%v", got)
		}
		time.Sleep(2 * sweepEvery) // what was told is written
		r.Drop("a")
		if r.site.isWatched("a") || r.Len() != 0 {
			t.Error("it is not dropped")
		}
		r.change("a", 3)
		if got, asked := r.calls.posted(), r.calls.asked(); len(got)+len(asked) > 0 || len(r.others.ended) > 0 {
			t.Errorf("dropped, and told %v and %v, ended %v", got, asked, r.others.ended)
		}
		r.site.set("a", 2)
		if r.Restore(s) {
			synctest.Wait()
		}
		if got := r.calls.posted(); len(got) > 0 || !r.site.isWatched("a") {
			t.Errorf("what this peer told before is told again: %v", got)
		}
		time.Sleep(2 * time.Hour)
		if r.Len() != 0 || !slices.Equal(r.others.ended, []string{"https://x.example/cb"}) {
			t.Errorf("%d subscriptions after the lease, ended %v", r.Len(), r.others.ended)
		}
	})
}

// A subscription counts once others have it, and they learn of its end.
func TestASubscriptionIsKeptByOthersBeforeItCounts(t *testing.T) {
	virtual(t, func(t *testing.T, r *rig) {
		r.others.fails = errors.New("nobody is there")
		r.subscribe(topicA, "https://x.example/cb")
		asked := r.calls.asked()
		if r.Len() != 0 || len(asked) != 2 || asked[1].Get("hub.mode") != "denied" {
			t.Errorf("%d subscriptions, the callback was asked %v", r.Len(), asked)
		}
		r.others.fails = nil
		r.subscribe(topicA, "https://x.example/cb")
		if r.Len() != 1 || len(r.others.kept) != 2 {
			t.Errorf("%d subscriptions, kept %v", r.Len(), r.others.kept)
		}
		if w := r.form(want("unsubscribe", topicA, "https://x.example/cb")); w.Code != 202 {
			t.Fatal(w.Code)
		}
		synctest.Wait()
		if r.Len() != 0 || len(r.others.ended) != 1 {
			t.Errorf("%d subscriptions, ended %v", r.Len(), r.others.ended)
		}
		r.others.shows = topicB
		if w := r.form(want("subscribe", topicB, "https://x.example/cb")); w.Code != 418 || w.Header().Get("Content-Type") != "" {
			t.Errorf("a topic of another peer: %d %v", w.Code, w.Header())
		}
	})
}
