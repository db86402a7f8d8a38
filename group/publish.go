package group

import (
	"maps"
	"slices"

	"github.com/feedring/feedring"
)

// own is a feed that this peer publishes. One batch is on its way to disk at a
// time, so that no position is ever given twice.
type own struct {
	epoch uint64
	clock bool              // the epoch was taken from the clock and not used yet
	begun bool              // this life gave positions, and others were there
	told  feedring.Position // the highest that they told of before that
	busy  bool
	batch uint64
	queue []Publish
	asked []feedring.PeerID // polled for proof that the store was lost
}

// ownFeed returns the state of an own feed, with an epoch above those known.
func (m *Machine) ownFeed(url string, epoch uint64) *own {
	o := m.own[url]
	if o == nil {
		o = &own{epoch: epoch}
		m.own[url] = o
	}
	held := m.heads[m.ownRef(url)]
	switch {
	case epoch > o.epoch:
		o.epoch = epoch
	case o.epoch == 0 && held != nil && !held.Pos.IsZero():
		o.epoch = held.Pos.Epoch
	case o.epoch == 0:
		o.epoch, o.clock = uint64(max(1, m.now.Unix())), true
	}
	if held != nil {
		o.epoch = max(o.epoch, held.Pos.Epoch)
	}
	return o
}

func (m *Machine) ownRef(url string) feedring.FeedRef {
	return feedring.FeedRef{URL: url, Publisher: m.cfg.Self}
}

// publish gives a batch its positions. The driver publishes one batch of a
// feed at a time; a few more wait, and whoever waits for any other is told. A store that was
// lost, or put back as it was before, does not know what others hold, and the clock
// may be behind as well: so a life begins above what the group tells at the
// admission. Who founds a group has nobody to tell it, and what it publishes alone
// counts for nothing here.
func (m *Machine) publish(p Publish) {
	o := m.own[p.URL]
	switch {
	case p.Entries <= 0:
		return
	case o == nil:
		m.emit(Unplaced{Group: m.group, Batch: p.Batch})
		return
	}
	if o.busy || !m.entered {
		if len(o.queue) < maxQueue {
			o.queue = append(o.queue, p)
		} else {
			m.emit(Unplaced{Group: m.group, Batch: p.Batch, Full: true})
		}
		return
	}
	if !o.begun && m.beyondOwn(p.URL, o, o.told) {
		m.goAboveLog(p.URL, o, o.told)
		o.begun = true
	}
	o.begun = o.begun || m.acknowledgedNow()
	first := feedring.Position{Epoch: o.epoch, Sequence: 1}
	if h := m.heads[m.ownRef(p.URL)]; h != nil && h.Pos.Epoch == o.epoch {
		first.Sequence = h.Pos.Sequence + 1
	}
	o.busy, o.clock, o.batch = true, false, p.Batch
	m.emit(Append{Group: m.group, Batch: p.Batch, Feed: m.ownRef(p.URL), First: first})
}

// publishOn gives those batches positions that waited for the group.
func (m *Machine) publishOn() {
	for _, url := range slices.Sorted(maps.Keys(m.own)) {
		m.publishNext(m.own[url])
	}
}

// publishNext gives the next batch its positions, where nothing holds it up.
func (m *Machine) publishNext(o *own) {
	if len(o.queue) > 0 && !o.busy && m.entered {
		next := o.queue[0]
		o.queue = slices.Clone(o.queue[1:])
		m.publish(next)
	}
}

// appended announces a batch that is on disk. It may be one that was on its way
// when an earlier membership ended.
func (m *Machine) appended(a Appended) {
	url := a.Head.Feed.URL
	o := m.own[url]
	if o == nil {
		return
	}
	awaited := o.busy && o.batch == a.Batch
	if awaited {
		o.busy = false
	}
	ref := m.ownRef(url)
	if h := m.headOf(ref); h != nil && a.Head.Position.Compare(h.Pos) > 0 {
		m.advance(ref, h, a.Head.Position, a.Head.Hash)
		m.notify(Notify{Header: m.header(), Head: feedring.Head{Feed: ref, Position: h.Pos, Hash: h.Hash}}, "")
		m.emit(Wake{Feed: ref, Through: h.Pos})
	}
	if awaited {
		m.publishNext(o)
	}
}

