package group

import (
	"maps"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
)

// merge takes r, which nobody may change any more, into the catalogue and reports whether it was new.
func (m *Machine) merge(r *Row) bool {
	if !r.Valid(m.group) {
		return false
	}
	if r.Peer == m.cfg.Self {
		m.onOwnRow(r)
		return false
	}
	mem := m.members[r.Peer]
	if mem == nil || m.forgot(r) || !m.outdates(r, mem.row) || !m.admitter.Resize(mem.row, r) {
		return false
	}
	m.replaceRow(mem, r)
	return true
}

// forgot reports whether r, or a newer row of its peer, was forgotten.
func (m *Machine) forgot(r *Row) bool {
	v, ok := m.expired[r.Peer]
	return ok && catalogue.VersionOf(r).Compare(v) <= 0
}

// outdates reports whether r replaces another row of its peer. One that made two
// of one version lost its store between them: it is shown both, and goes above.
func (m *Machine) outdates(r, known *Row) bool {
	c := catalogue.Compare(r, known)
	if c != 0 && catalogue.VersionOf(r) == catalogue.VersionOf(known) {
		m.send(r.Peer, Rows{Header: m.header(), Rows: []*Row{r, known}})
	}
	return c > 0
}

// mergeOf takes r of from, who may know better than this peer's memory of what it forgot: the owner itself, and who
// leads this peer or admits it. From others a row that is forgotten does not come back.
func (m *Machine) mergeOf(from feedring.PeerID, r *Row) bool {
	if from == r.Peer || from == m.manager() || m.joining.asked(from) {
		delete(m.expired, r.Peer)
	}
	if m.members[r.Peer] != nil {
		return m.merge(r)
	}
	if !r.Valid(m.group) || m.forgot(r) {
		return false
	}
	away, taken := m.admitter.Take(r, from)
	if !taken {
		return false
	}
	mem := &member{row: &Row{}, first: m.now, heard: m.now, away: away}
	if away {
		mem.since = m.now
	}
	m.members[r.Peer] = mem
	m.replaceRow(mem, r)
	return true
}

func (m *Machine) replaceRow(mem *member, r *Row) {
	if !slices.Equal(mem.row.Addrs, r.Addrs) && len(r.Addrs) > 0 && r.Peer != m.cfg.Self {
		m.emit(Reach{Peer: r.Peer, Addrs: r.Addrs})
	}
	if r.Left && !mem.row.Left {
		mem.since = m.now
	}
	old := mem.row
	mem.row, mem.hash = r, catalogue.VersionOf(r).Hash()
	m.sum = nil
	m.changes++
	mem.changed = m.changes
	m.replicator.Relist(r.Peer, old, r)
	m.ownRow.orphansChanged = m.ownRow.orphansChanged || m.cfg.keeper() && r.Peer != m.cfg.Self && (old.Left != r.Left || old.Peer == "")
	switch index := m.cachedIndex; {
	case catalogue.SameIndex(old, r):
		m.views.view = nil
		m.checkSitesSoon()
	case catalogue.SameLists(old, r): // most of all news is what was seen at a site
		m.changedRows()
		m.cachedIndex = index.With(r)
	default:
		m.changedRows()
	}
	if r.Peer != m.cfg.Self && !catalogue.SameWord(old, r) {
		m.recheckSites(r.Peer)
	}
}

// changedRows forgets what is derived from the catalogue.
func (m *Machine) changedRows() {
	m.sites.vouched = nil
	m.changedPresence()
}

// changedPresence forgets what is derived from who is there.
func (m *Machine) changedPresence() {
	m.forgetIndex()
	m.mesh.Forget()
	m.sharing.RowsChanged()
	m.orphans.RowsChanged()
	m.views.view = nil
	m.checkSitesSoon()
	m.sharing.ReviewIn(min(m.cfg.Refresh/20, 50*time.Millisecond))
}

// checkSitesSoon has this peer see before long which sites it is to check.
func (m *Machine) checkSitesSoon() {
	if b := (timerKey{kind: timerSites}); !m.lead.claim.Term.IsZero() && !m.timers.IsSet(b) {
		m.timers.Set(b, m.now.Add(m.jitter(m.cfg.Refresh)))
	}
}

// wantRows asks p for the catalogue, once a beat.
func (m *Machine) wantRows(p feedring.PeerID) {
	mem := m.members[p]
	if mem == nil || !mem.past().wanted.IsZero() && m.now.Sub(mem.past().wanted) < m.beatEvery() {
		return
	}
	mem.note().wanted = m.now
	m.send(p, RowsWanted{Header: m.header(), Have: m.versions()})
}

