package group

import (
	"slices"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
)

// View is a snapshot of a membership. It never changes; any goroutine may read
// it. What it holds must not be modified.
type View struct {
	Theme        feedring.Theme
	Group        feedring.GroupID
	Self         feedring.PeerID
	Role         feedring.Role
	Term         feedring.Term // followed; zero where the peer is in no group yet
	Manager      feedring.PeerID
	Secondary    feedring.PeerID
	Acknowledged bool              // another peer follows the term
	Settled      bool              // the role is known: the manager is there, or it is this peer
	Leases       int               // clients of this peer
	Members      []Member          // peers that are there, this one included, by rank
	Away         []feedring.PeerID // peers that are not, by rank
	Heads        []feedring.Head   // held of the group's feeds, in order
	feeds        []catalogue.Publication
	vouched      map[feedring.FeedRef]string
}

// Member is one peer in a View.
type Member struct {
	Row    Row
	Role   feedring.Role
	Leases int
	Known  bool // Leases is known: to the manager, the secondary, of oneself
	Away   bool // silent for two periods; after a third it leaves Members
}

// View returns the present snapshot, the same one until something changes.
func (m *Machine) View() *View {
	if m.view != nil {
		return m.view
	}
	b := m.index()
	v := &View{
		Theme: m.cfg.Theme, Group: m.group, Self: m.cfg.Self, Role: m.roleNow(),
		Term: m.lead.claim.Term, Manager: m.manager(), Secondary: m.lead.secondary,
		Acknowledged: !m.serving && m.manager() != "" || m.acked, Leases: m.guests.Leases(),
		Settled: m.manager() != "" && (m.serving || m.live()) && !m.me().row.Admitted.IsZero(),
		Heads:   m.allHeads(), feeds: b.Feeds, vouched: b.Vouched,
	}
	own, placed := m.me().row, false
	for _, p := range b.Others {
		mem := m.members[p]
		if !placed && catalogue.CompareRank(own, mem.row) < 0 {
			v.Members, placed = append(v.Members, m.viewOf(m.cfg.Self)), true
		}
		if mem.away {
			v.Away = append(v.Away, p)
		}
		if !mem.away || m.now.Sub(mem.since) < m.cfg.Refresh {
			v.Members = append(v.Members, m.viewOf(p))
		}
	}
	if !placed {
		v.Members = append(v.Members, m.viewOf(m.cfg.Self))
	}
	m.view = v
	return v
}

func (m *Machine) viewOf(p feedring.PeerID) Member {
	mem := m.members[p]
	v := Member{Row: *mem.row, Role: feedring.RolePeer, Away: mem.away, Leases: mem.load}
	v.Known = (m.serving || m.lead.secondary == m.cfg.Self) && !mem.told.IsZero()
	if p == m.cfg.Self {
		v.Leases, v.Known = m.guests.Leases(), true
	}
	switch p {
	case m.manager():
		v.Role = feedring.RoleManager
	case m.lead.secondary:
		v.Role = feedring.RoleSecondary
	}
	return v
}

// allHeads lists what is held, in order. The list is kept until a head moves.
func (m *Machine) allHeads() []feedring.Head {
	if m.sorted != nil {
		return m.sorted
	}
	m.sorted = make([]feedring.Head, 0, len(m.heads))
	for ref, h := range m.heads {
		if !h.pos.IsZero() {
			m.sorted = append(m.sorted, feedring.Head{Feed: ref, Position: h.pos, Hash: h.hash})
		}
	}
	slices.SortFunc(m.sorted, func(a, b feedring.Head) int { return a.Feed.Compare(b.Feed) })
	return m.sorted
}

// VouchedBy returns the site that names ref's publisher as its own; empty: the
// feed is a mirror, or nobody has looked yet.
func (v *View) VouchedBy(ref feedring.FeedRef) string { return v.vouched[ref] }

// Serves is Machine.Serves on the snapshot.
func (v *View) Serves(provider string) bool {
	return slices.ContainsFunc(v.feeds, func(f catalogue.Publication) bool { return f.Provider.Matches(provider) })
}

// Feeds lists the feeds whose provider is the asked one, in order; of peers
// that are away as well.
func (v *View) Feeds(provider string) []feedring.FeedRef {
	var refs []feedring.FeedRef
	for _, f := range v.feeds {
		if f.Provider.Matches(provider) {
			refs = append(refs, f.Ref)
		}
	}
	return refs
}
