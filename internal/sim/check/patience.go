package check

import (
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/peer"
)

// What an asked peer does about a coordinator that does not answer (docs/protocol.md 8,
// Who knows what).
const (
	acceptsWithin = 500 * time.Millisecond // else the next is asked
	looksEvery    = time.Second            // at one that accepted
	atOnce        = 50 * time.Millisecond  // what a step may come late: a clock that drifts
)

// asking names a reader's question at the asked peer.
type asking struct {
	at      int32
	life    uint32
	id      feedring.QueryID
	attempt uint32 // the client's
}

// coordinating is whom a peer asked last.
type coordinating struct {
	who      feedring.PeerID
	attempt  uint32
	at       time.Duration // it was asked, or accepted
	accepted bool
}

// passesOn notes whom a peer asks, and checks that it did not wait for the one before
// for longer than it has patience.
func (w *Witness) passesOn(p int32, to feedring.PeerID, q peer.Query) {
	key := asking{p, w.of(p).life, q.ID, ofClient(q.Attempt)}
	was, again := w.rules.coordinating[key]
	switch {
	case again && was.accepted:
		w.patient(p, was, looksEvery)
	case again:
		w.patient(p, was, acceptsWithin)
	case len(w.rules.coordinating) > 4096:
		clear(w.rules.coordinating) // of peers that ended
	}
	w.rules.coordinating[key] = coordinating{to, q.Attempt, w.cfg.Now(), false}
}

// accepted notes that a coordinator is at work. One that says so too late is not asked
// any more: that may be the peer itself by then. Of one that says so just then nobody
// knows.
func (w *Witness) accepted(p int32, from feedring.PeerID, m peer.Accepted) {
	key := asking{p, w.of(p).life, m.ID, ofClient(m.Attempt)}
	c, ok := w.rules.coordinating[key]
	if !ok || c.who != from || c.attempt != m.Attempt {
		return
	}
	switch took := w.cfg.Now() - c.at; {
	case c.accepted, took < acceptsWithin-atOnce:
		w.rules.coordinating[key] = coordinating{from, m.Attempt, w.cfg.Now(), true}
	case took < acceptsWithin+atOnce:
		delete(w.rules.coordinating, key)
	}
}

// answersAsker checks the same where the reader is answered. A peer that nobody
// accepted asks itself in the end, which is no message: then nothing is to be seen.
func (w *Witness) answersAsker(p int32, f *feedring.Final) {
	key := asking{p, w.of(p).life, f.ID, f.Attempt}
	if c, ok := w.rules.coordinating[key]; ok && c.accepted {
		w.patient(p, c, looksEvery)
	}
	delete(w.rules.coordinating, key)
}

func (w *Witness) patient(p int32, c coordinating, patience time.Duration) {
	if !w.cfg.Steady(p, c.at) {
		return
	}
	waited := w.cfg.Now() - c.at
	if waited >= patience {
		w.Judge("patience with a coordinator")
	}
	if waited > patience+atOnce {
		w.Fail("patience", "%s waited %v for %s, which coordinates for it, and did not look whether it is there", w.cfg.Name(p), waited, c.who)
	}
}
