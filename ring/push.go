package ring

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
)

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
	news := sortedGroups(from)
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
		chosen = append(chosen, m.anyOf(m.gossip.met))
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
