package ring

import (
	"cmp"
	"slices"

	"github.com/feedring/feedring"
)

// Limits of what a row may say.
const (
	maxNumber  = feedring.MaxTermNumber
	maxVersion = 1 << 48
	maxAddrs   = 32
	maxAddr    = 512
	maxRow     = 64 << 10 // bytes
	maxLost    = 200      // bytes of a mark's payload
)

// valid reports whether row may enter the map. The driver checked its seal;
// that the seal is the claimant's is checked here.
func (m *Machine) valid(row *Row) bool {
	return (m.ringMap.Names(row.Group, row.Theme) || validTheme(row)) &&
		row.Term.Claimant != "" && row.Term.Claimant == row.Manager.ID &&
		row.Term.Number > 0 && row.Term.Number <= maxNumber && row.Version > 0 && row.Version <= maxVersion &&
		row.Deputy.ID == row.Secondary && row.Secondary != row.Term.Claimant &&
		row.Peers >= 0 && row.Feeds >= 0 && row.Clients >= 0 &&
		validAddrs(row.Manager.Addrs) && validAddrs(row.Deputy.Addrs) &&
		(row.Seal == nil || row.Seal.Signer == row.Term.Claimant) && row.Size() <= maxRow
}

func validTheme(row *Row) bool {
	return row.Theme.Canonical() && row.Group == row.Theme.Group()
}

func validAddrs(addrs []string) bool {
	return len(addrs) <= maxAddrs && !slices.ContainsFunc(addrs, func(a string) bool { return len(a) > maxAddr })
}

// groupView is what others see of a group: enough to know what changed.
type groupView struct {
	row        RowVersion
	text       *Row
	live       bool
	secondary  feedring.PeerID
	addrs, dep []string
}

func (m *Machine) view(g feedring.GroupID) groupView {
	r := m.ringMap.At(g)
	if r == nil {
		return groupView{}
	}
	s := r.Effective()
	return groupView{row: s.Version(), text: s.Row, live: s.Present(), secondary: s.Row.Secondary,
		addrs: s.Row.Manager.Addrs, dep: s.Row.Deputy.Addrs}
}

// merge merges row, which from sent ("" for one's own), and tells what it
// changed.
func (m *Machine) merge(row *Row, from feedring.PeerID) bool {
	before := m.view(row.Group)
	if !m.ringMap.Merge(m.now, row) {
		return false
	}
	m.changed(row.Group, before, from)
	m.withdrawRow(row.Group)
	return true
}

// lose merges a mark and tells what it changed.
func (m *Machine) lose(l Lost, from feedring.PeerID) {
	before := m.view(l.Group)
	if m.ringMap.Lose(m.now, l) {
		m.changed(l.Group, before, from)
	}
}

// changed reports that the effective row of g is another one. It passes on changes of
// structure at once, and this peer's own rows. Other counts wait for the exchanges.
func (m *Machine) changed(g feedring.GroupID, before groupView, from feedring.PeerID) {
	s := m.ringMap.At(g).Effective()
	after := m.view(g)
	if !after.live {
		m.proofs.Places.Remove(g)
	}
	if after.row == before.row {
		return
	}
	m.displaced(g, before, after)
	m.emit(Changed{Row: s.Row, Lost: s.Lost != nil})
	m.reach(s.Row.Manager, before.addrs)
	m.reach(s.Row.Deputy, before.dep)
	structure := after.live != before.live || after.row.Term != before.row.Term || after.row.Lost != before.row.Lost
	if structure && (from == "" || m.gossip.synced) || from == "" && !m.sameButCounts(before.text, s.Row) { // to a newcomer all is news, to nobody else
		m.queueNews(g, from)
	}
}

func (m *Machine) reach(p feedring.PeerInfo, before []string) {
	if p.ID != "" && p.ID != m.cfg.Self && len(p.Addrs) > 0 && !slices.Equal(p.Addrs, before) {
		m.emit(Reach{Peer: p.ID, Addrs: p.Addrs})
	}
}

// brief adds what the map holds of g, as it goes out, to message.
func (m *Machine) brief(message *Rows, g feedring.GroupID) {
	r := m.ringMap.At(g)
	if r == nil || !m.ringMap.Announces(g, m.now) {
		return
	}
	first := len(message.Lost)
	for i := range r.Slots {
		s := &r.Slots[i]
		if !s.Held() {
			continue
		}
		message.Rows = append(message.Rows, s.Row)
		if s.Lost != nil {
			message.Lost = append(message.Lost, *s.Lost)
		}
	}
	slices.SortFunc(message.Lost[first:], func(a, b Lost) int {
		return cmp.Or(a.Term.Compare(b.Term), cmp.Compare(a.Version, b.Version))
	})
}
