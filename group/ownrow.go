package group

import (
	"slices"
	"sort"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
	"github.com/feedring/feedring/internal/times"
)

// ownRow is what this peer still has to say about itself, and cannot.
type ownRow struct {
	announced      bool     // the row as it stands was told
	dropped        []string // own feeds that the row has no room for
	truncated      bool     // more backfills than the row lists
	orphansChanged bool     // the copies whose publisher is gone may be others
}

// newRow replaces this peer's row by a changed copy. It is told soon, together
// with other changes; now tells it at once.
func (m *Machine) newRow(change func(*Row)) {
	mem := m.me()
	r := *mem.row
	change(&r)
	r.Version++
	m.replaceRow(mem, &r)
	m.ownRow.announced = false
	if b := (timerKey{kind: timerRow}); !m.lead.claim.Term.IsZero() && !m.timers.IsSet(b) {
		m.timers.Set(b, m.now.Add(m.cfg.Refresh/20))
	}
}

// announceRow sends the own row to the manager, or as manager to all.
func (m *Machine) announceRow() {
	m.timers.Cancel(timerKey{kind: timerRow})
	if m.ownRow.announced || m.lead.claim.Term.IsZero() {
		return
	}
	m.ownRow.announced = true
	if m.lead.serving {
		m.spreadRows([]feedring.PeerID{m.cfg.Self}, "")
		return
	}
	m.sendRows(m.manager(), []*Row{m.me().row})
}

// onOwnRow: somebody holds a row of this peer that this peer, its state lost, never made: a newer one, or another of
// the same version. The own one goes above it.
func (m *Machine) onOwnRow(r *Row) {
	own := m.me().row
	if c := catalogue.VersionOf(r).Compare(catalogue.VersionOf(own)); c < 0 || c == 0 && catalogue.Compare(r, own) == 0 {
		return
	}
	m.onOwnIdentity()
	if m.leaving || r.Incarnation < m.want.Incarnation && own.Incarnation < m.want.Incarnation { // it goes there already
		return
	}
	m.want.Incarnation = max(m.want.Incarnation, r.Incarnation) + 1
	m.formerAdmission = r.Admitted
	m.save(saving{})
}

// onOwnIdentity hears of a statement with this peer's key that this peer never made.
func (m *Machine) onOwnIdentity() {
	if m.duplicate.Heard(m.now, m.cfg.Refresh) {
		m.emit(DuplicateIdentity{Theme: m.cfg.Theme})
	}
}

// beginIncarnation begins an incarnation that is on disk. Announcing earlier could reuse the incarnation after a crash.
func (m *Machine) beginIncarnation() {
	if m.me().row.Incarnation >= m.disk.Incarnation {
		return
	}
	m.newRow(func(own *Row) {
		own.Incarnation, own.Version = m.disk.Incarnation, 0
		if own.Admitted.IsZero() {
			own.Admitted = m.formerAdmission
		}
	})
}

// describe puts what this peer publishes into its row.
func (m *Machine) describe(d Describe) {
	feeds := slices.Clone(d.Feeds)
	sort.SliceStable(feeds, func(i, j int) bool { return feeds[i].URL < feeds[j].URL })
	feeds = slices.CompactFunc(feeds, func(a, b feedring.Feed) bool { return a.URL == b.URL })
	feeds, dropped := catalogue.FitFeeds(feeds)
	if !slices.Equal(dropped, m.ownRow.dropped) {
		m.ownRow.dropped = dropped
		m.emit(Dropped{Theme: m.cfg.Theme, URLs: slices.Clone(dropped)})
	}
	addrs := ToldAddrs(d.Addrs)
	m.replicator.Describe(feeds)
	m.orphans.Describe(d.Volunteer && m.cfg.Fetchers > 0, feeds)
	m.sharing.Describe(feeds)
	if row := m.me().row; slices.Equal(row.Feeds, feeds) && slices.Equal(row.Addrs, addrs) && row.Capacity == d.Capacity && row.Volunteer == d.Volunteer {
		return
	}
	m.newRow(func(r *Row) { r.Feeds, r.Addrs, r.Capacity, r.Volunteer = feeds, addrs, d.Capacity, d.Volunteer })
	m.announceRow()
}

// Told returns those of a peer's addresses that it tells others: the first 32, without any that is too long to be read.
func ToldAddrs(addrs []string) []string {
	return catalogue.FitAddrs(addrs)
}

// The marks. A row promises every entry seen after From, but for the feeds that it says are being backfilled.

// markSynced moves the mark back once nothing is missing that can be had: what
// was polled for the first time was polled from the freshness date on.
func (m *Machine) markSynced(waits bool) {
	back := times.Later(m.now.Add(-m.cfg.Freshness), m.want.Dropped)
	if waits || m.ownRow.truncated || m.replicator.Syncing() || m.me().row.Admitted.IsZero() || !m.me().row.From.After(back) {
		return
	}
	m.setMark(back)
}

// upTo rounds a mark up to what every encoding keeps: rounded down, it would promise entries that are not here.
func upTo(t time.Time) time.Time {
	if u := t.UTC().Truncate(time.Second); !u.Equal(t) {
		return u.Add(time.Second)
	}
	return t.UTC()
}

// restoredMark is the mark of the life before, as far as it holds still.
func (m *Machine) restoredMark() time.Time {
	if m.want.Dropped.IsZero() {
		return m.want.From
	}
	return upTo(times.Later(m.want.From, m.want.Dropped))
}

// onDropped: a holder that was polled has dropped entries that are fresh by the clock here, and did not send them. The
// row promises nothing from before, since no other holder may be left.
func (m *Machine) onDropped(to time.Time) {
	if to.After(m.now) {
		to = m.now
	}
	if !to.After(m.now.Add(-m.cfg.Freshness)) {
		return
	}
	m.want.Dropped = times.Later(m.want.Dropped, to)
	if to.After(m.me().row.From) {
		m.setMark(to)
	}
}

func (m *Machine) setMark(from time.Time) {
	m.newRow(func(r *Row) { r.From = upTo(from) })
	m.want.From = upTo(from)
	m.save(saving{})
}

// updateExceptions puts the exceptions into the row. While they are too many to
// list, the row promises nothing from before that began.
func (m *Machine) updateExceptions() {
	refs, waits := m.replicator.Exceptions()
	tooMany := len(refs) > catalogue.MaxBackfill
	if tooMany {
		refs = refs[:catalogue.MaxBackfill]
	}
	if tooMany && !m.ownRow.truncated {
		m.newRow(func(r *Row) { r.From = upTo(m.now) })
	}
	m.ownRow.truncated = tooMany
	if !slices.Equal(m.me().row.Backfilling, refs) {
		m.newRow(func(r *Row) { r.Backfilling = refs })
	}
	m.markSynced(waits)
}

// gone reports whether a peer has left, or is forgotten.
func (m *Machine) gone(p feedring.PeerID) bool {
	mem := m.members[p]
	return mem == nil || mem.row.Left
}

// updateOrphans lets the row name the copies of feeds that no other row names any more:
// otherwise nobody would ask for them.
func (m *Machine) updateOrphans() {
	m.ownRow.orphansChanged = false
	if m.leaving {
		return
	}
	if all := m.replicator.Orphans(); !slices.Equal(all, m.me().row.Gone) {
		m.newRow(func(r *Row) { r.Gone = all })
	}
}
