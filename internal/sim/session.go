package sim

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/internal/sim/disk"
)

// As node and client have them.
const (
	beatEvery = time.Second
	leaseFor  = 20 * time.Second
	silence   = 4 * time.Second
	firstWord = 3 * time.Second
	nextTried = 500 * time.Millisecond
)

// refusal is why a provider does not serve.
type refusal uint8

const (
	refusedTicket refusal = iota + 1
	refusedBehind
	refusedBusy
	refusedLeaving
	lostTouch
)

// session is one stream from a provider to a reader, both ends of it.
type session struct {
	reader *reader
	grant  feedring.Grant
	theme  feedring.Theme
	beat   func() // see beatLater

	// At the provider.
	node    *node
	life    uint32
	stream  uint64
	server  bool // the provider keeps the stream
	live    bool // the first answer went out
	at      marks
	renewed time.Duration
	swept   int // how far the disk had grown when everything held was last sent

	// At the client.
	opening *opening
	spoke   bool
	caught  bool
	open    bool // the client keeps the stream
	resumed bool
	passed  marks // of what came after the first answer
	heard   time.Duration
	last    time.Duration // when what was sent last arrives
}

// opening tries the providers of one grant, the next when one is silent or
// refuses. The first that speaks serves.
type opening struct {
	reader    *reader
	grant     feedring.Grant
	providers []feedring.PeerID
	next      int
	failed    int
	behind    bool
	served    *session
	tries     []*session
	over      bool
}

// attach presents a ticket to a provider.
func (w *World) attach(o *opening) {
	if o.over || o.served != nil || o.next >= len(o.providers) {
		return
	}
	r := o.reader
	n := w.nodes[w.indexOf(o.providers[o.next])]
	o.next++
	s := &session{reader: r, grant: o.grant, theme: o.grant.Theme, node: n, opening: o, open: true, heard: w.now, resumed: r.cursor != nil}
	o.tries = append(o.tries, s)
	cursor := w.cursorFor(r, &o.grant)
	me := r.client.index
	if n.up && w.network.both(me, n.index) {
		life := n.life
		w.after(w.network.takes(me, n.index), func() { w.admit(s, life, cursor) })
	}
	w.after(nextTried, func() {
		if !s.spoke && s.open {
			w.attach(o)
		}
	})
	w.after(firstWord, func() {
		if !s.spoke && s.open {
			w.failed(s, lostTouch)
		}
	})
}

// admit is the provider's side: the ticket is looked at, then the machine asked.
func (w *World) admit(s *session, life uint32, cursor marks) {
	n := s.node
	if !n.up || n.life != life || !s.open {
		return
	}
	if n.paused {
		w.after(beatEvery/4, func() { w.admit(s, life, cursor) })
		return
	}
	t := s.grant.Ticket
	if w.date(n).After(t.Expiry) || !slices.Contains(t.Peers, n.id) {
		w.refuse(s, refusedTicket)
		return
	}
	s.life, s.stream, s.server, s.at, s.renewed = life, n.nextID(), true, cursor, w.now
	n.sessions = append(n.sessions, s)
	w.step(n, peer.In{Group: t.Group, Input: group.Attach{Stream: s.stream, Ticket: t}})
	w.beatLater(s)
}

// decide does group.Admit and group.Refuse.
func (w *World) decide(n *node, stream uint64, reason group.Refusal) {
	i := slices.IndexFunc(n.sessions, func(s *session) bool { return s.stream == stream })
	if i < 0 {
		return
	}
	s := n.sessions[i]
	if reason != group.NotRefused {
		w.tracef("%s refuses %s: %s", n.id, s.reader.client.id, reason)
		w.hangUp(s, refusedBusy)
		return
	}
	w.first(s)
}

// first gives the first answer: the newest entries, or what is after the
// cursor.
func (w *World) first(s *session) {
	s.live = true
	if s.at != nil {
		w.goOn(s)
		return
	}
	s.at = marks{}
	var shown []item
	for _, c := range s.node.disk.Copies() {
		if c == nil || c.Last == nil || !s.covers(c.Log) {
			continue
		}
		s.at.put(c.Log.Index, c.Last.Position)
		for _, e := range c.Held {
			if s.reader.wants(c.Log, e) {
				shown = append(shown, item{c.Log, e})
			}
		}
	}
	w.deliver(s, delivery{items: shown, marks: slices.Clone(s.at), caught: true, first: true})
}

// goOn shows everything after the cursor, or refuses where something between
// is not held any more.
func (w *World) goOn(s *session) {
	for _, l := range w.logs {
		at := s.at.of(l)
		c := s.node.disk.Copy(l)
		if c == nil || c.Last == nil || l.Ref.Publisher == s.node.id {
			continue
		}
		if at.IsZero() { // a cursor refuses nothing of a feed that it does not name
			if len(c.Held) == 0 && s.covers(l) {
				w.forgo(s, l)
			}
			continue
		}
		if !holds(c, at) {
			s.reader.lack(l.Index, w.now)
			w.hangUp(s, refusedBehind)
			return
		}
	}
	for _, l := range w.logs {
		if s.server && s.covers(l) {
			w.advance(s, l)
		}
	}
	if s.server {
		w.deliver(s, delivery{caught: true})
	}
}

