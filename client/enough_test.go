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

// portion follows until so many entries were shown, and returns their titles.
// It goes on from resume and keeps it up to date.
func portion(t *testing.T, c *client.Client, resume *client.Resume, count int, wholeFirst bool) (shown []string) {
	t.Helper()
	o := client.FollowOptions{Resume: resume, Save: func(r client.Resume) {
		text, err := json.Marshal(r)
		if err == nil {
			err = json.Unmarshal(text, resume)
		}
		if err != nil {
			t.Error(err)
		}
	}}
	each := func(e feedring.Entry, _ feedring.Cursor) error {
		if shown = append(shown, e.Title); len(shown) >= count {
			return client.ErrEnough
		}
		return nil
	}
	if wholeFirst {
		o.First = func(a client.Answer) error {
			if shown = append(shown, titles(a.Entries)...); len(shown) >= count {
				return client.ErrEnough
			}
			return nil
		}
	}
	if err := c.Follow(t.Context(), feedring.Query{Theme: "news"}, o, each); err != nil {
		t.Error(err)
	}
	return shown
}

// A reader that takes a few entries at a time, wherever that cuts a first
// answer or what came since, is shown each of them once.
func TestFollowEnough(t *testing.T) {
	for _, wholeFirst := range []bool{false, true} {
		for _, count := range []int{1, 2, 3, 4} {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				p := w.provider()
				for i := range 4 {
					w.publish(p, "news", fmt.Sprint("old ", i))
				}
				var resume client.Resume
				all := portion(t, w.client(p), &resume, count, wholeFirst)
				for i := range 4 {
					w.publish(p, "news", fmt.Sprint("new ", i))
					if len(all) > i+4 {
						continue
					}
					all = append(all, portion(t, w.client(p), &resume, min(count, i+5-len(all)), wholeFirst)...)
				}
				for len(all) < 8 {
					all = append(all, portion(t, w.client(p), &resume, 1, wholeFirst)...)
				}
				slices.Sort(all)
				if want := []string{"new 0", "new 1", "new 2", "new 3", "old 0", "old 1", "old 2", "old 3"}; !slices.Equal(all, want) {
					t.Errorf("%d at a time, whole first answer %v: %q", count, wholeFirst, all)
				}
				synctest.Wait()
			})
		}
	}
}

// What is kept when a reader had enough passes the last entry that it took, and
// none beyond.
func TestFollowEnoughKeepsCursor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.provider()
		w.publish(p, "news", "old")
		var resume client.Resume
		portion(t, w.client(p), &resume, 1, true)
		for i := range 3 {
			w.publish(p, "news", fmt.Sprint(i))
		}
		time.Sleep(time.Hour)
		if got := portion(t, w.client(p), &resume, 2, true); !slices.Equal(got, []string{"0", "1"}) {
			t.Errorf("shown %q", got)
		}
		ref := feedring.FeedRef{URL: "https://news.example/feed", Publisher: p.id}
		if at := resume.Groups[0].Cursor[ref].Sequence; at != 3 {
			t.Errorf("the cursor stands at %d, not at the third entry", at)
		}
	})
}
