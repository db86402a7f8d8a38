package group

import (
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
	"github.com/feedring/feedring/group/internal/holdings"
)

// head is how far this peer is with one feed of the group.
type head struct {
	*holdings.Holding // in Machine.held

	known    feedring.Position // the highest that anybody told
	from     feedring.PeerID   // who told it
	next     feedring.PeerID   // who told that it has what was polled for in vain
	aside    bool              // the last poll was of such a one, out of turn
	path     []feedring.PeerID // of the notify that told it, in large groups
	flying   bool              // a poll is under way
	queued   bool              // a poll waits for others to end
	tries    int               // failed polls since anybody told of it
	fails    int               // failed polls since one brought an entry, or its publisher an answer
	backfill feedring.Position // not whole before this is held; zero: whole
	kept     mark              // how far a keeper's copy reaches
}

// giveUp is how many polls of a feed may fail before nobody is believed to have
// more of it.
const giveUp = 8

// hollow says that polls for what is told of the feed go on failing. Only its
// publisher could make them succeed.
func (h *head) hollow() bool { return h.fails >= giveUp }

// syncing is the walk through another peer's heads.
type syncing struct {
	active bool // the first one, after admission: the mark waits for its end
	last   time.Time
}

// headOf returns the state of ref; nil where it is none of the group's.
func (m *Machine) headOf(ref feedring.FeedRef) *head {
	if h := m.heads[ref]; h != nil {
		return h
	}
	mem := m.members[ref.Publisher]
	if mem == nil || len(m.heads) >= maxHeads || len(ref.URL) > catalogue.MaxURL {
		return nil
	}
	return m.open(ref, mem)
}

// open begins to follow ref, whose publisher may be unknown yet: nil.
func (m *Machine) open(ref feedring.FeedRef, publisher *member) *head {
	h := &head{Holding: m.held.Open(ref, publisher != nil && publisher.row.Lists(ref.URL))}
	m.heads[ref] = h
	return h
}

// advance moves a head to what the store holds now.
func (m *Machine) advance(ref feedring.FeedRef, h *head, pos feedring.Position, hash [32]byte) {
	m.held.Advance(ref, pos, hash, m.now)
	if h.known.Compare(pos) < 0 {
		h.known = pos
	}
	m.caughtUp(h)
}

// caughtUp ends a backfill that is whole.
func (m *Machine) caughtUp(h *head) {
	if !h.backfill.IsZero() && h.Pos.Compare(h.backfill) >= 0 {
		h.backfill = feedring.Position{}
		m.backfills--
		m.untold = true
	}
}

// holding takes over what the store holds.
func (m *Machine) holding(heads []feedring.Head) {
	for _, t := range heads[:min(len(heads), maxHeads)] {
		if t.Feed.Publisher == m.cfg.Self {
			if o := m.own[t.Feed.URL]; o != nil && (o.clock || t.Position.Epoch > o.epoch) {
				m.setEpoch(t.Feed.URL, o, t.Position.Epoch)
			}
		}
		h := m.heads[t.Feed]
		if h == nil {
			h = m.open(t.Feed, m.members[t.Feed.Publisher])
		}
		if t.Position.Compare(h.Pos) > 0 {
			m.advance(t.Feed, h, t.Position, t.Hash)
		}
	}
}

// retell lets the heads of this peer's own feeds count as moved now: whoever
// admits it may have lost all, and be told of them by nobody else.
func (m *Machine) retell() {
	for _, h := range m.held.All() {
		if h.Feed.Publisher == m.cfg.Self {
			m.held.Advance(h.Feed, h.Position, h.Hash, m.now)
		}
	}
}

// recentHeads returns the heads that changed in the last three periods, and a
// digest of all others.
func (m *Machine) recentHeads() ([]feedring.Head, uint64) {
	return m.held.Recent(m.now.Add(-3 * m.cfg.Refresh))
}

// compareOlder compares the heads that were not told. Entries under way make
// them differ for a moment; where they go on to differ, heads are compared one
// by one, with who told, and then with a random holder too: it may know as little.
func (m *Machine) compareOlder(with feedring.PeerID, told []feedring.Head, theirs uint64) {
	mine := m.held.Older(told)
	mem := m.members[with]
	if mem == nil {
		return
	}
	if mine == theirs {
		if mem.rare != nil {
			mem.rare.differs = time.Time{}
		}
		return
	}
	since := &mem.note().differs
	if since.IsZero() {
		*since = m.now
	}
	patience := m.beatEvery() / 2
	if m.backfills > 0 || len(mem.row.Backfilling) > 0 {
		patience = m.cfg.Refresh // a backfill that takes longer may never end, and hides what else is missing
	}
	if m.now.Sub(*since) < patience || m.now.Sub(m.sync.last) < m.cfg.Refresh {
		return
	}
	m.askHeads(with, feedring.FeedRef{})
	if others := m.present(); !m.serving && m.now.Sub(*since) > m.cfg.Refresh && len(others) > 0 {
		if other := others[m.jitter(time.Duration(len(others)))]; other != with {
			m.askHeads(other, feedring.FeedRef{})
		}
	}
}

func (m *Machine) askHeads(of feedring.PeerID, after feedring.FeedRef) {
	m.sync.last = m.now
	m.send(of, HeadsWanted{Header: m.header(), After: after})
}

func (m *Machine) onHeadsWanted(from feedring.PeerID, w HeadsWanted) {
	if m.members[from] == nil {
		return
	}
	heads, more := m.held.After(w.After)
	m.send(from, Heads{Header: m.header(), Heads: heads, More: more})
}

func (m *Machine) onHeads(from feedring.PeerID, hs Heads) {
	if len(hs.Heads) > maxTold || m.members[from] == nil {
		return
	}
	for _, t := range hs.Heads {
		if m.sync.active {
			m.lacks(t, from)
		} else {
			m.learn(t.Feed, t.Position, from)
		}
	}
	if hs.More && len(hs.Heads) > 0 {
		m.askHeads(from, hs.Heads[len(hs.Heads)-1].Feed)
		return
	}
	m.sync.active = false
	m.tellBackfills()
}
