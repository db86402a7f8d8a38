package check

import (
	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/sim/disk"
)

// s8 checks that a peer holds what it tells of, and that no position is given
// twice. That an acknowledged entry survives a crash is checked by the simulator,
// at a start.
type s8 struct {
	*record
	polls *polls
}

// appends checks that positions given to a batch were never given before (S8).
func (c *s8) appends(p int32, o *peerRecord, out group.Append) {
	if _, at := o.input.Input.(group.Publish); at && o.membership(out.Group).role == feedring.RoleNone {
		c.Fail("S8", "%s goes on with %s before its group could tell it of more", c.cfg.Name(p), out.Feed.URL)
	}
	c.goesAbove(p, o.membership(out.Group), out)
	l := c.cfg.Log(out.Feed)
	if l == nil || out.Feed.Publisher != c.cfg.Name(p) {
		c.Fail("S8", "%s gives positions in %v", c.cfg.Name(p), out.Feed)
		return
	}
	if n := len(l.Entries); n > 0 && out.First.Compare(l.Entries[n-1].Position) <= 0 && !l.Entries[n-1].Lost {
		last := l.Entries[n-1].Position
		c.Fail("S8", "%s gives position %d/%d of %s again, after %d/%d", out.Feed.Publisher, out.First.Epoch, out.First.Sequence,
			out.Feed.URL, last.Epoch, last.Sequence)
	}
}

// goesAbove checks that a publisher begins a life above what it was told of at its
// admission, though nobody can show it, and then goes on above what others show it (S8).
func (c *s8) goesAbove(p int32, s *membership, out group.Append) {
	key := polling{p, out.Feed}
	told, began := c.polls.shown[key]
	if !began {
		c.polls.shown[key] = feedring.Position{} // it goes on: what comes now is of later
		for _, h := range s.owedHeads.heads {
			if h.Feed == out.Feed && s.owedHeads.by == s.term {
				told = h.Position
			}
		}
	}
	if told.IsZero() {
		return
	}
	c.Judge("S8 of what a publisher was told")
	if out.First.Compare(told) <= 0 {
		c.Fail("S8", "%s gives position %d/%d of %s, and was told of %d/%d", c.cfg.Name(p), out.First.Epoch, out.First.Sequence,
			out.Feed.URL, told.Epoch, told.Sequence)
	}
}

// heads checks a list of heads that a peer tells. Each list goes to several.
func (c *s8) heads(p int32, s *membership, heads []feedring.Head) {
	if len(heads) == 0 || &heads[0] == s.checked {
		return
	}
	s.checked = &heads[0]
	for i := range heads {
		c.head(p, heads[i])
	}
}

// head checks that a peer holds, synced, what it announces, before anybody hears of it
// (S8). Entries of others that are no longer fresh count as held.
func (c *s8) head(p int32, h feedring.Head) {
	l := c.cfg.Log(h.Feed)
	if l == nil {
		return
	}
	has := c.cfg.Disk(p).Copy(l)
	if (has == nil || has.Last == nil || h.Position.Compare(has.Last.Position) > 0) && !c.old(p, l, h.Position) {
		c.Fail("S8", "%s tells of %d/%d of %s, which is not on its disk", c.cfg.Name(p), h.Position.Epoch, h.Position.Sequence, h.Feed.URL)
	}
}

// old reports whether a position of another's log is one that nobody caches.
func (c *s8) old(p int32, l *disk.Log, pos feedring.Position) bool {
	rest := disk.After(l.Entries, feedring.Position{Epoch: pos.Epoch, Sequence: pos.Sequence - 1})
	return l.Ref.Publisher != c.cfg.Name(p) && len(rest) > 0 && rest[0].Position == pos &&
		!rest[0].Seen.After(c.cfg.Clock(p).Add(-c.cfg.Freshness))
}
