package client

import (
	"math/rand/v2"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client/internal/truth"
)

// A follower's provider may leave out what is new. So another one is asked now and then
// which entries there are.

const (
	auditEvery  = time.Minute      // between two summaries, on average
	auditAgain  = 5 * time.Second  // until what is lacking is looked for again: it may be on its way
	auditNewest = 15 * time.Second // what is younger than that nobody is held to
)

// audit is what a follower compares its provider with. The zero audit has not begun.
type audit struct {
	recent truth.Recent
	due    time.Time
	begun  feedring.Cursor // when the summary that is under way was asked for
	// passed is where the follower stood at the last audits that found nothing, the last one
	// last. What the last one did not know of yet is after the one before.
	passed [2]feedring.Cursor
	doubts []feedring.Hint // lacking when somebody was asked last
	// kept is what was lacking, and whose doing that is if it comes.
	kept map[uint64]feedring.PeerID
}

// audited is the session and the provider that a group's audit is about; nil: none.
func (f *follower) audited(g *group) (s *session, served feedring.PeerID) {
	for one, whole := range g.sessions {
		if one.aim == summaries || !whole || s != nil || one.grant.Own {
			return nil, "" // one is under way, or several serve
		}
		s = one
	}
	if s == nil {
		return nil, ""
	}
	if served = s.by; served == f.client.transport.ID() || trusted(&s.grant, served) {
		return nil, ""
	}
	return s, served
}

// auditWhenDue asks for a summary, and returns how long the next one can wait.
func (f *follower) auditWhenDue(g *group) time.Duration {
	now := time.Now()
	s, served := f.audited(g)
	switch {
	case s == nil:
		return auditEvery
	case g.audit.due.IsZero():
		g.audit.due = now.Add(auditEvery/2 + rand.N(auditEvery))
		g.audit.passed = [2]feedring.Cursor{g.cursor, g.cursor}
	case now.Before(g.audit.due):
	case now.After(s.grant.Ticket.Expiry): // nobody would say anything to it
		g.audit.due = now.Add(auditEvery)
		g.due = now
	default:
		g.audit.due = now.Add(auditEvery/2 + rand.N(auditEvery))
		g.audit.begun = g.cursor
		f.round.begin(s.grant, skipping(s.skip, served), &session{aim: summaries})
	}
	return time.Until(g.audit.due)
}

// onSummary compares what another provider holds with what came.
func (f *follower) onSummary(g *group, e event) {
	if !e.caught && e.ended == nil {
		return
	}
	g.stop(e.session)
	s, served := f.audited(g)
	if e.hints == nil || s == nil { // it is of a version before, or was lost
		return
	}
	now := time.Now()
	lacking := g.audit.recent.Lacks(e.hints, f.started, now.Add(-auditNewest))
	if len(lacking) == 0 {
		g.audit.passed = [2]feedring.Cursor{g.audit.passed[1], g.audit.begun}
		g.audit.doubts = nil
		return
	}
	if len(g.audit.doubts) == 0 {
		g.audit.doubts, g.audit.due = lacking, now.Add(auditAgain)
		return
	}
	var still truth.Recent
	for _, h := range lacking {
		still.Add(h)
	}
	again := len(still.Lacks(g.audit.doubts, time.Time{}, now)) < len(g.audit.doubts)
	g.audit.doubts = nil
	if again {
		f.goBack(g, s, served, lacking)
	}
}

// goBack has another provider show what came since nothing was lacking for sure. Hints that
// nobody makes good are not heeded again.
func (f *follower) goBack(g *group, s *session, served feedring.PeerID, lacking []feedring.Hint) {
	g.audit.kept = make(map[uint64]feedring.PeerID)
	for _, h := range lacking {
		g.audit.kept[h.Copy] = served
		g.audit.recent.Add(h)
	}
	at := g.cursor
	if g.cursor = g.audit.passed[0]; g.cursor == nil {
		g.cursor = feedring.Cursor{}
	}
	if !f.useAlternate(s, served) {
		g.cursor = at
		return
	}
	g.stop(s)
	g.audit.due = time.Time{}
	f.client.log.Warn("a provider lacks entries that another has", "theme", g.theme, "peer", served, "entries", len(lacking))
}

// madeGood notes whose doing it is that an entry comes late.
func (f *follower) madeGood(g *group, e event) {
	by, ok := g.audit.kept[e.item.Copy]
	if !ok || by == e.served {
		return
	}
	delete(g.audit.kept, e.item.Copy)
	if e.entry != nil && proves(&f.query, e.entry, time.Now()) {
		f.client.askedLast.note(by, time.Now())
		f.banned[by] = true
		f.client.log.Warn("a provider kept entries back", "theme", g.theme, "peer", by, "shown by", e.served)
	}
}
