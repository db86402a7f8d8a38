package group

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/feedring/feedring"
)

// checkers is how many peers beside the publisher look at a feed's site.
const checkers = 2

// check is this peer's look at one site.
type check struct {
	next   time.Time
	flying bool
	tries  int
}

// circle holds peers by hash; the next ones after a feed's hash look at its
// site. Everybody finds the same ones.
type circle []spot

type spot struct {
	key  uint64
	peer feedring.PeerID
}

func layCircle(rows []*Row) circle {
	c := make(circle, 0, len(rows))
	for _, r := range rows {
		c = append(c, spot{hash64("vouch", string(r.Peer)), r.Peer})
	}
	slices.SortFunc(c, compareSpots)
	return c
}

func compareSpots(a, b spot) int {
	return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.peer, b.peer))
}

// looks reports whether p is ref's publisher or one of the n peers next to it.
func (c circle) looks(ref feedring.FeedRef, p feedring.PeerID, n int) bool {
	if p == ref.Publisher {
		return true
	}
	i, _ := slices.BinarySearchFunc(c, spot{key: hash64(ref.URL, string(ref.Publisher))}, compareSpots)
	for step := 0; step < len(c) && n > 0; step++ {
		switch q := c[(i+step)%len(c)].peer; q {
		case p:
			return true
		case ref.Publisher:
		default:
			n--
		}
	}
	return false
}

const (
	vouchEvery = 24 * time.Hour
	vouchBatch = 16 // looks begun at once
)

// vouch begins the looks that are due.
func (m *Machine) vouch() {
	if m.lead.claim.Term.IsZero() || m.leaving {
		return
	}
	var rows []*Row
	for _, p := range append([]feedring.PeerID{m.cfg.Self}, m.present()...) {
		rows = append(rows, m.members[p].row)
	}
	circle := layCircle(rows)
	mine := map[feedring.FeedRef]bool{}
	begun, next := 0, m.now.Add(vouchEvery)
	for _, f := range m.index().feeds {
		if f.away || !circle.looks(f.ref, m.cfg.Self, checkers) {
			continue
		}
		mine[f.ref] = true
		c := m.checks[f.ref]
		if c == nil {
			c = &check{next: m.lastLook(f.ref)}
			m.checks[f.ref] = c
		}
		if c.flying {
			continue
		}
		if c.next.After(m.now) || begun >= vouchBatch {
			next = earlier(next, later(c.next, m.now.Add(m.cfg.Refresh/8)))
			continue
		}
		begun++
		c.flying = true
		m.emit(Check{Group: m.group, Feed: f.ref})
	}
	maps.DeleteFunc(m.checks, func(ref feedring.FeedRef, c *check) bool { return !mine[ref] && !c.flying })
	m.timers.set(bell{chime: chimeVouch}, next)
}

// lastLook is when ref is due: at once, or a day after the own row's vouch.
func (m *Machine) lastLook(ref feedring.FeedRef) time.Time {
	for _, v := range m.me().row.Vouches {
		if v.Publisher == ref.Publisher && siteOf(ref.URL, v.Site) && (len(v.Feeds) == 0 || slices.Contains(v.Feeds, ref.URL)) {
			return v.At.Add(vouchEvery)
		}
	}
	return m.now
}

// checked is the outcome of a look. What failed is tried again after r, 10 r,
// then each hour; a vouch that stood stays until it is too old.
func (m *Machine) checked(c Checked) {
	state := m.checks[c.Feed]
	if state == nil || !state.flying {
		return
	}
	state.flying = false
	if c.Vouched && c.Vouch.Publisher == c.Feed.Publisher && siteOf(c.Feed.URL, c.Vouch.Site) {
		state.tries, state.next = 0, m.now.Add(vouchEvery)
		m.vouchFor(c.Vouch)
	} else {
		wait := []time.Duration{m.cfg.Refresh, 10 * m.cfg.Refresh, time.Hour}[min(state.tries, 2)]
		state.tries++
		state.next = m.now.Add(wait)
	}
	m.timers.set(bell{chime: chimeVouch}, earlier(later(m.now, m.timers.at(bell{chime: chimeVouch})), state.next))
}

// vouchFor puts v into the own row, in the place of an older one.
func (m *Machine) vouchFor(v Vouch) {
	v.At = m.now.UTC().Truncate(time.Second)
	v.Feeds = v.Feeds[:min(len(v.Feeds), maxVouches)]
	m.newRow(func(r *Row) {
		r.Vouches = slices.DeleteFunc(slices.Clone(r.Vouches), func(o Vouch) bool {
			return o.Site == v.Site && o.Publisher == v.Publisher || m.now.Sub(o.At) > vouchAge
		})
		if len(r.Vouches) < maxVouches {
			r.Vouches = append(r.Vouches, v)
		}
	})
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
