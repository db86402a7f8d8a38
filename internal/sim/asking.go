package sim

import (
	"encoding/binary"
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/peer"
)

const (
	hedge       = 2 * time.Second // then the next peer is asked as well
	maxAskTime  = 8 * time.Second
	maxAttempts = 3
	retryPause  = 300 * time.Millisecond
)

// question is one query on its way to a final, through as many peers as it
// takes.
type question struct {
	reader  *reader
	id      feedring.QueryID
	attempt uint32
	since   time.Time
	until   time.Duration
	asked   int
	failed  int
	peers   []int32
	done    bool
}

// ask begins a question.
func (w *World) ask(r *reader, since time.Time, within time.Duration) {
	q := &question{reader: r, since: since, until: w.now + within, peers: slices.Clone(r.client.peerBook)}
	binary.BigEndian.PutUint64(q.id[:], w.random.Uint64())
	binary.BigEndian.PutUint64(q.id[8:], w.random.Uint64())
	r.question = q
	w.askNext(q)
	w.after(within, func() { w.concluded(q, feedring.Final{Status: feedring.Incomplete}) })
}

// askNext asks the next peer, under an attempt of its own.
func (w *World) askNext(q *question) {
	c := q.reader.client
	if q.done || q.asked >= len(q.peers) || !c.here {
		return
	}
	n := w.nodes[q.peers[q.asked]]
	q.asked++
	q.attempt++
	left := (q.until - w.now) * 3 / 4
	in := peer.Ask{Client: c.id, ID: q.id, Attempt: q.attempt,
		Query:  feedring.Query{Theme: q.reader.theme, Provider: q.reader.provider, Since: q.since},
		Within: max(200*time.Millisecond, min(maxAskTime, left))}
	if !n.up || !w.network.both(c.index, n.index) {
		w.after(w.network.takes(c.index, n.index), func() { w.noAnswer(q) })
	} else {
		life := n.life
		w.after(w.network.takes(c.index, n.index), func() { w.asked(n, life, q, in) })
	}
	w.after(hedge, func() { w.askNext(q) })
}

// noAnswer is a peer that could not be asked.
func (w *World) noAnswer(q *question) {
	if q.failed++; q.failed == q.asked {
		if q.asked == len(q.peers) {
			w.concluded(q, feedring.Final{Status: feedring.Incomplete})
			return
		}
		w.askNext(q)
	}
}

// asked hands a question to the asked peer.
func (w *World) asked(n *node, life uint32, q *question, in peer.Ask) {
	if !n.up || n.life != life || q.done {
		return
	}
	in.Stream = n.nextID()
	n.asked[in.Stream] = q
	w.witness.Asked(n.index, in)
	if n.paused {
		w.report(n, 0, in)
		return
	}
	w.step(n, in)
	w.after(in.Within+time.Second, func() { // L4
		if n.life == life && n.steady(w.now-in.Within-2*time.Second) && w.witness.Overdue(n.index, in.Stream) {
			w.witness.Fail("L4", "%s has not answered stream %d within %v", n.id, in.Stream, in.Within)
		}
	})
}

// answered does peer.Answer.
func (w *World) answered(n *node, o peer.Answer) {
	q := n.asked[o.Stream]
	if q == nil {
		return
	}
	delete(n.asked, o.Stream)
	n.seal(o.Final.Grants)
	if w.cfg.Trace != nil {
		w.tracef("%s answers %s: %s", n.id, q.reader.client.id, finalText(o.Final))
	}
	c := q.reader.client
	if !w.network.both(n.index, c.index) {
		return
	}
	w.after(w.network.takes(n.index, c.index), func() {
		c.good(n.index)
		w.concluded(q, o.Final)
	})
}

// concluded is the end of a question: the first final counts.
func (w *World) concluded(q *question, f feedring.Final) {
	r := q.reader
	if q.done || !r.client.here || r.over {
		return
	}
	q.done = true
	r.question = nil
	switch {
	case len(f.Grants) > 0:
		w.serve(r, f.Grants)
		if r.follow && slices.ContainsFunc(f.Grants, func(g feedring.Grant) bool { return g.Own }) {
			w.after(lookForOwn, func() { w.lookAgain(r) })
		}
	case f.Status == feedring.Unsatisfied && !r.follow:
		r.over = true
	case f.Status == feedring.Unsatisfied:
		w.searchLater(r, backOffMost, absentMost)
		r.failures++
	default:
		w.searchLater(r, retryPause, backOffMost)
		r.failures++
	}
}

// lookAgain asks for publishers that came since, where each serves its own.
func (w *World) lookAgain(r *reader) {
	if !r.over && r.client.here && r.question == nil {
		w.ask(r, r.sinceOf(w), searchWithin)
	}
}
