package sim

import (
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/sim/disk"
)

const pollFirst = 3 * time.Second // the patience with who does not answer

// poll does group.Fetch: a request on a stream, so that it is not lost but for
// a cut, and reports back exactly once.
func (w *World) poll(n *node, o group.Fetch) {
	life, l := n.life, w.byRef[o.Feed]
	from := w.indexOf(o.From)
	if from < 0 || w.nodes[from] == nil || l == nil {
		w.tell(n, time.Millisecond, o.Group, group.Fetched{Feed: o.Feed, From: o.From, Failed: true})
		return
	}
	if w.cfg.Trace != nil {
		w.tracef("%s polls %v at %s after %d/%d", n.id, o.Feed, o.From, o.After.Epoch, o.After.Sequence)
	}
	done, came := false, false
	end := func(known feedring.Head, failed bool) {
		if !done && n.up && n.life == life {
			w.tell(n, 0, o.Group, group.Fetched{Feed: o.Feed, From: o.From, Head: n.disk.Head(l), Known: known, Failed: failed})
		}
		done = true
	}
	server := w.nodes[from]
	at := w.network.takes(n.index, from)
	w.after(pollFirst, func() {
		if !came {
			end(feedring.Head{Feed: o.Feed}, true)
		}
	})
	if !server.up {
		w.after(at, func() { end(feedring.Head{Feed: o.Feed}, true) })
		return
	}
	w.after(server.lag.awake(w.now+at)-w.now, func() {
		if !server.runs() || !w.network.both(n.index, from) {
			return // it waits, in vain
		}
		answer := answerPoll(server, l, o)
		w.after(w.network.takes(from, n.index), func() {
			if !done && n.up && n.life == life && w.network.both(n.index, from) {
				came = true
				w.polled(n, l, o, answer, end)
			}
		})
	})
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
	if n.full {
		end(known, true)
		return
	}
	life := n.life
	number := n.disk.Begin(disk.Write{Log: l, Entries: keep})
	w.after(w.syncs(n), func() {
		if n.up && n.life == life {
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
