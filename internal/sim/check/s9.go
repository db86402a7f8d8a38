package check

import (
	"slices"
	"time"

	"github.com/feedring/feedring/internal/times"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/sim/disk"
)

// s9 checks that a holder has all that was seen after its mark, up to its head.
type s9 struct {
	*record
	polls *polls
}

// prunes checks that nothing fresh is dropped (S9).
func (c *s9) prunes(p int32, out group.Prune) {
	if fresh := c.cfg.Clock(p).Add(-c.cfg.Freshness); out.Before.After(fresh) {
		c.Fail("S9", "%s drops what was seen before %v, and all after %v is fresh", c.cfg.Name(p), out.Before, fresh)
	}
}

// grown checks what a poll added to a copy (S9).
func (c *s9) grown(p int32, o *peerRecord, g feedring.GroupID, f group.Fetched) {
	l := c.cfg.Log(f.Feed)
	s := o.membership(g)
	if l == nil || f.Failed || s.row == nil {
		return
	}
	c.whole(p, s.row, l)
}

// promised notes a peer's newest row.
func (c *s9) promised(p int32, o *peerRecord, r *group.Row) {
	s := o.membership(r.Group)
	before := s.row
	row := *r
	s.row = &row
	if before == nil || !before.From.Equal(r.From) || !slices.Equal(before.Backfilling, r.Backfilling) {
		c.promise(p, &row)
		if !o.asks {
			c.promisesKnownHeads(p, s, &row)
		}
	}
}

// promise checks all that a peer's row promises (S9).
func (c *s9) promise(p int32, row *group.Row) {
	for _, l := range c.cfg.Logs() {
		if l.Group == row.Group {
			c.whole(p, row, l)
		}
	}
}

// whole checks that, up to its head, a peer holds every entry of a log that was
// seen after its mark, unless it says that it is on its way. By a clock that is
// behind it promises more than others keep for it: what was not fresh by the right
// date may be nowhere.
func (c *s9) whole(p int32, row *group.Row, l *disk.Log) {
	has := c.cfg.Disk(p).Copy(l)
	if has == nil || has.Last == nil || l.Ref.Publisher == row.Peer || row.Left {
		return
	}
	for _, ref := range row.Backfilling {
		if ref == l.Ref {
			return
		}
	}
	mark := times.Later(c.markOf(p, row), c.cfg.Date().Add(-c.cfg.Freshness))
	i, j := len(l.Entries)-1, len(has.Held)-1
	for ; i >= 0 && l.Entries[i].Seen.After(mark); i-- {
		e := l.Entries[i]
		switch {
		case e.Lost || e.Position.Compare(has.Last.Position) > 0:
		case j >= 0 && has.Held[j] == e:
			j--
		default:
			c.Fail("S9", "%s lacks %d/%d of %s, seen %v, and its mark is %v", row.Peer, e.Position.Epoch, e.Position.Sequence,
				l.Ref.URL, e.Seen.Format(time.TimeOnly), mark.Format(time.TimeOnly))
			return
		}
		for j >= 0 && has.Held[j].Position.Compare(e.Position) >= 0 {
			j--
		}
	}
}

// markOf is since when a peer promises everything by its row, by its own clock.
func (c *s9) markOf(p int32, row *group.Row) time.Time {
	return times.Later(row.From, c.cfg.Clock(p).Add(c.slack()-c.cfg.Freshness))
}

// promisesKnownHeads checks that a peer's row does not promise what it was told of and lacks (S9),
// unless it asked for that in vain.
func (c *s9) promisesKnownHeads(p int32, s *membership, row *group.Row) {
	if s.owedHeads.by != s.term || row.Left || row.Admitted.IsZero() {
		return
	}
	s.owedHeads.heads = slices.DeleteFunc(slices.Clone(s.owedHeads.heads), func(h feedring.Head) bool {
		l := c.cfg.Log(h.Feed)
		return l == nil || c.cfg.Disk(p).Head(l).Position.Compare(h.Position) >= 0
	})
	mark := times.Later(c.markOf(p, row), c.cfg.Date().Add(-c.cfg.Freshness))
	for _, h := range s.owedHeads.heads {
		c.Judge("S9 of what a row keeps silent")
		if h.Feed.Publisher == row.Peer || slices.Contains(row.Backfilling, h.Feed) || slices.Contains(row.Backfilling, feedring.FeedRef{Publisher: h.Feed.Publisher}) ||
			c.soughtInVain(p, h) || !c.lacksFresh(p, h, mark) {
			continue
		}
		if v := c.cfg.Membership(p, s.theme); v != nil && slices.Contains(v.Feeds(""), h.Feed) {
			c.Fail("S9", "%s promises all since %v, and holds of %v nothing up to %d/%d, which it was told of", row.Peer,
				mark.Format(time.TimeOnly), h.Feed, h.Position.Epoch, h.Position.Sequence)
		}
		return
	}
}

// lacksFresh reports whether an entry that was seen after a mark comes after what a
// peer holds, and not after a head.
func (c *s9) lacksFresh(p int32, h feedring.Head, mark time.Time) bool {
	l := c.cfg.Log(h.Feed)
	held := c.cfg.Disk(p).Head(l).Position
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
func (c *s9) soughtInVain(p int32, h feedring.Head) bool {
	v := c.polls.vain[polling{p, h.Feed}]
	return v.polls >= giveUp-1 || v.failed >= giveUp-1 || v.told && v.most.Compare(h.Position) < 0
}
