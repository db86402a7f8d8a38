package group

import "time"

// localHealth is how far a peer trusts its own clock (Lifeguard, Dadgar et al.): after a
// missed deadline it stretches its own time-outs before it suspects others.
type localHealth struct {
	extra time.Duration // added to the refresh period at since, halved each period
	since time.Time
}

// advanceClock moves the clock. A tick that is late by more than r/8 shows that this
// peer did not run: the silence of others in that time was its own.
func (m *Machine) advanceClock(now time.Time) {
	if now.Before(m.now) {
		now = m.now
	}
	due := m.timers.Next()
	m.now = now
	if due.IsZero() {
		return
	}
	if late := now.Sub(due); late > m.cfg.Refresh/8 {
		m.missedDeadline(late)
	}
}

func (m *Machine) missedDeadline(late time.Duration) {
	r := m.cfg.Refresh
	m.health = localHealth{extra: min(2*r, m.stretch()-r+late), since: m.now}
	if late >= r {
		late = 1 << 62 // a full period of silence counts only from now on
	}
	awake := func(heard time.Time) time.Time {
		if m.now.Sub(heard) <= late {
			return m.now
		}
		return heard.Add(late)
	}
	if !m.lead.serving {
		m.lead.heard = awake(m.lead.heard)
	}
	for _, mem := range m.members {
		if !mem.away {
			mem.heard = awake(mem.heard)
		}
	}
	if m.suspicion.nonce != 0 {
		m.timers.Set(timerKey{kind: m.suspicion.timer}, m.now.Add(m.window()))
	} else if !m.lead.serving {
		m.watch()
	}
}

// stretch is the refresh period as this peer counts it for others' silence: up
// to three times r after a missed deadline.
func (m *Machine) stretch() time.Duration { return m.stretchAt(m.now) }

func (m *Machine) stretchAt(t time.Time) time.Duration {
	r := m.cfg.Refresh
	if m.health.extra == 0 || t.Before(m.health.since) {
		return r
	}
	return r + m.health.extra>>min(62, t.Sub(m.health.since)/r)
}

// silenceAt is when the manager, if it gives no sign of life, has been silent
// for a period as this peer counts it.
func (m *Machine) silenceAt() time.Time {
	const halvings = 4
	at := m.lead.heard.Add(m.cfg.Refresh)
	if m.health.extra == 0 {
		return at
	}
	for i := range time.Duration(halvings) {
		// Within each halving the period is fixed.
		until := m.health.since.Add((i + 1) * m.cfg.Refresh)
		end := m.lead.heard.Add(m.cfg.Refresh + m.health.extra>>i)
		if end.Before(until) {
			return later(at, end)
		}
		at = later(at, until)
	}
	return at
}

// window is how long a probe may take.
func (m *Machine) window() time.Duration {
	return time.Duration(float64(m.baseWindow()) * float64(m.stretch()) / float64(m.cfg.Refresh)) // the product of two durations has no room
}

// baseWindow is the window of a healthy peer. Ranks are counted in it, so that one
// unhealthy peer does not hold up those behind it.
func (m *Machine) baseWindow() time.Duration { return max(m.cfg.Refresh/4, 3*m.rtt) }
