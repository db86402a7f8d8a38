package group

import (
	"time"

	"github.com/feedring/feedring"
)

// learn hears that somebody holds ref through pos, and arranges a poll where
// this peer is behind. It reports whether pos was news.
func (m *Machine) learn(ref feedring.FeedRef, pos feedring.Position, from feedring.PeerID) bool {
	if ref.Publisher == m.cfg.Self {
		m.ownHeadTold(ref.URL, pos, from)
		return false
	}
	h := m.headOf(ref)
	if h == nil || !m.sane(pos) {
		return false
	}
	if pos.Compare(h.known) <= 0 {
		m.offered(ref, h, pos, from)
		return false
	}
	if h.Pos.IsZero() && pos.Sequence > 1 {
		m.backfillOf(h, pos)
		m.untold = true
	}
	if !h.hollow() && (h.Pos.Compare(h.known) >= 0 || from == ref.Publisher) {
		h.tries = 0 // else who tells again and again would be asked each time, and the publisher never
	}
	h.known, h.from = pos, from
	wait := m.jitter(m.spreadOf())
	switch {
	case h.hollow(): // whoever tells of it takes little from other feeds
		m.fetchIn(ref, h, wait+m.beatEvery())
	case from == ref.Publisher && !h.flying && !h.queued: // it has what older polls ask for in vain, and more
		m.timers.Set(bell{chime: chimeFetch, ref: ref}, m.now.Add(wait))
	default:
		m.fetchIn(ref, h, wait)
	}
	return true
}

// offered hears of one more that it holds what polls ask for in vain. It is the
// next one asked, out of turn and soon: the next try may be a period away, and go
// to others who have nothing. After each such poll it is another's turn, and
// where polls for the feed go on failing nobody is believed: else who tells again
// and again would be asked each time, and the publisher never.
func (m *Machine) offered(ref feedring.FeedRef, h *head, pos feedring.Position, by feedring.PeerID) {
	if pos.Compare(h.Pos) <= 0 || h.next != "" || h.aside || h.hollow() || h.tries == 0 && !h.flying {
		return
	}
	h.next = by
	if !h.flying && !h.queued {
		m.timers.Set(bell{chime: chimeFetch, ref: ref}, m.now.Add(m.jitter(m.spreadOf())))
	}
}

// lacks takes a head of the group that this peer enters: what is not held of
// it is an exception from the mark.
func (m *Machine) lacks(t feedring.Head, from feedring.PeerID) {
	if t.Feed.Publisher != m.cfg.Self {
		if h := m.headOf(t.Feed); h != nil && h.Pos.Compare(t.Position) < 0 {
			m.backfillOf(h, t.Position)
		}
	}
	m.learn(t.Feed, t.Position, from)
}

func (m *Machine) backfillOf(h *head, pos feedring.Position) {
	if h.backfill.IsZero() {
		m.backfills++
	}
	h.backfill = pos
}

// fewPolls is how many neighbours may poll at once.
const fewPolls = 8

// spreadOf is how far polls are spread so that a publisher is not polled by
// all at once: more in larger groups, since each poll costs it about as much.
// A few at once are no burden, and wait for nothing.
func (m *Machine) spreadOf() time.Duration {
	n := time.Duration(len(m.neighbours()))
	if n <= fewPolls {
		return 0
	}
	return min(m.cfg.Refresh/10, 50*time.Millisecond, n*200*time.Microsecond)
}

func (m *Machine) fetchIn(ref feedring.FeedRef, h *head, d time.Duration) {
	b := bell{chime: chimeFetch, ref: ref}
	if h.flying || h.queued || m.timers.IsSet(b) {
		return
	}
	m.timers.Set(b, m.now.Add(d))
}

// fetch polls ref, from the publisher where it can: any holder may serve.
func (m *Machine) fetch(ref feedring.FeedRef) {
	h := m.heads[ref]
	if h == nil || h.flying || h.Pos.Compare(h.known) >= 0 {
		return
	}
	if !m.polls.room(ref.Publisher) {
		if !h.queued {
			h.queued = true
			m.polls.wait(ref)
		}
		return
	}
	from := m.holder(ref, h)
	h.aside, h.next = from != "" && from == h.next, ""
	if from == "" {
		m.failed(ref, h)
		m.nextWaiting()
		return
	}
	h.flying = true
	m.polls.begin(ref.Publisher)
	m.emit(m.poll(ref, h.Pos, from))
}

// poll is what is asked of a holder. A keeper asks for what it keeps, and goes
// on behind what only others that keep it have, as everybody does.
func (m *Machine) poll(ref feedring.FeedRef, after feedring.Position, from feedring.PeerID) Fetch {
	f := Fetch{Group: m.group, Feed: ref, From: from, After: after, Fresh: m.now.Add(-m.keeps())}
	if m.keeper() {
		f.Gap = m.now.Add(-m.cfg.Freshness)
	}
	return f
}

// What is believed of a holder's word that it dropped entries which are fresh here:
// seconds lie between any two clocks, and who makes others promise nothing is one
// of few who may serve.
const (
	droppedSlack = 5 * time.Second
	droppedMost  = 10 * time.Minute
)

// Dropped is what a driver notes, and reports in Fetched, where a holder says up to when
// it dropped what comes before the first entry that it sends; zero: nothing.
func (f Fetch) Dropped(told time.Time) time.Time {
	fresh := f.Whole()
	if f.Proof || f.From == f.Feed.Publisher || !told.After(fresh.Add(droppedSlack)) {
		return time.Time{}
	}
	if most := fresh.Add(droppedMost); told.After(most) {
		return most
	}
	return told
}