// holds reports whether a copy has everything of its log after at.
func holds(c *disk.Copy, at feedring.Position) bool {
	switch {
	case at.Compare(c.Last.Position) >= 0:
		return true
	case len(c.Held) == 0:
		return false
	case at.IsZero():
		return c.Held[0].Position.Sequence == 1
	}
	return c.Held[0].Position.Compare(feedring.Position{Epoch: at.Epoch, Sequence: at.Sequence + 1}) <= 0
}

func (s *session) covers(l *disk.Log) bool {
	return l.Theme == s.theme && (!s.grant.Own || l.Ref.Publisher == s.node.id)
}

// wake has the followers of a feed read on.
func (w *World) wake(n *node, ref feedring.FeedRef) {
	l := w.byRef[ref]
	for i := 0; i < len(n.sessions); i++ {
		if s := n.sessions[i]; s.live && s.reader.follow && s.covers(l) {
			w.advance(s, l)
		}
	}
}

// advance sends what is held of a log after the cursor. A hole ends the
// session: another has it.
func (w *World) advance(s *session, l *disk.Log) {
	if !w.network.both(s.node.index, s.reader.client.index) {
		return // the next beat goes on
	}
	at := s.at.of(l)
	after := s.node.disk.After(l, at)
	if len(after) == 0 {
		return
	}
	if at.IsZero() {
		w.forgo(s, l)
	}
	var items []item
	for _, e := range after {
		next := uint64(1)
		if at.Epoch == e.Position.Epoch {
			next = at.Sequence + 1
		}
		if !at.IsZero() && e.Position.Sequence != next && l.Ref.Publisher != s.node.id {
			s.reader.lack(l.Index, w.now)
			w.hangUp(s, refusedBehind)
			return
		}
		if at = e.Position; s.reader.wants(l, e) {
			items = append(items, item{l, e})
		}
	}
	if at == s.at.of(l) {
		return
	}
	s.at.put(l.Index, at)
	w.deliver(s, delivery{items: items, log: l, through: at})
}

// forgo: a feed is new to a reader, and what came before that its provider holds
// of it, or all that it ever held, was not fresh any more when that reached
// somebody who has it, or had been dropped when the reader came from one that kept
// none of it. Caches have no more of it, and nobody owes it to the reader
// (docs/protocol.md 11).
func (w *World) forgo(s *session, l *disk.Log) {
	stale := s.node.clock.at(w.now).Add(-w.cfg.Peer.Freshness)
	c := s.node.disk.Copy(l)
	for _, e := range l.Entries {
		held := len(c.Held) > 0 && e.Position.Compare(c.Held[0].Position) >= 0
		if held || e.Position.Compare(c.Last.Position) > 0 || l.Ref.Publisher == s.node.id {
			return
		}
		if e.Seen.Before(stale) {
			s.reader.forgone.add(e.ID)
		}
	}
}

// item is one entry on its way to a reader.
type item struct {
	log   *disk.Log
	entry *disk.Entry
}

// delivery is what goes to a reader at once, in order.
type delivery struct {
	items   []item
	marks   marks // of a first answer
	log     *disk.Log
	through feedring.Position // of that log
	caught  bool
	first   bool // of a first answer: not in the order of positions
}

func (w *World) deliver(s *session, d delivery) {
	from, to := s.node.index, s.reader.client.index
	s.last = max(s.last, w.now+w.network.takes(from, to))
	w.after(s.last-w.now, func() {
		if s.open && s.reader.client.here {
			w.received(s, d)
		}
	})
}

// beatLater arranges the next second of a session.
func (w *World) beatLater(s *session) {
	if s.beat == nil {
		s.beat = func() { w.beat(s) }
	}
	w.queue.put(w.now+beatEvery, event{to: -1, from: -1, do: s.beat})
}

// beat is each second of a session: a sign of life to the client, and its
// renewals.
func (w *World) beat(s *session) {
	n, c := s.node, s.reader.client
	alive := n.up && n.life == s.life
	if s.server && s.open && alive && !n.paused && w.network.both(n.index, c.index) {
		if c.here {
			s.heard, s.renewed = w.now, w.now
		}
		if s.live && s.reader.follow && s.swept != n.disk.Grown() {
			s.swept = n.disk.Grown()
			for _, l := range w.logs { // what was cut off meanwhile
				if s.server && s.covers(l) {
					w.advance(s, l)
				}
			}
		}
	}
	if s.server && alive && !n.paused && (w.now-s.renewed >= leaseFor || !s.open && w.network.both(n.index, c.index)) {
		w.detach(s)
	}
	if s.open && c.here && s.spoke && w.now-s.heard > silence {
		w.failed(s, lostTouch)
	}
	if s.server || s.open && c.here {
		w.beatLater(s)
	}
}

// detach ends the provider's side.
func (w *World) detach(s *session) {
	if !s.server {
		return
	}
	s.server = false
	n := s.node
	n.sessions = slices.DeleteFunc(n.sessions, func(o *session) bool { return o == s })
	if n.up && n.life == s.life {
		w.tell(n, 0, s.grant.Ticket.Group, group.Detach{Stream: s.stream})
	}
}

// hangUp ends a session from the provider's side.
func (w *World) hangUp(s *session, why refusal) {
	if s.server {
		w.detach(s)
		w.refuse(s, why)
	}
}

func (w *World) refuse(s *session, why refusal) {
	from, to := s.node.index, s.reader.client.index
	s.last = max(s.last, w.now+w.network.takes(from, to))
	if w.network.both(from, to) {
		w.after(s.last-w.now, func() { w.failed(s, why) })
	}
}
