package personalfeeds

import (
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/peer"
)

type oneView peer.View

func (v *oneView) View() *peer.View { return (*peer.View)(v) }

// A list is filled from the store of a member that is complete, and from the network where
// it may lack something: that could not come to the list later.
func TestACompleteMemberFillsListsFromItsOwnStore(t *testing.T) {
	now := time.Now()
	const fresh = 24 * time.Hour
	complete := group.Row{Peer: "self", Admitted: now.Add(-time.Hour), From: now.Add(-fresh)}
	with := func(change func(*group.Row)) *group.Row {
		r := complete
		change(&r)
		return &r
	}
	for name, c := range map[string]struct {
		row   *group.Row // nil: it is no member
		query feedring.Query
		want  bool
	}{
		"complete":                     {&complete, feedring.Query{Theme: "news", Words: "solar"}, true},
		"by a clock that differs":      {with(func(r *group.Row) { r.From = now.Add(4*time.Second - fresh) }), feedring.Query{Theme: "news"}, true},
		"of the last hour":             {&complete, feedring.Query{Theme: "news", Since: now.Add(-time.Hour)}, true},
		"of what only publishers have": {&complete, feedring.Query{Theme: "news", Since: now.Add(-fresh)}, false},
		"of another theme":             {&complete, feedring.Query{Theme: "sport"}, false},
		"of all themes":                {&complete, feedring.Query{}, false},
		"no member":                    {nil, feedring.Query{Theme: "news"}, false},
		"joined an hour ago":           {with(func(r *group.Row) { r.From = now.Add(-time.Hour) }), feedring.Query{Theme: "news"}, false},
		"started, and not back yet":    {with(func(r *group.Row) { r.Admitted = time.Time{} }), feedring.Query{Theme: "news"}, false},
		"lacks a feed":                 {with(func(r *group.Row) { r.Backfilling = []feedring.FeedRef{{URL: "https://a.example"}} }), feedring.Query{Theme: "news"}, false},
	} {
		v := &oneView{Memberships: make(map[feedring.Theme]*group.View)}
		if c.row != nil {
			other := with(func(r *group.Row) { r.Peer = "other" })
			v.Memberships["news"] = &group.View{Self: "self", Members: []group.Member{{Row: other}, {Row: c.row}}}
		}
		if got := (asPeer{Config: &Config{Freshness: fresh, Views: v}}).holds(&c.query, now); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