// Whole is the date since when nothing may be missing behind what is held.
func (f Fetch) Whole() time.Time {
	if f.Gap.IsZero() {
		return f.Fresh
	}
	return f.Gap
}

// pollAgain polls a publisher that is back for what it told before: nobody else
// may have it, and the next try may be a period away.
func (m *Machine) pollAgain(publisher *member) {
	for i := range publisher.row.Feeds {
		ref := feedring.FeedRef{URL: publisher.row.Feeds[i].URL, Publisher: publisher.row.Peer}
		h := m.heads[ref]
		if h == nil || h.tries == 0 || h.Pos.Compare(h.known) >= 0 {
			continue
		}
		h.tries, h.from = 0, ref.Publisher
		if !h.flying && !h.queued {
			m.timers.Set(bell{chime: chimeFetch, ref: ref}, m.now.Add(m.jitter(m.spreadOf())))
		}
	}
}

// holder chooses whom to poll: who just told that it has what others did not
// give. Else the publisher, but in large groups the neighbour that told, and the
// manager for what a newcomer lacks, since it knows who is away only by the first
// beacon. After a failure the others come, the manager, which is heard all the
// time, then anybody. A keeper begins with the publisher: nobody else surely has
// what it wants.
func (m *Machine) holder(ref feedring.FeedRef, h *head) feedring.PeerID {
	if mem := m.members[h.next]; mem != nil && !mem.row.Left {
		return h.next
	}
	present := m.present()
	anybody := feedring.PeerID("")
	if len(present) > 0 {
		anybody = present[m.jitter(time.Duration(len(present)))]
	}
	order := []feedring.PeerID{ref.Publisher, h.from, m.manager(), anybody}
	if (m.large() || !h.backfill.IsZero()) && !m.keeper() {
		order[0], order[1] = order[1], order[0]
	}
	for i := range order {
		p := order[(h.tries+i)%len(order)]
		mem := m.members[p]
		if mem == nil || p == m.cfg.Self || mem.row.Left {
			continue
		}
		if told := p == h.from && m.now.Sub(mem.heard) < m.beatEvery(); !mem.away || told { // it is back before a beacon says so
			return p
		}
	}
	return ""
}

// fetched is the end of a poll.
func (m *Machine) fetched(s Fetched) {
	if s.Feed.Publisher == m.cfg.Self {
		m.ownHeadProven(s)
		return
	}
	h := m.heads[s.Feed]
	if h == nil || !h.flying {
		return
	}
	h.flying = false
	m.polls.end(s.Feed.Publisher)
	m.nextWaiting()
	m.droppedThere(s.Dropped)
	progress := s.Head.Position.Compare(h.Pos) > 0
	if progress || s.From == s.Feed.Publisher && !s.Failed {
		h.fails = 0
	}
	switch {
	case progress:
		m.gave(s.From, h.Pos, s.Head.Position)
		m.advance(s.Feed, h, s.Head.Position, s.Head.Hash)
		m.emit(Wake{Feed: s.Feed, Through: h.Pos})
		m.passOn(s.Feed, h, s.From)
	case !s.Failed && h.Pos.IsZero() && !s.Known.Position.IsZero():
		// Nothing that the other side holds is fresh: all of it counts as held.
		m.advance(s.Feed, h, s.Known.Position, s.Known.Hash)
		progress = true
	}
	if !s.Failed && s.Known.Position.Compare(h.known) > 0 {
		h.known, h.from = s.Known.Position, s.From
	}
	if h.Pos.Compare(h.known) >= 0 {
		h.tries, h.next = 0, ""
		return
	}
	if h.next == s.From {
		h.next = "" // it told while it was asked
	}
	if progress && !s.Failed {
		h.tries = 0
		m.fetchIn(s.Feed, h, 0)
		return
	}
	if s.From == s.Feed.Publisher && !s.Failed && s.Known.Position.Compare(h.known) < 0 {
		h.known = maxPosition(h.Pos, s.Known.Position) // somebody told more than there is
	}
	m.failed(s.Feed, h)
}

// gave counts entries that were polled from a neighbour in a large group.
func (m *Machine) gave(from feedring.PeerID, before, after feedring.Position) {
	if l := m.linked(); l != nil {
		n := uint64(1)
		if before.Epoch == after.Epoch {
			n = after.Sequence - before.Sequence
		}
		l.Received(from, int(min(n, maxCounted)))
	}
}

// failed waits longer from try to try, and gives up in the end: whoever tells
// of the feed next begins again.
func (m *Machine) failed(ref feedring.FeedRef, h *head) {
	if h.fails++; h.fails == giveUp {
		m.untold = true // the mark waits for this feed no more
	}
	if !h.aside {
		h.tries++
	}
	if h.tries >= giveUp || h.Pos.Compare(h.known) >= 0 {
		h.known, h.tries, h.next = h.Pos, 0, ""
		if !h.backfill.IsZero() { // nobody has it, so nobody is more complete
			h.backfill = feedring.Position{}
			m.backfills--
			m.untold = true
		}
		return
	}
	wait := min(m.cfg.Refresh, m.cfg.Refresh/20<<h.tries)
	if h.next != "" {
		wait = m.cfg.Refresh / 20
	}
	m.fetchIn(ref, h, wait/2+m.jitter(wait/2))
}

// nextWaiting polls what waited for a place.
func (m *Machine) nextWaiting() {
	for {
		ref, ok := m.polls.next()
		if !ok {
			return
		}
		h := m.heads[ref]
		h.queued = false
		if h.Pos.Compare(h.known) < 0 { // else it came meanwhile
			m.fetchIn(ref, h, 0)
			return
		}
	}
}

func maxPosition(a, b feedring.Position) feedring.Position {
	if a.Compare(b) < 0 {
		return b
	}
	return a
}
