package group

import (
	"maps"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
	"github.com/feedring/feedring/group/internal/looks"
)

// The membership's part in shared looks: looks.Own and looks.Desk decide, and
// here is what they see of it and what is sent.

func (m *Machine) shares() bool { return m.cfg.Distrust > 0 }

// here is what decides about looks, as it is now.
func (m *Machine) here() *looks.Here {
	book, vouched := m.index(), m.vouched()
	if m.parts == nil {
		m.parts = looks.Parts{}
	}
	return &looks.Here{
		Self: m.cfg.Self, Now: m.now, Refresh: m.cfg.Refresh, Book: book, Vouched: vouched, Parts: m.parts,
		Settled: !m.lead.claim.Term.IsZero() && !m.me().row.Admitted.IsZero(),
		Away:    func(p feedring.PeerID) time.Time { return m.members[p].since },
	}
}

// shareIn has this peer see to its shared feeds before long.
func (m *Machine) shareIn(d time.Duration) {
	b, at := bell{chime: chimeShare}, m.now.Add(d)
	if m.shares() && (!m.timers.IsSet(b) || at.Before(m.timers.At(b))) {
		m.timers.Set(b, at)
	}
}

// describeShares follows what this peer offers.
func (m *Machine) describeShares(feeds []feedring.Feed) {
	if m.shares() {
		m.looks.Describe(feeds, m.now)
		m.shareIn(0)
	}
}

// followTurns begins anew with another manager.
func (m *Machine) followTurns() {
	if !m.shares() {
		return
	}
	if !m.serving {
		m.desk.Clear()
	}
	if t := m.lead.claim.Term; m.turnsOf != t {
		m.turnsOf = t
		m.looks.Anew()
		m.shareIn(m.jitter(m.cfg.Refresh / 10))
	}
}

// share looks after all own feeds, and a manager after all that are shared.
func (m *Machine) share() {
	if m.leaving {
		return
	}
	h, next := m.here(), m.now.Add(looks.Hold(m.cfg.Refresh)/3)
	if m.serving {
		changed, again := m.desk.Review(h)
		m.tellTurns(h, changed, "")
		if again.Before(next) {
			next = again
		}
	}
	do := m.looks.Review(h, next)
	m.tellDriver(do.Turns)
	for _, url := range do.Measure {
		m.emit(Measure{Group: m.group, URL: url})
	}
	m.timers.Set(bell{chime: chimeShare}, do.Next)
	m.askTurns(do.Wanted)
}

func (m *Machine) tellDriver(turns []looks.Turn) {
	for _, t := range turns {
		m.emit(Turn{Group: m.group, URL: t.URL, Turn: t.Turn, Of: t.Of, By: t.By, Mirrors: t.Mirrors, Part: t.Part, Last: t.Last})
	}
}

// askTurns sends the manager, which may be this peer, messages of bounded size.
func (m *Machine) askTurns(wanted []TurnWanted) {
	for len(wanted) > 0 {
		n, size := 0, 0
		for n < len(wanted) && n < maxTold && size < catalogue.MaxBytes/2 {
			size += len(wanted[n].URL) + catalogue.Part + wanted[n].Last.Size()
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

// onTurnsWanted answers who looks at feeds.
func (m *Machine) onTurnsWanted(from feedring.PeerID, w TurnsWanted) {
	if !m.serving || !m.shares() || len(w.Feeds) > maxTold {
		return
	}
	h := m.here()
	answer, changed, again := m.desk.Asked(h, from, w.Feeds)
	if !again.IsZero() {
		m.shareIn(again.Sub(m.now))
	}
	m.sendTurns(from, answer)
	m.tellTurns(h, changed, from)
}

// tellTurns tells all who asked about feeds but one of them.
func (m *Machine) tellTurns(h *looks.Here, urls []string, but feedring.PeerID) {
	lists := m.desk.Tell(h, urls)
	delete(lists, but)
	for _, p := range slices.Sorted(maps.Keys(lists)) {
		m.sendTurns(p, lists[p])
	}
}

// sendTurns tells in messages of bounded size; this peer itself without one.
func (m *Machine) sendTurns(to feedring.PeerID, list []FeedTurns) {
	for len(list) > 0 {
		n, size := 0, 0
		for n < len(list) && n < maxTold && size < catalogue.MaxBytes/2 {
			size += len(list[n].URL) + catalogue.Part*(1+len(list[n].By)) + list[n].Last.Size()
			n++
		}
		msg := Turns{Header: m.header(), For: looks.Hold(m.cfg.Refresh), Feeds: list[:n:n]}
		if to == m.cfg.Self {
			m.onTurns(to, msg)
		} else {
			m.send(to, msg)
		}
		list = list[n:]
	}
}

// onTurns takes the manager's word.
func (m *Machine) onTurns(from feedring.PeerID, t Turns) {
	if !m.shares() || from != m.manager() || t.For <= 0 || len(t.Feeds) > maxTold {
		return
	}
	m.tellDriver(m.looks.Told(m.here(), t.For, t.Feeds))
}

func (m *Machine) measured(in Measured) {
	if m.looks.Measured(in.URL, in.Distance, in.Failing, m.now) {
		m.shareIn(0)
	}
}

func (m *Machine) looked(in Looked) {
	if m.looks.Looked(in.URL, &in.Last, m.now) {
		m.shareIn(0)
	}
}

// hurry asks who looks at an own feed to do it now.
func (m *Machine) hurry(url string) {
	if p := m.looks.By(url); m.members[p] != nil {
		m.send(p, Urge{Header: m.header(), URL: url})
	}
}

func (m *Machine) onUrge(from feedring.PeerID, u Urge) {
	if m.shares() && m.members[from] != nil && m.looks.Urge(m.here(), u.URL) {
		m.emit(Urged{Group: m.group, URL: u.URL})
	}
}
