package check

import (
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/sim/disk"
)

// appends checks that positions given to a batch were never given before (S8).
func (w *Witness) appends(p int32, o *observed, out group.Append) {
	if _, at := o.told.Input.(group.Publish); at && o.seat(out.Group).role == feedring.RoleNone {
		w.Fail("S8", "%s goes on with %s before its group could tell it of more", w.cfg.Name(p), out.Feed.URL)
	}
	w.goesAbove(p, o.seat(out.Group), out)
	l := w.cfg.Log(out.Feed)
	if l == nil || out.Feed.Publisher != w.cfg.Name(p) {
		w.Fail("S8", "%s gives positions in %v", w.cfg.Name(p), out.Feed)
		return
	}
	if n := len(l.Entries); n > 0 && out.First.Compare(l.Entries[n-1].Position) <= 0 && !l.Entries[n-1].Lost {
		last := l.Entries[n-1].Position
		w.Fail("S8", "%s gives position %d/%d of %s again, after %d/%d", out.Feed.Publisher, out.First.Epoch, out.First.Sequence,
			out.Feed.URL, last.Epoch, last.Sequence)
	}
}

// goesAbove checks that a publisher begins a life above what it was told of at its
// admission, though nobody can show it, and then goes on above what others show it (S8).
func (w *Witness) goesAbove(p int32, s *seat, out group.Append) {
	key := polling{p, out.Feed}
	told, began := w.rules.shown[key]
	if !began {
		w.rules.shown[key] = feedring.Position{} // it goes on: what comes now is of later
		for _, h := range s.owed.heads {
			if h.Feed == out.Feed && s.owed.by == s.term {
				told = h.Position
			}
		}
	}
	if told.IsZero() {
		return
	}
	w.Judge("S8 of what a publisher was told")
	if out.First.Compare(told) <= 0 {
		w.Fail("S8", "%s gives position %d/%d of %s, and was told of %d/%d", w.cfg.Name(p), out.First.Epoch, out.First.Sequence,
			out.Feed.URL, told.Epoch, told.Sequence)
	}
}

// heads checks a list of heads that a peer tells. Each list goes to several.
func (w *Witness) heads(p int32, s *seat, heads []feedring.Head) {
	if len(heads) == 0 || &heads[0] == s.checked {
		return
	}
	s.checked = &heads[0]
	for i := range heads {
		w.head(p, heads[i])
	}
}

// head checks that a peer holds what it tells: synced, before anybody hears of
// it (S8). Of others' logs what is not fresh counts as held.
func (w *Witness) head(p int32, h feedring.Head) {
	l := w.cfg.Log(h.Feed)
	if l == nil {
		return
	}
	c := w.cfg.Disk(p).Copy(l)
	if (c == nil || c.Last == nil || h.Position.Compare(c.Last.Position) > 0) && !w.old(p, l, h.Position) {
		w.Fail("S8", "%s tells of %d/%d of %s, which is not on its disk", w.cfg.Name(p), h.Position.Epoch, h.Position.Sequence, h.Feed.URL)
	}
}

// old reports whether a position of another's log is one that nobody caches.
func (w *Witness) old(p int32, l *disk.Log, pos feedring.Position) bool {
	rest := disk.After(l.Entries, feedring.Position{Epoch: pos.Epoch, Sequence: pos.Sequence - 1})
	return l.Ref.Publisher != w.cfg.Name(p) && len(rest) > 0 && rest[0].Position == pos &&
		!rest[0].Seen.After(w.cfg.Clock(p).Add(-w.cfg.Freshness))
}

// prunes checks that nothing fresh is dropped (S9).
func (w *Witness) prunes(p int32, out group.Prune) {
	if fresh := w.cfg.Clock(p).Add(-w.cfg.Freshness); out.Before.After(fresh) {
		w.Fail("S9", "%s drops what was seen before %v, and all after %v is fresh", w.cfg.Name(p), out.Before, fresh)
	}
}

// grown checks what a poll added to a copy (S9).
func (w *Witness) grown(p int32, o *observed, g feedring.GroupID, f group.Fetched) {
	l := w.cfg.Log(f.Feed)
	s := o.seat(g)
	if l == nil || f.Failed || s.row == nil {
		return
	}
	w.whole(p, s.row, l)
}

// promise checks all that a peer's row promises (S9).
func (w *Witness) promise(p int32, row *group.Row) {
	for _, l := range w.cfg.Logs() {
		if l.Group == row.Group {
			w.whole(p, row, l)
		}
	}
}

// whole checks that, up to its head, a peer holds every entry of a log that was
// seen after its mark, unless it says that it is on its way. By a clock that is
// behind it promises more than others keep for it: what was not fresh by the right
// date may be nowhere.
func (w *Witness) whole(p int32, row *group.Row, l *disk.Log) {
	c := w.cfg.Disk(p).Copy(l)
	if c == nil || c.Last == nil || l.Ref.Publisher == row.Peer || row.Left {
		return
	}
	for _, ref := range row.Backfilling {
		if ref == l.Ref {
			return
		}
	}
	mark := later(w.markOf(p, row), w.cfg.Date().Add(-w.cfg.Freshness))
	i, j := len(l.Entries)-1, len(c.Held)-1
	for ; i >= 0 && l.Entries[i].Seen.After(mark); i-- {
		e := l.Entries[i]
		switch {
		case e.Lost || e.Position.Compare(c.Last.Position) > 0:
		case j >= 0 && c.Held[j] == e:
			j--
		default:
			w.Fail("S9", "%s lacks %d/%d of %s, seen %v, and its mark is %v", row.Peer, e.Position.Epoch, e.Position.Sequence,
				l.Ref.URL, e.Seen.Format(time.TimeOnly), mark.Format(time.TimeOnly))
			return
		}
		for j >= 0 && c.Held[j].Position.Compare(e.Position) >= 0 {
			j--
		}
	}
}

// markOf is since when a peer promises everything by its row, by its own clock.
func (w *Witness) markOf(p int32, row *group.Row) time.Time {
	return later(row.From, w.cfg.Clock(p).Add(w.slack()-w.cfg.Freshness))
}

// slack is what lookups grant for clocks that differ (docs/protocol.md 9): who
// serves a newcomer may by its own clock have dropped what the newcomer's calls
// fresh for seconds more, and no reader is sent to it for the sake of that.
func (w *Witness) slack() time.Duration { return min(5*time.Second, w.cfg.Freshness/10) }

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
