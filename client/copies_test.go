package client_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client"
)

// ofSite is an entry of a publisher whom its site names.
func ofSite(e *feedring.Entry) { e.VouchedBy = "news.example" }

func called(title string, version uint32) func(*feedring.Entry) {
	return func(e *feedring.Entry) { e.Title, e.Version = title, version }
}

// A follower that was shown a differing copy is shown the site's, marked. After that no
// copy of others is shown, and no retraction of theirs told, over a resume too.
func TestFollowOfCopies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p, site, mirror, squatter := w.provider(), w.peer(3), w.peer(4), w.peer(5)
		var retracted []string
		o := client.FollowOptions{Updates: true, Retracted: func(e feedring.Entry, _ feedring.Cursor) error {
			retracted = append(retracted, string(e.ID))
			return nil
		}}
		r := follow(t, w.client(p), feedring.Query{Theme: "news"}, o, nil)
		rest(time.Second)
		w.publish(squatter, "news", "one", called("squat", 1))
		w.publish(mirror, "news", "one")
		w.publish(site, "news", "one", ofSite)
		w.publish(squatter, "news", "one", called("squat again", 1<<20))
		w.publish(mirror, "news", "one", called("one", 2))
		rest(time.Second)
		r.wants(t, "squat", "one", "one supersedes")
		w.publish(site, "news", "one", ofSite, called("one, corrected", 2))
		w.publish(mirror, "news", "two")
		w.publish(site, "news", "two", ofSite)
		rest(2 * time.Second)
		want := []string{"squat", "one", "one supersedes", "one, corrected", "two"}
		r.wants(t, want...)
		r.end()

		text, err := json.Marshal(r.saved)
		var resume client.Resume
		if err == nil {
			err = json.Unmarshal(text, &resume)
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range resume.Groups {
			clear(resume.Groups[i].Cursor) // all that is held comes again
		}
		o.Resume = &resume
		again := follow(t, w.client(p), feedring.Query{Theme: "news"}, o, nil)
		rest(2 * time.Second)
		again.wants(t)
		again.end()
		if len(retracted) > 0 {
			t.Errorf("retracted: %v", retracted)
		}
	})
}

// What an earlier version kept of what was shown is not shown again.
func TestFollowResumesFromIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p, other := w.provider(), w.peer(3)
		id := w.publish(p, "news", "old")
		ref := feedring.FeedRef{URL: "https://news.example/feed", Publisher: p.id}
		resume := client.Resume{
			At: time.Now(), Began: time.Now(), Shown: []client.Shown{{ID: id, Version: 1}},
			Groups: []client.GroupCursor{{Theme: "news", Cursor: feedring.Cursor{ref: {Epoch: 1, Sequence: 1}}}},
		}
		r := follow(t, w.client(p), feedring.Query{Theme: "news"}, client.FollowOptions{Resume: &resume}, nil)
		rest(time.Second)
		w.publish(other, "news", "old")
		w.publish(other, "news", "new")
		rest(time.Second)
		r.wants(t, "new")
		r.end()
	})
}

// Claimed names are not found, hosts are. A provider of a version before sends by the
// claimed name.
func TestQueryByName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.provider()
		w.publish(p, "news", "claimed", func(e *feedring.Entry) { e.Provider = "lemonde.fr" })
		w.publish(p, "news", "borne out", func(e *feedring.Entry) { e.Provider, e.VouchedBy = "lemonde.fr", "lemonde.fr" })
		for asked, want := range map[string][]string{"lemonde.fr": {"borne out"}, "lemonde": {"borne out"}, "": {"borne out", "claimed"}} {
			answer, err := w.client(p).Query(within(t, 5*time.Second), feedring.Query{Theme: "news", Provider: asked})
			got := titles(answer.Entries)
			slices.Sort(got)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("--provider %q: %q, %v", asked, got, err)
			}
			for _, e := range answer.Entries {
				if e.Title == "claimed" && (e.Provider != "news.example" || e.Claims != "lemonde.fr" || e.Source() != "news.example (says lemonde.fr)") {
					t.Errorf("shown as %+v", e)
				}
				if e.Title == "borne out" && (e.Claims != "" || e.Vouch != feedring.Told || e.OfSite) {
					t.Errorf("shown as %+v", e)
				}
			}
		}
		answer, err := w.client(p).Query(within(t, 5*time.Second), feedring.Query{Theme: "news", Vouched: true})
		if got := titles(answer.Entries); err != nil || !slices.Equal(got, []string{"borne out"}) {
			t.Errorf("of vouched publishers: %q, %v", got, err)
		}
	})
}

// An entry that is dated ahead is shown as of when its provider got it.
func TestQueryDatesByArrival(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.provider()
		arrived := time.Now().UTC().Truncate(time.Second)
		w.arrived = arrived
		w.publish(p, "news", "ahead", func(e *feedring.Entry) {
			e.Published = arrived.Add(23 * time.Hour)
			e.Seen = e.Published
		})
		time.Sleep(time.Minute)
		w.arrived = time.Time{}
		w.publish(p, "news", "news")
		answer, err := w.client(p).Query(within(t, 5*time.Second), feedring.Query{Theme: "news"})
		if got := titles(answer.Entries); err != nil || !slices.Equal(got, []string{"news", "ahead"}) || !answer.Entries[1].Published.Equal(arrived) {
			t.Errorf("%q, %v", got, err)
		}
	})
}

// Where a provider's page holds copies that are not shown, a larger one is asked for.
func TestQueryBehindOthersCopies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p, site, squatters := w.provider(), w.peer(3), []*fakePeer{w.peer(4), w.peer(5), w.peer(6)}
		for i := range 40 {
			title := fmt.Sprint("story ", i)
			w.publish(site, "news", title, ofSite)
			for _, squatter := range squatters {
				w.publish(squatter, "news", title, called("squat", 1<<20))
			}
		}
		answer, err := w.client(p).Query(t.Context(), feedring.Query{Theme: "news", Limit: 20})
		if err != nil {
			t.Fatal(err)
		}
		shown := 0
		for _, e := range answer.Entries {
			if e.Title != "squat" {
				shown++
			}
		}
		if shown != 20 || len(answer.Entries) != 20 || answer.Final.Status != feedring.Answered {
			t.Errorf("%d entries, %d of them the site's, %v", len(answer.Entries), shown, answer.Final.Status)
		}
	})
}
