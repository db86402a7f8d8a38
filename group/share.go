package group

import (
	"maps"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
)

// share is an own feed, as this peer shares the looks at it. Who offers a feed
// alone looks without a word to anybody; the site's own peer looks in any case,
// and nobody else while it is there; else the manager says whose turn it is.
type share struct {
	since time.Time // when it was offered
	told  Turn      // what the driver knows

	by     []feedring.PeerID // who looks by the manager's word; never changed, only replaced
	until  time.Time         // of that word
	alone  time.Time         // since when this peer has been waiting for a first word; zero: it has one, or needs none
	asked  time.Time         // the manager that is followed; zero: not yet
	tries  int               // asked in vain
	news   bool              // there is something to tell the manager
	urged  time.Time         // when another peer last asked for a look
	way    time.Duration     // to the origin, smoothed; 0: unknown
	said   time.Duration     // of it, to the manager
	gauged time.Time         // when it was asked for; zero: never
	failed time.Time         // when a look last failed; zero: the origin answers, as far as is known
}

// The times of sharing, in refresh periods.
const (
	turnsFor   = 30 // a word of the manager holds
	siteGone   = 10 // the site's own peer may be away before mirrors look
	urgeEvery  = 6
	failedFor  = 12 * turnsFor // whom an origin refused may be tried again
	maxLookers = 8             // at one feed
)

// unheard is how long a feed waits to be looked at while this peer is in no group yet.
const unheard = 2 * time.Second

func (m *Machine) shares() bool { return m.cfg.Distrust > 0 }

// turnsHold is how long a word of the manager holds.
func (m *Machine) turnsHold() time.Duration { return turnsFor * m.cfg.Refresh }

// shareIn has this peer see to its shared feeds before long.
func (m *Machine) shareIn(d time.Duration) {
	b, at := bell{chime: chimeShare}, m.now.Add(d)
	if m.shares() && (!m.timers.IsSet(b) || at.Before(m.timers.At(b))) {
		m.timers.Set(b, at)
	}
}

// describeShares follows what this peer offers.
func (m *Machine) describeShares(feeds []feedring.Feed) {
	if !m.shares() {
		return
	}
	offered := make(map[string]bool, len(feeds))
	for i := range feeds {
		url := feeds[i].URL
		offered[url] = true
		if m.looks[url] == nil {
			m.looks[url] = &share{since: m.now}
		}
	}
	maps.DeleteFunc(m.looks, func(url string, _ *share) bool { return !offered[url] })
	m.shareIn(0)
}

// followTurns begins anew with another manager.
func (m *Machine) followTurns() {
	if !m.shares() {
		return
	}
	if !m.serving && len(m.turns) > 0 {
		clear(m.turns)
		m.askers = 0
	}
	if t := m.lead.claim.Term; m.turnsOf != t {
		m.turnsOf = t
		for _, s := range m.looks {
			s.asked, s.tries = time.Time{}, 0
		}
		m.shareIn(m.jitter(m.cfg.Refresh / 10))
	}
}

// share looks after all own feeds, and asks the manager about those that others
// offer too.
func (m *Machine) share() {
	if m.leaving {
		return
	}
	next := m.now.Add(m.turnsHold() / 3)
	if m.serving {
		next = earlier(next, m.reviewTurns())
	}
	var wanted []TurnWanted
	for _, url := range slices.Sorted(maps.Keys(m.looks)) {
		s := m.looks[url]
		shared, again := m.decideTurn(url, s)
		if shared {
			at := m.askAt(url, s)
			if !at.After(m.now) {
				wanted = append(wanted, m.wantedOf(url, s))
				at = m.askAt(url, s)
			}
			next = earlier(next, at)
		}
		if again.After(m.now) {
			next = earlier(next, again)
		}
	}
	m.timers.Set(bell{chime: chimeShare}, next)
	m.askTurns(wanted)
}

// askAt is when the manager is to be asked about a feed. Who does not look
// itself first learns how far its origin is.
func (m *Machine) askAt(url string, s *share) time.Time {
	r := m.cfg.Refresh
	if s.way == 0 && s.gauged.IsZero() {
		s.gauged = m.now
		m.emit(Measure{Group: m.group, URL: url})
	}
	switch {
	case s.asked.IsZero() && s.told.Turn == 0 && s.way == 0:
		return s.gauged.Add(r / 4)
	case s.asked.IsZero() || s.news:
		return m.now
	case m.now.Before(s.until) && s.tries == 0:
		return s.asked.Add(m.turnsHold() / 3)
	}
	return s.asked.Add(min(r/3<<min(s.tries, 10), m.turnsHold()/3))
}

func (m *Machine) wantedOf(url string, s *share) TurnWanted {
	s.asked, s.news = m.now, false
	s.tries++
	if s.told.Turn == 0 && m.now.Sub(s.failed) > failedFor*m.cfg.Refresh {
		s.failed = time.Time{} // nothing is known of late
	}
	return TurnWanted{URL: url, Distance: s.said, Lookers: m.cfg.Distrust, Holds: s.told.Turn > 0, Failing: !s.failed.IsZero()}
}

// askTurns sends the manager, which may be this peer, messages of bounded size.
func (m *Machine) askTurns(wanted []TurnWanted) {
	for len(wanted) > 0 {
		n, size := 0, 0
		for n < len(wanted) && n < maxTold && size < catalogue.MaxBytes/2 {
			size += len(wanted[n].URL) + catalogue.Part
			n++
		}
		msg := TurnsWanted{Header: m.header(), Feeds: wanted[:n:n]}
		if m.serving {
			m.onTurnsWanted(m.cfg.Self, msg)
		} else {
			m.send(m.manager(), msg)
		}
		wanted = wanted[n:]
	}
}

// onTurns takes the manager's word.
func (m *Machine) onTurns(from feedring.PeerID, t Turns) {
	if !m.shares() || from != m.manager() || t.For <= 0 || len(t.Feeds) > maxTold {
		return
	}
	for _, f := range t.Feeds {
		s := m.looks[f.URL]
		if s == nil || len(f.By) == 0 || len(f.By) > maxLookers {
			continue
		}
		s.by, s.until, s.tries, s.alone = f.By, m.now.Add(min(t.For, 2*m.turnsHold())), 0, time.Time{}
		m.decideTurn(f.URL, s)
	}
}
