package group

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
)

// decideTurn tells the driver who looks at an own feed, if that changed. It
// reports whether the manager has to be asked, and when to decide again; zero:
// not before something happens.
func (m *Machine) decideTurn(url string, s *share) (shared bool, again time.Time) {
	t, shared, again := m.verdict(url, s)
	if t != s.told {
		s.told = t
		m.emit(t)
	}
	return shared, again
}

func (m *Machine) verdict(url string, s *share) (t Turn, shared bool, again time.Time) {
	if m.lead.claim.Term.IsZero() || m.me().row.Admitted.IsZero() {
		if s.told != (Turn{}) {
			return s.told, false, time.Time{}
		}
		t, again = m.notBefore(url, s, s.since.Add(min(m.cfg.Refresh, unheard)))
		return t, false, again
	}
	offers := m.offersOf(url)
	switch site := m.sitesOwn(offers); {
	case site != "":
		s.forget()
		if mem := m.members[site]; mem.away {
			again = mem.since.Add(siteGone * m.cfg.Refresh)
		}
		return m.turnBy(url, []feedring.PeerID{site}), false, again
	case !slices.ContainsFunc(offers, func(f catalogue.Publication) bool { return !f.Away && f.Ref.Publisher != m.cfg.Self }):
		s.forget()
		return m.turnBy(url, []feedring.PeerID{m.cfg.Self}), false, time.Time{}
	}
	t, again = m.byWord(url, s, offers)
	t.Mirrors = t != Turn{}
	return t, true, again
}

// byWord is the verdict of a feed that several peers mirror. Where no manager
// speaks for long who looks goes on, and should that one be gone too, the
// others' turns come one after another.
func (m *Machine) byWord(url string, s *share, offers []catalogue.Publication) (t Turn, again time.Time) {
	switch {
	case m.now.Before(s.until):
		return m.turnBy(url, s.by), s.until
	case s.told.Turn > 0:
		return s.told, time.Time{}
	case s.by == nil:
		if s.alone.IsZero() {
			s.alone = m.now
		}
		return m.notBefore(url, s, s.alone.Add(m.cfg.Refresh))
	}
	rank := 1
	for _, f := range offers {
		if p := f.Ref.Publisher; p < m.cfg.Self && !f.Away && !slices.Contains(s.by, p) {
			rank++
		}
	}
	return m.notBefore(url, s, s.until.Add(time.Duration(rank)*m.turnsHold()))
}

// notBefore leaves everything as it is until a time, and then has this peer look.
func (m *Machine) notBefore(url string, s *share, at time.Time) (Turn, time.Time) {
	if m.now.Before(at) {
		return s.told, at
	}
	return m.turnBy(url, []feedring.PeerID{m.cfg.Self}), time.Time{}
}

// turnBy is this peer's turn among those that look.
func (m *Machine) turnBy(url string, by []feedring.PeerID) Turn {
	if i := slices.Index(by, m.cfg.Self); i >= 0 {
		return Turn{Group: m.group, URL: url, Turn: i + 1, Of: len(by), By: m.cfg.Self}
	}
	return Turn{Group: m.group, URL: url, By: by[0]}
}

// forget leaves what the manager said: it is not needed.
func (s *share) forget() {
	s.by, s.until, s.alone, s.asked, s.tries = nil, time.Time{}, time.Time{}, time.Time{}, 0
}

// offersOf lists who offers a feed, this peer and those that are away included.
func (m *Machine) offersOf(url string) []catalogue.Publication {
	feeds := m.index().Feeds
	i, _ := slices.BinarySearchFunc(feeds, feedring.FeedRef{URL: url}, func(f catalogue.Publication, ref feedring.FeedRef) int { return f.Ref.Compare(ref) })
	n := i
	for n < len(feeds) && feeds[n].Ref.URL == url {
		n++
	}
	return feeds[i:n]
}

// sitesOwn is the peer that the site of a feed names as its own: this one if it
// is, else one that is there, or was there a while ago. Empty: none.
func (m *Machine) sitesOwn(offers []catalogue.Publication) (own feedring.PeerID) {
	vouched := m.vouched()
	for _, f := range offers {
		p := f.Ref.Publisher
		switch mem := m.members[p]; {
		case vouched[f.Ref] == "" || mem == nil:
		case p == m.cfg.Self:
			return p
		case f.Away && m.now.Sub(mem.since) >= siteGone*m.cfg.Refresh:
		case own == "" || m.members[own].away && !f.Away:
			own = p
		}
	}
	return own
}

// measured takes in what is known of the way to an origin. The manager is told
// of what differs by a quarter, so that chance moves no lease.
func (m *Machine) measured(in Measured) {
	s := m.looks[in.URL]
	if s == nil {
		return
	}
	if d := in.Distance; d > 0 {
		d = min(max(d, time.Millisecond), time.Minute)
		if s.way == 0 {
			s.way = d
		}
		s.way += (d - s.way) / 4
	}
	if way := s.way.Round(time.Millisecond); (way-s.said).Abs() > s.said/4+2*time.Millisecond || s.said == 0 && way > 0 {
		s.said, s.news = way, true
	}
	if in.Failing == s.failed.IsZero() {
		s.news = true
	}
	s.failed = time.Time{}
	if in.Failing {
		s.failed = m.now
	}
	if s.news {
		m.shareIn(0)
	}
}

// hurry asks who looks at an own feed to do it now.
func (m *Machine) hurry(url string) {
	if s := m.looks[url]; s != nil && s.told.Turn == 0 && m.members[s.told.By] != nil {
		m.send(s.told.By, Urge{Header: m.header(), URL: url})
	}
}

func (m *Machine) onUrge(from feedring.PeerID, u Urge) {
	s := m.looks[u.URL]
	if s == nil || s.told.Turn == 0 || m.members[from] == nil || m.now.Sub(s.urged) < urgeEvery*m.cfg.Refresh {
		return
	}
	s.urged = m.now
	m.emit(Urged{Group: m.group, URL: u.URL})
}
