package group

import (
	"maps"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/sitecheck"
	"github.com/feedring/feedring/internal/times"
)

// The membership's part in checks of sites: sitecheck.Checker decides.

// sites is what this peer knows of the sites of feeds, by its own checks and by the rows.
type sites struct {
	*sitecheck.Checker
	vouched    map[feedring.FeedRef]string `state:"derived"` // see vouched
	validUntil time.Time                   `state:"derived"` // until then vouched is so; zero: for ever
}

// checkSites begins the checks that are due.
func (m *Machine) checkSites() {
	if m.lead.claim.Term.IsZero() || m.leaving {
		return
	}
	begun, next := m.sites.Review(m.index(), m.me().row.Vouches, m.now)
	for _, ref := range begun {
		m.emit(Check{Group: m.group, Feed: ref})
	}
	m.timers.Set(timerKey{kind: timerSites}, next)
}

func (m *Machine) checked(c Checked) {
	vouches, changed, next := m.sites.OnChecked(c, m.me().row.Vouches, m.now)
	if next.IsZero() {
		return
	}
	m.setVouches(vouches, changed)
	m.timers.Set(timerKey{kind: timerSites}, times.Earlier(times.Later(m.now, m.timers.At(timerKey{kind: timerSites})), next))
}

func (m *Machine) setVouches(vouches []Vouch, changed bool) {
	if changed {
		m.newRow(func(r *Row) { r.Vouches = vouches })
	}
}

// recheckSites brings forward the checks of a publisher's sites.
func (m *Machine) recheckSites(publisher feedring.PeerID) {
	m.sites.Recheck(publisher, m.now)
	if !m.lead.claim.Term.IsZero() {
		m.timers.Set(timerKey{kind: timerSites}, m.now)
	}
}

// vouched names the site of each feed that its site vouches for.
func (m *Machine) vouched() map[feedring.FeedRef]string {
	if m.sites.vouched == nil {
		m.sites.vouched, m.sites.validUntil = m.index().Vouched(m.now)
		maps.DeleteFunc(m.sites.vouched, func(ref feedring.FeedRef, _ string) bool { return m.replicator.Forked(ref.Publisher) })
	}
	return m.sites.vouched
}
