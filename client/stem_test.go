package client_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client"
)

func inEnglish(e *feedring.Entry) { e.Language = "en" }

// A provider that knows no stems is asked for everything, and the client chooses:
// nothing that matches is missing, and nothing else comes.
func TestStemsAtAProviderThatKnowsNone(t *testing.T) {
	for _, stems := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			a := w.peer(2)
			a.stems, a.final = stems, w.answers(themes{"news": {a}})
			for _, title := range []string{"The elections", "An election", "Nothing", "Electric"} {
				w.publish(a, "news", title, inEnglish)
			}
			w.publish(a, "news", "elections of no language")
			q := feedring.Query{Theme: "news", Words: "election", Stem: true}
			c := w.client(a)
			answer, err := c.Query(within(t, 5*time.Second), q)
			got := titles(answer.Entries)
			slices.Sort(got)
			if err != nil || answer.Final.Status != feedring.Answered || !slices.Equal(got, []string{"An election", "The elections"}) {
				t.Fatalf("stems %v: %q, %v, %v", stems, got, answer.Final.Status, err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var live []string
			err = c.Follow(ctx, q, client.FollowOptions{First: func(client.Answer) error {
				w.publish(a, "news", "Not this", inEnglish)
				w.publish(a, "news", "Re-elections elected an election", inEnglish)
				return nil
			}}, func(e feedring.Entry, _ feedring.Cursor) error {
				live = append(live, e.Title)
				return client.ErrEnough
			})
			if err != nil || !slices.Equal(live, []string{"Re-elections elected an election"}) {
				t.Errorf("stems %v: live %q, %v", stems, live, err)
			}
		})
	}
}

// Where such a provider sends as much as answers hold, older entries that match
// may be left out: that is told, unless enough came.
func TestStemsThatMayBeMissingAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		a := w.peer(2)
		a.final = w.answers(themes{"news": {a}})
		now := time.Now()
		for i := range feedring.MaxLimit + 1 {
			title := fmt.Sprint("nothing ", i)
			if i%500 == 0 {
				title = fmt.Sprint("elections ", i)
			}
			w.publish(a, "news", title, inEnglish, published(now.Add(time.Duration(i-feedring.MaxLimit-1)*time.Second)))
		}
		q := feedring.Query{Theme: "news", Words: "election", Stem: true}
		answer, err := w.client(a).Query(within(t, 20*time.Second), q)
		if err != nil || answer.Final.Status != feedring.Incomplete || !slices.Equal(answer.Final.Missing, []string{"news"}) || len(answer.Entries) != 2 {
			t.Errorf("%v, %q, %q, %v", answer.Final.Status, answer.Final.Missing, titles(answer.Entries), err)
		}
		q.Limit = 2
		answer, err = w.client(a).Query(within(t, 20*time.Second), q)
		if err != nil || answer.Final.Status != feedring.Answered || len(answer.Entries) != 2 {
			t.Errorf("enough: %v, %q, %v", answer.Final.Status, titles(answer.Entries), err)
		}
	})
}