func (m *Machine) onRowsWanted(from feedring.PeerID, w RowsWanted) {
	if len(w.Have) > maxRows {
		return
	}
	have := make(map[feedring.PeerID]RowVersion, len(w.Have))
	behind := false
	var forgotten []feedring.PeerID
	for _, v := range w.Have {
		have[v.Peer] = v
		if mem := m.members[v.Peer]; mem == nil || catalogue.VersionOf(mem.row).Compare(v) < 0 {
			gone, ok := m.expired[v.Peer]
			old := ok && gone.Compare(v) >= 0
			if behind = behind || !old; old && mem == nil {
				forgotten = append(forgotten, v.Peer)
			}
		}
	}
	var rows []*Row
	for _, p := range slices.Sorted(maps.Keys(m.members)) {
		if v, ok := have[p]; !ok || catalogue.VersionOf(m.members[p].row).Compare(v) > 0 {
			rows = append(rows, m.members[p].row)
		}
	}
	m.sendRows(from, rows)
	m.sendForgotten(from, forgotten)
	if behind {
		m.wantRows(from)
	}
}

// sendRows tells rows in messages of bounded size.
func (m *Machine) sendRows(to feedring.PeerID, rows []*Row) {
	for len(rows) > 0 {
		n := catalogue.Within(rows)
		m.send(to, Rows{Header: m.header(), Rows: rows[:n:n]})
		rows = rows[n:]
	}
}

func (m *Machine) onRows(from feedring.PeerID, told Rows) {
	if len(told.Rows) > maxRows || len(told.Forgotten) > maxRows || m.members[from] == nil && !m.joining.asked(from) {
		return
	}
	var fresh, refused []feedring.PeerID
	for _, r := range told.Rows {
		if m.mergeOf(from, r) {
			fresh = append(fresh, r.Peer)
		} else if m.members[r.Peer] == nil {
			refused = append(refused, r.Peer)
		}
	}
	m.sendForgotten(from, refused)
	m.onForgotten(from, told.Forgotten)
	if m.lead.serving {
		m.spreadRows(fresh, from)
	}
}

// spreadRows passes news of the catalogue on to all members: at once, or with the next beat where the group is large.
func (m *Machine) spreadRows(peers []feedring.PeerID, from feedring.PeerID) {
	if len(peers) == 0 {
		return
	}
	if m.large() {
		m.managing.pendingRows = append(m.managing.pendingRows, peers...)
		return
	}
	rows := m.rowsOf(peers)
	for _, p := range m.present() {
		if p != from {
			m.sendRows(p, rows)
		}
	}
}

// expire forgets rows of peers that were away or have left for so long that nothing of theirs is fresh.
func (m *Machine) expire() {
	var old []feedring.PeerID
	for p, mem := range m.members {
		if p != m.cfg.Self && (mem.away || mem.row.Left) && m.now.Sub(mem.since) >= m.admitter.Retention(p) {
			old = append(old, p)
		}
	}
	slices.Sort(old)
	for _, p := range old {
		m.evict(p)
	}
}

// evict forgets a row, and remembers its version.
func (m *Machine) evict(p feedring.PeerID) {
	mem := m.members[p]
	if len(m.expired) >= maxRows {
		clear(m.expired)
	}
	m.expired[p] = catalogue.VersionOf(mem.row)
	m.forget(p, mem)
}

func (m *Machine) forget(p feedring.PeerID, mem *member) {
	m.replicator.Forget(p, mem.row)
	m.placer.Forget(p)
	m.admitter.Leave(mem.row)
	delete(m.members, p)
	m.ownRow.orphansChanged = m.cfg.keeper()
	m.changedRows()
}

// startGarbage begins to collect garbage: entries and rows that are too old.
func (m *Machine) startGarbage() {
	if b := (timerKey{kind: timerGarbage}); !m.timers.IsSet(b) {
		m.timers.Set(b, m.now.Add(m.jitter(m.garbageEvery())))
	}
}

func (m *Machine) garbageEvery() time.Duration {
	return min(time.Hour, max(m.cfg.Refresh, m.cfg.Freshness/48))
}

func (m *Machine) collectGarbage() {
	m.after(timerGarbage, m.garbageEvery())
	m.emit(Prune{Group: m.group, Before: m.now.Add(-m.cfg.retention())})
	m.expire()
	m.setVouches(m.sites.Expire(m.me().row.Vouches, m.now))
	if m.sites.vouched == nil || m.sites.validUntil.IsZero() || m.now.Before(m.sites.validUntil) {
		m.checkSitesSoon()
	} else {
		m.changedRows() // vouches grew old
	}
}
