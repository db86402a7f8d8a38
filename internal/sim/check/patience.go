package check

import (
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
	"github.com/feedring/feedring/internal/peer"
	"github.com/feedring/feedring/ring"
)

// patience checks what an asked peer does about a coordinator that does not answer,
// and a coordinator about leaders that do not (docs/protocol.md 8).
type patience struct {
	*record
	questions    *questions
	coordinating map[asking]coordinating
	shortcuts    map[asking]*shortcut
}

// What an asked peer does about a coordinator that does not answer, and a coordinator
// about leaders that do not (docs/protocol.md 8, Asking; The way).
const (
	acceptsWithin = 500 * time.Millisecond // else the next is asked
	looksEvery    = time.Second            // at one that accepted
	atOnce        = 50 * time.Millisecond  // what a step may come late: a clock that drifts
	mostLeaders   = 4                      // manager and secondary, and two that were displaced
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
func (c *patience) passesOn(p int32, to feedring.PeerID, q peer.Query) {
	key := asking{p, c.peer(p).life, q.ID, ofClient(q.Attempt)}
	was, again := c.coordinating[key]
	switch {
	case again && was.accepted:
		c.patient(p, was, looksEvery)
	case again:
		c.patient(p, was, acceptsWithin)
	case len(c.coordinating) > 4096:
		clear(c.coordinating) // of peers that ended
	}
	c.coordinating[key] = coordinating{to, q.Attempt, c.cfg.Now(), false}
}

// accepted notes that a coordinator is at work. One that says so too late is not asked
// any more: that may be the peer itself by then. Of one that says so just then nobody
// knows.
func (c *patience) accepted(p int32, from feedring.PeerID, m peer.Accepted) {
	key := asking{p, c.peer(p).life, m.ID, ofClient(m.Attempt)}
	last, ok := c.coordinating[key]
	if !ok || last.who != from || last.attempt != m.Attempt {
		return
	}
	switch took := c.cfg.Now() - last.at; {
	case last.accepted, took < acceptsWithin-atOnce:
		c.coordinating[key] = coordinating{from, m.Attempt, c.cfg.Now(), true}
	case took < acceptsWithin+atOnce:
		delete(c.coordinating, key)
	}
}

// answersAsker checks the same where the reader is answered. A peer that nobody
// accepted asks itself in the end, which is no message: then nothing is to be seen.
func (c *patience) answersAsker(p int32, f *feedring.Final) {
	key := asking{p, c.peer(p).life, f.ID, f.Attempt}
	if last, ok := c.coordinating[key]; ok && last.accepted {
		c.patient(p, last, looksEvery)
	}
	delete(c.coordinating, key)
}

func (c *patience) patient(p int32, last coordinating, patience time.Duration) {
	if !c.cfg.Steady(p, last.at) {
		return
	}
	waited := c.cfg.Now() - last.at
	if waited >= patience {
		c.Judge("patience with a coordinator")
	}
	if waited > patience+atOnce {
		c.Fail("patience", "%s waited %v for %s, which coordinates for it, and did not look whether it is there", c.cfg.Name(p), waited, last.who)
	}
}

// shortcut is what a coordinator does for a question about a group that it is not in.
type shortcut struct {
	group   feedring.GroupID
	attempt uint32
	asked   int  // how often it asked a leader of the group
	over    bool // it searches the ring, or is at work for another attempt too
}

// coordinates notes that a peer is asked to find a theme.
func (c *patience) coordinates(p int32, q peer.Query) {
	key := asking{p, c.peer(p).life, q.ID, ofClient(q.Attempt)}
	switch s := c.shortcuts[key]; {
	case s != nil:
		s.over = s.over || s.attempt != q.Attempt
	case q.Theme != "" && c.cfg.Membership(p, q.Theme) == nil:
		if len(c.shortcuts) > 4096 {
			clear(c.shortcuts) // of questions that were answered
		}
		c.shortcuts[key] = &shortcut{group: q.Theme.Group(), attempt: q.Attempt}
	}
}

// asksLeader checks that a coordinator does not stay with a shortcut that nobody
// answers: once it asked the group's manager and its secondary, it searches the ring.
func (c *patience) asksLeader(p int32, m group.Place) {
	s := c.shortcuts[asking{p, c.peer(p).life, m.ID, m.Attempt}]
	if s == nil || s.group != m.Group || s.over {
		return
	}
	if s.asked++; s.asked > mostLeaders && !c.isAsked(p, m.ID) {
		c.Fail("patience", "%s asks leaders of one group %d times by a shortcut that nobody answers, and does not search the ring", c.cfg.Name(p), s.asked)
	}
}

// isAsked reports whether a reader's question is open at a peer: what it coordinates
// for itself is no message.
func (c *patience) isAsked(p int32, id feedring.QueryID) bool {
	for k, a := range c.questions.asked {
		if k.at == p && k.life == c.peer(p).life && a.in.ID == id {
			return true
		}
	}
	return false
}

// searches notes that a coordinator searches the ring: what it asks from then on was
// found.
func (c *patience) searches(p int32, m ring.Search) {
	if m.Coordinator != c.cfg.Name(p) {
		return
	}
	s := c.shortcuts[asking{p, c.peer(p).life, m.ID, ofClient(m.Attempt)}]
	if s == nil || s.over {
		return
	}
	s.over = true
	if s.asked > 0 {
		c.Judge("shortcuts in vain")
	}
}
