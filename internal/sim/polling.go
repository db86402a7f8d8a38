package sim

import (
	"encoding/binary"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/sim/disk"
)

const pollFirst = 3 * time.Second // the patience with who does not answer

// poll is a group.Fetch under way: a request on a stream, so that it is not lost
// but for a cut, and reports back exactly once.
type poll struct {
	w      *World
	node   *node
	life   uint32 // of node
	server *node
	log    *disk.Log
	fetch  group.Fetch
	came   bool // the answer
	done   bool
	answer []*disk.Entry
	gone   time.Time // up to when the server dropped what comes before it
}

func (w *World) poll(n *node, o group.Fetch) {
	l := w.byRef[o.Feed]
	if len(o.Answer) > 0 {
		w.take(n, l, o)
		return
	}
	from := w.indexOf(o.From)
	if from < 0 || w.nodes[from] == nil || l == nil {
		w.tell(n, time.Millisecond, o.Group, group.Fetched{Feed: o.Feed, From: o.From, Failed: true})
		return
	}
	if w.cfg.Trace != nil {
		w.tracef("%s polls %v at %s after %d/%d", n.id, o.Feed, o.From, o.After.Epoch, o.After.Sequence)
	}
	p := &poll{w: w, node: n, life: n.life, server: w.nodes[from], log: l, fetch: o}
	at := w.network.takes(n.index, from)
	w.after(pollFirst, p.late)
	if !p.server.up {
		w.after(at, p.late)
		return
	}
	w.after(p.server.lag.awake(w.now+at)-w.now, p.serve)
}

// maxAnswered is how many entries a notify brings at most.
const maxAnswered = 3

// answer is what a notify brings of the entries that were just added to a log: where they
// are in it. Every eighth entry is too large for that.
func answer(l *disk.Log, added int) []byte {
	first := len(l.Entries) - added
	large := func(e *disk.Entry) bool { return e.ID%8 == 7 }
	if added == 0 || added > maxAnswered || slices.ContainsFunc(l.Entries[first:], large) {
		return nil
	}
	return binary.BigEndian.AppendUint32([]byte{byte(added)}, uint32(first))
}

// take checks and stores an answer that came with a notify. One in sixteen cannot be
// unpacked.
func (w *World) take(n *node, l *disk.Log, o group.Fetch) {
	if w.cfg.Trace != nil {
		w.tracef("%s takes %v from %s after %d/%d", n.id, o.Feed, o.From, o.After.Epoch, o.After.Sequence)
	}
	first := int(binary.BigEndian.Uint32(o.Answer[1:]))
	brought := l.Entries[first : first+int(o.Answer[0])]
	end := func(known feedring.Head, failed bool) {
		w.tell(n, 0, o.Group, group.Fetched{Feed: o.Feed, From: o.From, Head: n.disk.Head(l), Known: known, Failed: failed})
	}
	if brought[0].ID%16 == 3 {
		end(feedring.Head{Feed: o.Feed}, true)
		return
	}
	w.polled(n, l, o, brought, end)
}

// late ends a poll that has no answer yet.
func (p *poll) late() {
	if !p.came {
		p.end(feedring.Head{Feed: p.fetch.Feed}, true)
	}
}

func (p *poll) end(known feedring.Head, failed bool) {
	if n := p.node; !p.done && n.up && n.life == p.life {
		p.w.tell(n, 0, p.fetch.Group, group.Fetched{
			Feed: p.fetch.Feed, From: p.fetch.From, Head: n.disk.Head(p.log), Known: known, Failed: failed, Dropped: p.gone,
		})
	}
	p.done = true
}

func (p *poll) serve() {
	w, n, server := p.w, p.node, p.server
	if !server.runs() || !w.network.both(n.index, server.index) {
		return // it waits, in vain
	}
	p.answer = answerPoll(server, p.log, p.fetch)
	p.gone = w.dropped(server, p.log, p.fetch)
	w.after(w.network.takes(server.index, n.index), p.arrive)
}

func (p *poll) arrive() {
	if w, n := p.w, p.node; !p.done && n.up && n.life == p.life && w.network.both(n.index, p.server.index) {
		p.came = true
		if p.gone = p.fetch.Dropped(p.gone); !slices.ContainsFunc(p.answer, func(e *disk.Entry) bool { return e.Seen.After(p.fetch.Fresh) }) {
			p.gone = time.Time{}
		}
		n.disk.Dropped(p.log.Theme, p.gone) // before anything of the answer is stored
		w.polled(n, p.log, p.fetch, p.answer, p.end)
	}
}

// answerPoll is what a holder answers: what is fresh, or else the newest entry,
// which proves how far the log goes.
func answerPoll(server *node, l *disk.Log, o group.Fetch) []*disk.Entry {
	var fresh []*disk.Entry
	held := server.disk.After(l, o.After)
	for _, e := range held {
		if e.Seen.After(o.Fresh) {
			fresh = append(fresh, e)
		}
	}
	if len(fresh) == 0 && len(held) > 0 {
		fresh = held[len(held)-1:]
	}
	return fresh
}

// dropped is up to when a holder that is not the publisher dropped what was asked
// for, or never took it; zero: none of it.
func (w *World) dropped(server *node, l *disk.Log, o group.Fetch) time.Time {
	held := server.disk.After(l, feedring.Position{})
	next := feedring.Position{Epoch: o.After.Epoch, Sequence: o.After.Sequence + 1}
	at := server.disk.DroppedTo(l.Theme)
	if old := server.clock.at(w.now).Add(-w.cfg.Peer.Freshness); old.After(at) {
		at = old
	}
	if o.Proof || server.id == l.Ref.Publisher || len(held) == 0 || held[0].Position.Compare(next) <= 0 || !at.After(o.Fresh) {
		return time.Time{}
	}
	return at
}

// polled checks and stores an answer.
func (w *World) polled(n *node, l *disk.Log, o group.Fetch, answer []*disk.Entry, end func(feedring.Head, bool)) {
	known, failed := feedring.Head{Feed: o.Feed}, false
	var last *disk.Entry
	if c := n.disk.Copy(l); c != nil {
		last = c.Last
	}
	tooOld := last == nil || last.Seen.Before(o.Fresh)
	var keep []*disk.Entry
	for _, e := range answer {
		if last == nil || e.Position.Compare(last.Position) > 0 {
			if keeps := !o.Proof && e.Seen.After(o.Fresh); keeps {
				if !tooOld && !follows(last, e) {
					failed = true
					break
				}
				keep, last, tooOld = append(keep, e), e, false
			}
		}
		if e.Position.Compare(known.Position) > 0 {
			known = e.Head(l.Ref)
		}
	}
	if len(keep) == 0 {
		end(known, failed)
		return
	}
	if n.full && !n.torn {
		end(known, true)
		return
	}
	life := n.life
	number := n.disk.Begin(disk.Write{Log: l, Entries: keep})
	w.after(w.syncs(n), func() {
		if n.up && n.life == life && n.torn {
			w.refused(n, number, keep)
			end(known, true)
		} else if n.up && n.life == life {
			n.disk.End(number)
			end(known, failed)
		}
	})
}

// follows reports whether e comes right after last in their log, as far as
// its chain tells.
func follows(last, e *disk.Entry) bool {
	if e.Position.Epoch == last.Position.Epoch {
		return e.Position.Sequence == last.Position.Sequence+1
	}
	return e.Position.Sequence == 1
}
