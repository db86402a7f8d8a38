package ring

import (
	"encoding/binary"
	"maps"
	"slices"
	"time"

	"github.com/feedring/feedring"
)

// ringEntry is a group that this peer manages.
type ringEntry struct {
	published      Row       // as published last
	wanted         Row       // as the membership says now
	publishedAt    time.Time // when it was published last
	hadEarlierLife bool      // the map had more under the term than was told here
}

// announce puts or renews the row of a group that this peer manages. Its
// version is the machine's own business.
func (m *Machine) announce(row Row) {
	if row.Term.Claimant != m.cfg.Self {
		return
	}
	row.Group = row.Theme.Group()
	s := m.entries[row.Group]
	if s == nil {
		s = &ringEntry{}
		m.entries[row.Group], m.entryGroups = s, nil
	}
	s.wanted, m.checked = row, 0
	if !m.sameButCounts(&s.published, &s.wanted) {
		m.publish(s)
	}
	if row.Gone { // who says so may be on its way out
		m.giveUp(row.Group)
		m.gossip.pushed = time.Time{}
	}
}

// countsEvery is after how many refresh periods a number of clients is told,
// where the map is not large.
const countsEvery = 3

// countsAtOnce is how many groups of a large map tell theirs in that time.
const countsAtOnce = 64

// countsWait is how long changed counts of g wait before they are told. Counts change
// all the time everywhere, and any difference between two maps costs an exchange. In a
// large map all groups together tell no more counts than in a small one, since each
// peer hears of each. They do so at times spread by their ids, though they may have
// begun together: comparing by parts is of no use if all parts differ.
func (m *Machine) countsWait(g feedring.GroupID) time.Duration {
	wait := countsEvery * m.cfg.Refresh
	if !m.ringMap.Large(m.now) {
		return wait
	}
	wait = wait * time.Duration(len(m.ringMap.Groups())) / countsAtOnce
	const steps = 1 << 16
	return wait/2 + wait/steps*time.Duration(binary.BigEndian.Uint16(g[8:]))
}

// sameButCounts compares two rows but for what waits to be told: the number of
// clients and, in a large map, those of peers and feeds. a may be nil.
func (m *Machine) sameButCounts(a, b *Row) bool {
	if a == nil {
		return false
	}
	c := *a
	if c.Clients = b.Clients; m.ringMap.Large(m.now) {
		c.Peers, c.Feeds = b.Peers, b.Feeds
	}
	return SameContent(&c, b)
}

// dueAt is when a row whose counts changed is told.
func (m *Machine) dueAt(s *ringEntry) time.Time {
	if SameContent(&s.wanted, &s.published) {
		return time.Time{}
	}
	return s.publishedAt.Add(m.countsWait(s.wanted.Group))
}

// publish gives the row a version above all that the map has under its term, those of
// an earlier life included, and tells it at once.
func (m *Machine) publish(s *ringEntry) {
	row := s.wanted
	row.Seal = nil
	if s.published.Term != row.Term {
		s.published, s.hadEarlierLife = Row{}, false
	}
	highest := m.highestVersion(row.Group, row.Term)
	s.hadEarlierLife = s.hadEarlierLife || highest > s.published.Version
	row.Version = highest + 1
	if row.Version > maxVersion {
		return
	}
	s.published, s.publishedAt = row, m.now
	m.merge(&row, "")
}

// Forgot reports whether an earlier life of this peer, of which it has no memory,
// managed g under the very term under which it does now.
func (m *Machine) Forgot(g feedring.GroupID) bool {
	s := m.entries[g]
	return s != nil && s.hadEarlierLife
}

func (m *Machine) highestVersion(g feedring.GroupID, term feedring.Term) uint64 {
	highest := uint64(0)
	if r := m.ringMap.At(g); r != nil {
		for i := range r.Slots {
			if s := &r.Slots[i]; s.Held() && s.Row.Term == term {
				highest = max(highest, s.Row.Version)
			}
		}
	}
	return highest
}

// publishDue tells rows that waited, and repeats what the map denies: a row that a
// neighbour marked lost, or that an earlier life of this peer overtook.
func (m *Machine) publishDue() {
	if m.checked == m.ringMap.Changes() && (m.publishAt.IsZero() || m.now.Before(m.publishAt)) {
		return
	}
	for _, g := range m.ownGroups() {
		s := m.entries[g]
		if due := m.dueAt(s); !due.IsZero() && !m.now.Before(due) || m.denied(s) {
			m.publish(s)
		}
	}
	m.publishAt = time.Time{}
	for _, g := range m.ownGroups() {
		s := m.entries[g]
		if due := m.dueAt(s); !due.IsZero() && (m.publishAt.IsZero() || due.Before(m.publishAt)) {
			m.publishAt = due
		}
	}
	m.checked = m.ringMap.Changes()
}

