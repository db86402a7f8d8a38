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
	clock bool // the epoch was taken from the clock and not used yet
	sure  bool // the group was heard first: see sure
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
// feed at a time; a few more wait, beyond that they are dropped.
func (m *Machine) publish(p Publish) {
	o := m.own[p.URL]
	if o == nil || p.Entries <= 0 {
		return
	}
	if o.busy || !m.sure(o) {
		if len(o.queue) < maxQueue {
			o.queue = append(o.queue, p)
		}
		return
	}
	first := feedring.Position{Epoch: o.epoch, Sequence: 1}
	if h := m.heads[m.ownRef(p.URL)]; h != nil && h.Pos.Epoch == o.epoch {
		first.Sequence = h.Pos.Sequence + 1
	}
	o.busy, o.clock, o.batch = true, false, p.Batch
	m.emit(Append{Group: m.group, Batch: p.Batch, Feed: m.ownRef(p.URL), First: first})
}

// sure reports whether an own feed may go on where this peer's store ends. A store
// that was lost, or put back as it was before, does not know what others hold, and
// the clock may be behind as well: so a life begins with what the group tells at the
// admission, and with the proof of it. Who founds a group has nobody to tell.
func (m *Machine) sure(o *own) bool {
	o.sure = o.sure || m.entered && len(o.asked) == 0
	return o.sure
}

// publishOn gives those batches positions that waited for the group.
func (m *Machine) publishOn() {
	for _, url := range slices.Sorted(maps.Keys(m.own)) {
		m.publishNext(m.own[url])
	}
}

// publishNext gives the next batch its positions, where nothing holds it up.
func (m *Machine) publishNext(o *own) {
	if len(o.queue) > 0 && !o.busy && m.sure(o) {
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
// peer made. Anybody can say that, so it is asked for the newest entry of it,
// which this peer must have signed.
func (m *Machine) ownHeadTold(url string, pos feedring.Position, by feedring.PeerID) {
	o := m.own[url]
	if o == nil || !m.beyondOwn(url, o, pos) || m.members[by] == nil || by == m.cfg.Self {
		return
	}
	if len(o.asked) >= maxAsked || slices.Contains(o.asked, by) {
		return
	}
	o.asked = append(o.asked, by)
	m.emit(Fetch{Group: m.group, Feed: m.ownRef(url), From: by, After: m.ownHeld(url), Fresh: m.now, Proof: true})
}

// ownHeadProven: another peer showed an entry of an own feed. If it is beyond
// all that this peer made, this peer lost its store: it goes on in a new epoch,
// above all of it.
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
		m.setEpoch(s.Feed.URL, o, max(pos.Epoch+1, uint64(max(1, m.now.Unix()))))
	}
	m.publishNext(o)
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
// internal/spread names.
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
