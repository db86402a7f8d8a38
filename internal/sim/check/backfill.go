package check

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
)

// A peer that enters a group is told how far each feed goes. Until it holds that, its
// row either promises nothing from before, or names the feed (docs/protocol.md 4): up
// to its head its copy is whole all the time, and there may be none.

// owedHeads is what a peer was told when it was last admitted.
type owedHeads struct {
	by    feedring.Term
	heads []feedring.Head
}

// ignores takes back what an admission told that a peer did not ask for, or not any more: it
// neither follows that manager nor is about to.
func (s *seat) ignores(m group.Admitted) {
	if s.term != m.Claim.Term && s.written.Term != m.Claim.Term {
		s.owed = s.owedBefore
	}
}

// owes checks that a peer's row does not promise what it was told of and lacks (S9),
// unless it asked for that in vain.
func (w *Witness) owes(p int32, s *seat, row *group.Row) {
	if s.owed.by != s.term || row.Left || row.Admitted.IsZero() {
		return
	}
	s.owed.heads = slices.DeleteFunc(slices.Clone(s.owed.heads), func(h feedring.Head) bool {
		l := w.cfg.Log(h.Feed)
		return l == nil || w.cfg.Disk(p).Head(l).Position.Compare(h.Position) >= 0
	})
	mark := later(w.markOf(p, row), w.cfg.Date().Add(-w.cfg.Freshness))
	for _, h := range s.owed.heads {
		w.Judge("S9 of what a row keeps silent")
		if h.Feed.Publisher == row.Peer || slices.Contains(row.Backfilling, h.Feed) || slices.Contains(row.Backfilling, feedring.FeedRef{Publisher: h.Feed.Publisher}) ||
			w.soughtInVain(p, h) || !w.lacksFresh(p, h, mark) {
			continue
		}
		if v := w.cfg.Membership(p, s.theme); v != nil && slices.Contains(v.Feeds(""), h.Feed) {
			w.Fail("S9", "%s promises all since %v, and holds of %v nothing up to %d/%d, which it was told of", row.Peer,
				mark.Format(time.TimeOnly), h.Feed, h.Position.Epoch, h.Position.Sequence)
		}
		return
	}
}

// lacksFresh reports whether an entry that was seen after a mark comes after what a
// peer holds, and not after a head.
func (w *Witness) lacksFresh(p int32, h feedring.Head, mark time.Time) bool {
	l := w.cfg.Log(h.Feed)
	held := w.cfg.Disk(p).Head(l).Position
	for i := len(l.Entries) - 1; i >= 0 && l.Entries[i].Seen.After(mark); i-- {
		e := l.Entries[i]
		if !e.Lost && e.Position.Compare(held) > 0 && e.Position.Compare(h.Position) <= 0 {
			return true
		}
	}
	return false
}

// soughtInVain reports whether a peer need not name what it lacks: its polls fail, or
// the publisher itself has less. The first poll in vain may tell of an entry whose own
// report a stop swallowed, and is then none here.
func (w *Witness) soughtInVain(p int32, h feedring.Head) bool {
	v := w.rules.vain[polling{p, h.Feed}]
	return v.polls >= giveUp-1 || v.failed >= giveUp-1 || v.told && v.most.Compare(h.Position) < 0
}