// ownHeadTold: another peer says that it holds more of an own feed than this
// peer made. Before this life publishes where others are, that is enough for one new
// epoch: who cannot show an entry may hold only what is not fresh any more, and
// positions that are given twice are lost to whoever holds the first ones. After that
// anybody who lies could have the epoch move again and again, so whoever says it is
// asked for the newest entry, which this peer must have signed.
func (m *Machine) ownHeadTold(url string, pos feedring.Position, by feedring.PeerID) {
	o := m.own[url]
	if o == nil || !m.beyondOwn(url, o, pos) || m.members[by] == nil || by == m.cfg.Self {
		return
	}
	if !o.begun && pos.Epoch <= uint64(max(0, m.now.Unix()))+maxHearsay {
		o.told = maxPosition(o.told, pos)
		return
	}
	if len(o.asked) >= maxAsked || slices.Contains(o.asked, by) {
		return
	}
	o.asked = append(o.asked, by)
	m.emit(Fetch{Group: m.group, Feed: m.ownRef(url), From: by, After: m.ownHeld(url), Fresh: m.now, Proof: true})
}

// ownHeadProven: another peer showed an entry of an own feed. If it is beyond
// all that this peer made, this peer lost its store.
func (m *Machine) ownHeadProven(s Fetched) {
	o := m.own[s.Feed.URL]
	if o == nil {
		return
	}
	i := slices.Index(o.asked, s.From)
	if i < 0 {
		return
	}
	o.asked = slices.Delete(o.asked, i, i+1)
	if pos := s.Known.Position; !s.Failed && m.beyondOwn(s.Feed.URL, o, pos) {
		m.goAboveLog(s.Feed.URL, o, pos)
	}
}

// goAboveLog goes on in a new epoch, above all of the log that others hold.
func (m *Machine) goAboveLog(url string, o *own, pos feedring.Position) {
	m.setEpoch(url, o, max(pos.Epoch+1, uint64(max(1, m.now.Unix()))))
}

// beyondOwn reports whether pos is beyond all that this peer made of an own
// feed, and its epoch one that others would still follow from.
func (m *Machine) beyondOwn(url string, o *own, pos feedring.Position) bool {
	if !m.sane(pos) || pos.Epoch == m.lastEpoch() {
		return false
	}
	return pos.Epoch > o.epoch || pos.Epoch == o.epoch && pos.Compare(m.ownHeld(url)) > 0 && !o.busy
}

func (m *Machine) ownHeld(url string) feedring.Position {
	if h := m.heads[m.ownRef(url)]; h != nil {
		return h.Pos
	}
	return feedring.Position{}
}

// sane reports whether a log can have come to pos: its epoch is a Unix second,
// give or take clocks and stores lost. Who begins an epoch keeps to the same.
func (m *Machine) sane(pos feedring.Position) bool {
	return pos.Epoch <= m.lastEpoch() && pos.Sequence < maxNumber
}

func (m *Machine) lastEpoch() uint64 { return uint64(max(0, m.now.Unix())) + maxJump }

// setEpoch begins another epoch, or returns to the one that the store holds.
func (m *Machine) setEpoch(url string, o *own, epoch uint64) {
	if o.epoch == epoch {
		return
	}
	o.epoch, o.clock = epoch, false
	m.newRow(func(r *Row) {
		r.Feeds = slices.Clone(r.Feeds)
		for i := range r.Feeds {
			if r.Feeds[i].URL == url {
				r.Feeds[i].Epoch = o.epoch
			}
		}
	})
}

// notify tells of a new entry: all members, or in a large group those that
// internal/gossip names.
func (m *Machine) notify(n Notify, from feedring.PeerID) {
	if m.lead.claim.Term.IsZero() {
		return
	}
	source := n.Head.Feed.Publisher
	skip := func(p feedring.PeerID) bool { return p == from || p == source || slices.Contains(n.Path, p) }
	var to []feedring.PeerID
	if l := m.linked(); l != nil {
		to = l.Tell(source, skip, m.now, m.beatEvery())
	} else {
		to = slices.DeleteFunc(slices.Clone(m.neighbours()), skip)
	}
	var msg Message = n
	for _, p := range to {
		m.send(p, msg)
	}
}

func (m *Machine) onNotify(from feedring.PeerID, n Notify) {
	if len(n.Path) > maxPath || m.members[from] == nil {
		return
	}
	if m.learn(n.Head.Feed, n.Head.Position, from) && m.large() {
		m.heads[n.Head.Feed].path = n.Path
	}
}

// passOn tells the neighbours in a large group what was just stored: not
// before, so that they can poll here, and the publisher is left alone.
func (m *Machine) passOn(ref feedring.FeedRef, h *head, from feedring.PeerID) {
	if !m.large() || len(h.path) >= maxPath {
		return
	}
	path := append(slices.Clip(h.path), m.cfg.Self)
	h.path = nil
	m.notify(Notify{Header: m.header(), Head: feedring.Head{Feed: ref, Position: h.Pos, Hash: h.Hash}, Path: path}, from)
}
