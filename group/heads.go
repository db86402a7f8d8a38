package group

import (
	"maps"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
	"github.com/feedring/feedring/group/internal/hash"
)

// head is how far this peer is with one feed of the group.
type head struct {
	pos     feedring.Position // held, on disk
	hash    [32]byte
	changed time.Time
	recent  bool // in Machine.recent
	listed  bool // in its publisher's row: part of the digest

	known    feedring.Position // the highest that anybody told
	from     feedring.PeerID   // who told it
	path     []feedring.PeerID // of the notify that told it, in large groups
	flying   bool              // a poll is under way
	queued   bool              // a poll waits for others to end
	tries    int               // failed polls in a row
	backfill feedring.Position // not whole before this is held; zero: whole
}

// syncing is the walk through another peer's heads.
type syncing struct {
	active bool // the first one, after admission: the mark waits for its end
	last   time.Time
}

func (ref headRef) sum(p feedring.Position) uint64 {
	return hash.Of(ref.URL, string(ref.Publisher), hash.Number(p.Epoch), hash.Number(p.Sequence))
}

type headRef feedring.FeedRef

// headOf returns the state of ref; nil where it is none of the group's.
func (m *Machine) headOf(ref feedring.FeedRef) *head {
	if h := m.heads[ref]; h != nil {
		return h
	}
	mem := m.members[ref.Publisher]
	if mem == nil || len(m.heads) >= maxHeads || len(ref.URL) > catalogue.MaxURL {
		return nil
	}
	h := &head{}
	m.heads[ref] = h
	if mem.row.Lists(ref.URL) {
		m.list(ref, h, true)
	}
	return h
}

// list counts h into the digest, or out of it.
func (m *Machine) list(ref feedring.FeedRef, h *head, listed bool) {
	if h.listed == listed {
		return
	}
	h.listed = listed
	if h.pos.IsZero() {
		return
	}
	if sum := headRef(ref).sum(h.pos); listed {
		m.digest += sum
	} else {
		m.digest -= sum
	}
}

// relist follows a change of p's row: the digest covers the feeds that rows
// list, so that equal catalogues and stores give equal digests.
func (m *Machine) relist(p feedring.PeerID, old, row *Row) {
	if !old.Left {
		for _, f := range old.Feeds {
			if ref := (feedring.FeedRef{URL: f.URL, Publisher: p}); m.heads[ref] != nil {
				m.list(ref, m.heads[ref], false)
			}
		}
	}
	if !row.Left {
		for _, f := range row.Feeds {
			if ref := (feedring.FeedRef{URL: f.URL, Publisher: p}); m.heads[ref] != nil {
				m.list(ref, m.heads[ref], true)
			}
		}
	}
}

// advance moves a head to what the store holds now.
func (m *Machine) advance(ref feedring.FeedRef, h *head, pos feedring.Position, hash [32]byte) {
	if h.listed && !h.pos.IsZero() {
		m.digest -= headRef(ref).sum(h.pos)
	}
	if h.listed && !pos.IsZero() {
		m.digest += headRef(ref).sum(pos)
	}
	h.pos, h.hash, h.changed, m.sorted = pos, hash, m.now, nil
	if h.known.Compare(pos) < 0 {
		h.known = pos
	}
	if !h.recent {
		h.recent = true
		m.recent = append(m.recent, ref)
	}
	m.caughtUp(h)
}

// caughtUp ends a backfill that is whole.
func (m *Machine) caughtUp(h *head) {
	if !h.backfill.IsZero() && h.pos.Compare(h.backfill) >= 0 {
		h.backfill = feedring.Position{}
		m.backfills--
		m.tellBackfills()
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
			h = &head{}
			m.heads[t.Feed] = h
			mem := m.members[t.Feed.Publisher]
			h.listed = mem != nil && mem.row.Lists(t.Feed.URL)
		}
		if t.Position.Compare(h.pos) > 0 {
			m.advance(t.Feed, h, t.Position, t.Hash)
		}
	}
}

// recentHeads returns the heads that changed in the last three periods, and a
// digest of all others.
func (m *Machine) recentHeads() ([]feedring.Head, uint64) {
	older := m.digest
	var heads []feedring.Head
	kept := m.recent[:0]
	for _, ref := range m.recent {
		h := m.heads[ref]
		if h == nil {
			continue
		}
		if m.now.Sub(h.changed) > 3*m.cfg.Refresh {
			h.recent = false
			continue
		}
		kept = append(kept, ref)
	}
	m.recent = kept
	size := 0
	for _, ref := range slices.Backward(m.recent) {
		h := m.heads[ref]
		if !h.listed || h.pos.IsZero() {
			continue
		}
		head := feedring.Head{Feed: ref, Position: h.pos, Hash: h.hash}
		if size += headSize(&head); size > catalogue.MaxBytes || len(heads) == maxTold {
			break
		}
		heads = append(heads, head)
		older -= headRef(ref).sum(h.pos)
	}
	return heads, older
}

// compareOlder compares the heads that were not told. Entries under way make
// them differ for a moment; where they go on to differ, heads are compared one
// by one, with who told, and then with a random holder.
func (m *Machine) compareOlder(with feedring.PeerID, told []feedring.Head, theirs uint64) {
	mine := m.digest
	for _, t := range told {
		if h := m.heads[t.Feed]; h != nil && h.listed && !h.pos.IsZero() {
			mine -= headRef(t.Feed).sum(h.pos)
		}
	}
	mem := m.members[with]
	if mem == nil {
		return
	}
	if mine == theirs || m.backfills > 0 || len(mem.row.Backfilling) > 0 {
		mem.differs = time.Time{}
		return
	}
	if mem.differs.IsZero() {
		mem.differs = m.now
	}
	if m.now.Sub(mem.differs) < m.beatEvery()/2 || m.now.Sub(m.sync.last) < m.cfg.Refresh {
		return
	}
	holder := with
	if others := m.present(); !m.serving && m.now.Sub(mem.differs) > m.cfg.Refresh && len(others) > 0 {
		holder = others[m.jitter(time.Duration(len(others)))]
	}
	m.askHeads(holder, feedring.FeedRef{})
}

func (m *Machine) askHeads(of feedring.PeerID, after feedring.FeedRef) {
	m.sync.last = m.now
	m.send(of, HeadsWanted{Header: m.header(), After: after})
}

// headsAfter returns the next heads in order, and whether there are more.
func (m *Machine) headsAfter(after feedring.FeedRef) ([]feedring.Head, bool) {
	var heads []feedring.Head
	size := 0
	for _, ref := range slices.SortedFunc(maps.Keys(m.heads), feedring.FeedRef.Compare) {
		h := m.heads[ref]
		if !h.listed || h.pos.IsZero() || ref.Compare(after) <= 0 {
			continue
		}
		if len(heads) == maxTold || size > catalogue.MaxBytes {
			return heads, true
		}
		heads = append(heads, feedring.Head{Feed: ref, Position: h.pos, Hash: h.hash})
		size += headSize(&heads[len(heads)-1])
	}
	return heads, false
}

func (m *Machine) onHeadsWanted(from feedring.PeerID, w HeadsWanted) {
	if m.members[from] == nil {
		return
	}
	heads, more := m.headsAfter(w.After)
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
