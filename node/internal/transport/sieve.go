package transport

import (
	"errors"
	"slices"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/ring"
)

// Views tell what the machine knows.
type Views interface{ View() *peer.View }

// stale counts the statements of a message's lists that cannot be news to this peer, as
// the last view has it: rows that are not newer than those held, rows of a group from one
// who is not in it, marks of a peer that leads no group. A view may be some milliseconds
// old, which makes nothing stale that is not.
func stale(v *peer.View, from feedring.PeerID, m feedring.Message) int {
	if v == nil {
		return 0
	}
	switch m := m.(type) {
	case group.Rows:
		return staleRows(v, from, m.Group, m.Rows)
	case group.Refresh:
		return staleRows(v, from, m.Group, m.Rows)
	case group.Admitted:
		return staleRows(v, from, m.Group, m.Rows)
	case ring.Rows:
		return staleRingRows(v, m)
	}
	return 0
}

// staleRows counts rows of a group. While this peer has no role there it asks for them,
// and whoever answers is unknown.
func staleRows(v *peer.View, from feedring.PeerID, g feedring.GroupID, rows []*group.Row) (count int) {
	var of *group.View
	for _, m := range v.Memberships {
		if m.Group == g {
			of = m
		}
	}
	if of == nil || !of.Settled {
		return 0
	}
	held := make(map[feedring.PeerID]*group.Row, len(of.Members))
	for i := range of.Members {
		held[of.Members[i].Row.Peer] = of.Members[i].Row
	}
	if held[from] == nil {
		return len(rows)
	}
	for _, r := range rows {
		if h := held[r.Peer]; h != nil && !newer(r, h) {
			count++
		}
	}
	return count
}

func newer(r, than *group.Row) bool {
	if r.Incarnation != than.Incarnation {
		return r.Incarnation > than.Incarnation
	}
	return r.Version > than.Version
}

// staleRingRows counts rows of the ring's map whose term is over, and marks. A peer
// without a map asks for one.
func staleRingRows(v *peer.View, m ring.Rows) (count int) {
	if !v.Synced {
		return 0
	}
	terms := make(map[feedring.GroupID]uint64, len(v.Ring))
	for i := range v.Ring {
		g := &v.Ring[i]
		terms[g.Theme.Group()] = g.Term
	}
	for _, r := range m.Rows {
		if r.Term.Number < terms[r.Group] {
			count++
		}
	}
	for i := range m.Lost {
		if _, leads := v.Addrs[m.Lost[i].By]; !leads {
			count++
		}
	}
	return count
}

// errKnown drops what is no news, before anything of it is checked.
var errKnown = errors.New("it is known, or of no feed of a group")

// prove checks the signatures of evidence that a log is forked, where it may be news: of a feed that is held, or that a
// member of the group publishes, and of a fork that is not known.
func (s *Server) prove(check *meter, m group.Evidence) error {
	if s.Forks == nil || s.Forks.Known(m.Fork) || !s.Forks.Held(m.Fork.Feed) && !lists(s.Views.View(), m.Group, m.Fork.Feed) {
		return errKnown
	}
	for _, seal := range m.Fork.Entries {
		if err := check.Verify(wire.KindEntry, seal); err != nil {
			return err
		}
	}
	return nil
}

// lists reports whether a feed is one of a group, as the last view has it.
func lists(v *peer.View, g feedring.GroupID, ref feedring.FeedRef) bool {
	if v == nil {
		return false
	}
	for _, m := range v.Memberships {
		i := -1
		if m.Group == g {
			i = slices.IndexFunc(m.Members, func(of group.Member) bool { return of.Row.Peer == ref.Publisher })
		}
		if i >= 0 && slices.ContainsFunc(m.Members[i].Row.Feeds, func(f feedring.Feed) bool { return f.URL == ref.URL }) {
			return true
		}
	}
	return false
}
