package check

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/sim/disk"
)

// What a network must be while nothing goes wrong in it: not only right, but good.
// Every rule that answers a failure may hold, and everybody be told that something is
// missing, that nobody else could serve, or late.

// Settled says that all faults have ended, and what they did is mended.
func (w *Witness) Settled() { w.settled = w.cfg.Now() }

// complete checks what a reader is told who asked once all was settled: what is served,
// by publishers of whom all are there, is ANSWERED with nothing missing, and what
// nobody ever published is UNSATISFIED.
func (w *Witness) complete(p int32, a *asked, f *feedring.Final) {
	q := a.in.Query
	if w.settled == 0 || a.at <= w.settled {
		return
	}
	published, there := w.published(q.Theme, q.Provider)
	want := feedring.Answered
	switch {
	case !published:
		want = feedring.Unsatisfied
	case !there || slices.ContainsFunc(w.about(q), func(t feedring.Theme) bool {
		return !slices.Contains(a.known, t) || !w.everywhere(t, q.Provider)
	}):
		return // something is missing, or may be
	}
	if (!published || q.Theme == "" && q.Provider != "") && w.unsure(a.at) {
		return // a group may not say no yet
	}
	w.Judge("whole answers")
	if f.Status != want || len(f.Missing) > 0 || (len(f.Grants) > 0) != published {
		w.Fail("calm", "%s answers %v with %d grants, without %v, to who asks for %q of %q, long after all faults",
			w.cfg.Name(p), f.Status, len(f.Grants), f.Missing, q.Provider, q.Theme)
	}
}

// unsure reports whether, at some time, a peer had managed a group for less than three
// periods and nobody follows it: what it knows of the group may not be all
// (docs/protocol.md 8).
func (w *Witness) unsure(at time.Duration) bool {
	for p := range w.peers {
		for _, s := range w.peers[p].seats {
			if s.role == feedring.RoleManager && s.since > at-3*w.cfg.Refresh && w.cfg.Runs(int32(p)) && !w.followed(s) {
				return true
			}
		}
	}
	return false
}

// followed reports whether anybody is in a group under its manager's term.
func (w *Witness) followed(lead *seat) bool {
	for p := range w.peers {
		for _, s := range w.peers[p].seats {
			if s != lead && s.group == lead.group && s.term == lead.term {
				return true
			}
		}
	}
	return false
}

// published reports whether anybody ever published what is asked for, and whether all
// who did are there.
func (w *Witness) published(theme feedring.Theme, provider string) (ever, there bool) {
	there = true
	for _, l := range w.cfg.Logs() {
		if (theme == "" || l.Theme == theme) && l.Provider.Matches(provider) {
			ever, there = true, there && w.cfg.Runs(w.cfg.Index(l.Ref.Publisher))
		}
	}
	return ever, there
}

// mostAlternates is how many a grant names.
const mostAlternates = 3

// fewAlternates checks that a grant names as many alternates as may serve, once all is
// settled: members that are there and lack nothing of what is asked for, both when the
// lookup came and now. A lookup that came again meanwhile is left out: it is planned
// with what was known at either time.
func (w *Witness) fewAlternates(p int32, theme feedring.Theme, m group.Placed, g *feedring.Grant, asked []wanted) {
	if w.settled == 0 || len(m.Missing) > 0 || len(m.Copies) > 0 || len(asked) != 1 || asked[0].view == nil {
		return
	}
	want, now := asked[0], w.cfg.Membership(p, theme)
	if now == nil {
		return
	}
	feeds := want.view.Feeds(want.provider)
	mark := want.at.Add(-want.kept)
	if !g.Own {
		mark = later(mark, want.since)
	}
	others := 0
	for i := range want.view.Members {
		o := &want.view.Members[i]
		row := o.Row.Peer
		if row != g.Provider.ID && !o.Away && serves(o.Row, row == want.view.Self, feeds, mark) && serves(rowIn(now, row), row == want.view.Self, feeds, mark) {
			others++
		}
	}
	w.Judge("enough alternates")
	if n := min(mostAlternates, others); len(g.Alternates) < n {
		w.Fail("calm", "%s names %d alternates of %s, and %d others may serve", w.cfg.Name(p), len(g.Alternates), g.Provider.ID, others)
	}
}

// serves reports whether a member may serve all of feeds since a mark, by its row.
func serves(r *group.Row, self bool, feeds []feedring.FeedRef, mark time.Time) bool {
	return r != nil && !r.Left && (self || !r.Admitted.IsZero()) && !r.From.After(mark) &&
		!r.Lacks(func(ref feedring.FeedRef) bool { return concerns(ref, feeds) })
}

// Marks checks that nobody promises less than it has: that each member's mark is as far
// back as entries are fresh, once all has been settled for a period. Whoever is asked
// for more passes a member by whose mark is later, though it has everything. What
// justifies a later mark is:
//   - something that its row names as being fetched, since the mark goes back after that;
//   - that copies were dropped up to a later date, by a clock that was ahead then, here or
//     where they were polled: the disk knows it, whoever's clock it was;
//   - that it is rounded up to whole seconds.
//
// A clock that was set needs no other excuse: when the faults end its peer starts again, and
// marks anew, by the clock that it has then.
func (w *Witness) Marks(theme feedring.Theme, members []int32) {
	if w.settled == 0 || w.cfg.Now() < w.settled+w.cfg.Refresh {
		return
	}
	for _, p := range members {
		row := rowIn(w.cfg.Membership(p, theme), w.cfg.Name(p))
		if !w.cfg.Runs(p) || row == nil || row.Left || row.Admitted.IsZero() || len(row.Backfilling) > 0 {
			continue
		}
		w.Judge("marks far back")
		back := later(w.cfg.Clock(p).Add(-w.cfg.Freshness), w.cfg.Disk(p).DroppedTo(theme))
		if row.From.After(back.Add(time.Second)) {
			w.Fail("calm", "%s promises what came after %v, lacks nothing and could from %v on, long after all faults",
				row.Peer, row.From.Format(time.TimeOnly), back.Format(time.TimeOnly))
			return
		}
	}
}

// Calm reports whether all is settled.
func (w *Witness) Calm() bool { return w.settled > 0 }

// Reached checks that members hold an entry that its publisher told of before.
func (w *Witness) Reached(l *disk.Log, e *disk.Entry, members []int32) {
	for _, p := range members {
		if w.cfg.Name(p) == l.Ref.Publisher || !w.cfg.Runs(p) || !e.Seen.After(w.cfg.Clock(p).Add(-w.cfg.Freshness)) {
			continue
		}
		w.Judge("entries soon")
		if w.cfg.Disk(p).Head(l).Position.Compare(e.Position) < 0 {
			w.Fail("calm", "%s has no %d/%d of %s, %v after it was published", w.cfg.Name(p), e.Position.Epoch, e.Position.Sequence, l.Ref.URL, w.cfg.Now()-e.Synced)
			return
		}
	}
}