func (m *Machine) giveUp(g feedring.GroupID) {
	delete(m.entries, g)
	m.entryGroups, m.checked = nil, 0
}

// withdrawRow takes back the last row of a manager that gave its group up, once somebody claims a higher
// number. The row stays until then, and its secondary answers for the group. It was acknowledged and
// its manager is still there, so it would hide for ever a claim that nobody is left to follow.
func (m *Machine) withdrawRow(g feedring.GroupID) {
	if _, is := m.withdrawn[g]; !is {
		return
	}
	r := m.ringMap.At(g)
	if r == nil || m.entries[g] != nil || !r.Kind(true).Present() || r.Kind(true).Row.Term.Claimant != m.cfg.Self {
		delete(m.withdrawn, g)
		return
	}
	own, other := r.Kind(true).Row, r.Other()
	if r.Effective().Row != own || other == nil || other.Row.Term.Number <= own.Term.Number || own.Version >= maxVersion {
		return
	}
	row := *own
	row.Version, row.Seal = m.highestVersion(g, own.Term)+1, nil
	row.Gone, row.Peers, row.Feeds, row.Clients = true, 0, 0, 0
	row.Secondary, row.Deputy = "", feedring.PeerInfo{}
	m.merge(&row, "")
}

// ownGroups lists the groups of the entries, in order. The result must not be
// changed.
func (m *Machine) ownGroups() []feedring.GroupID {
	if m.entryGroups == nil {
		m.entryGroups = slices.SortedFunc(maps.Keys(m.entries), feedring.GroupID.Compare)
	}
	return m.entryGroups
}

func (m *Machine) denied(s *ringEntry) bool {
	r := m.ringMap.At(s.published.Group)
	if r == nil {
		return s.published.Version != 0
	}
	held := r.Kind(s.published.Acknowledged)
	return held.Lost != nil && held.Row.Term == s.published.Term ||
		m.highestVersion(s.published.Group, s.published.Term) > s.published.Version
}

// queueNews notes that g is news, and from whom ("": from this peer itself).
func (m *Machine) queueNews(g feedring.GroupID, from feedring.PeerID) { m.gossip.news[g] = from }

func (m *Machine) pushAt() time.Time {
	if len(m.gossip.news) == 0 {
		return time.Time{}
	}
	return m.gossip.pushed.Add(pushPause)
}

// pushDue tells news to a few peers of the ring and, if it is this peer's own, to the
// ring neighbours. Each of them does the same with what is new to it, so that a ring
// forms in a few round trips. Exchanges repair losses.
func (m *Machine) pushDue() {
	if at := m.pushAt(); at.IsZero() || m.now.Before(at) {
		return
	}
	m.gossip.pushed = m.now
	from := m.gossip.news
	news := slices.SortedFunc(maps.Keys(from), feedring.GroupID.Compare)
	m.gossip.news = map[feedring.GroupID]feedring.PeerID{} // one that was cleared would keep its size
	for _, p := range m.audience(news) {
		m.bring(p, slices.DeleteFunc(slices.Clone(news), func(g feedring.GroupID) bool { return from[g] == p }), nil)
	}
}

func (m *Machine) audience(news []feedring.GroupID) []feedring.PeerID {
	all := slices.Clone(m.present())
	m.random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	chosen := all[:min(fanout, len(all))]
	if len(chosen) < fanout && len(m.gossip.met) > 0 {
		chosen = append(chosen, m.anyMet(m.gossip.met))
	}
	for _, g := range news {
		if m.entries[g] != nil {
			for _, n := range m.neighbours(g) {
				chosen = append(chosen, m.ringMap.At(n).Effective().Row.Term.Claimant)
			}
		}
	}
	return unique(chosen, m.cfg.Self)
}

// unique keeps the first of each peer, and not self.
func unique(peers []feedring.PeerID, self feedring.PeerID) []feedring.PeerID {
	seen := map[feedring.PeerID]bool{self: true}
	var kept []feedring.PeerID
	for _, p := range peers {
		if !seen[p] {
			seen[p] = true
			kept = append(kept, p)
		}
	}
	return kept
}
