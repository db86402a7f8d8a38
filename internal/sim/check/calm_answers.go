package check

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
)

// calmAnswers checks what a reader is told who asked once all was settled.
type calmAnswers struct {
	*record
	questions *questions
}

// complete checks the answer to a question that was asked once all was settled. If all
// publishers are there it is ANSWERED with nothing missing; if nobody ever published
// what it names it is UNSATISFIED.
func (c *calmAnswers) complete(p int32, a *asked, f *feedring.Final) {
	q := a.in.Query
	if c.settled == 0 || a.at <= c.settled {
		return
	}
	published, there := c.published(q.Theme, q.Provider)
	want := feedring.Answered
	switch {
	case !published:
		want = feedring.Unsatisfied
	case !there || slices.ContainsFunc(c.questions.about(q), func(t feedring.Theme) bool {
		return !slices.Contains(a.known, t) || !c.questions.everywhere(t, q.Provider)
	}):
		return // something is missing, or may be
	}
	if (!published || q.Theme == "" && q.Provider != "") && c.unsure(a.at) {
		return // a group may not say no yet
	}
	c.Judge("whole answers")
	if f.Status != want || len(f.Missing) > 0 || (len(f.Grants) > 0) != published {
		c.Fail("calm", "%s answers %v with %d grants, without %v, to who asks for %q of %q, long after all faults",
			c.cfg.Name(p), f.Status, len(f.Grants), f.Missing, q.Provider, q.Theme)
	}
}

// unsure reports whether, at some time, a peer had managed a group for less than three
// periods and nobody follows it: what it knows of the group may not be all
// (docs/protocol.md 8).
func (c *calmAnswers) unsure(at time.Duration) bool {
	for p := range c.peers {
		for _, s := range c.peers[p].memberships {
			if s.role == feedring.RoleManager && s.since > at-3*c.cfg.Refresh && c.cfg.Runs(int32(p)) && !c.followed(s) {
				return true
			}
		}
	}
	return false
}

// followed reports whether anybody is in a group under its manager's term.
func (c *calmAnswers) followed(lead *membership) bool {
	for p := range c.peers {
		for _, s := range c.peers[p].memberships {
			if s != lead && s.group == lead.group && s.term == lead.term {
				return true
			}
		}
	}
	return false
}

// published reports whether anybody ever published a match, and whether all who did are
// there.
func (c *calmAnswers) published(theme feedring.Theme, provider string) (ever, there bool) {
	there = true
	for _, l := range c.cfg.Logs() {
		if (theme == "" || l.Theme == theme) && l.Provider.Matches(provider) {
			ever, there = true, there && c.cfg.Runs(c.cfg.Index(l.Ref.Publisher))
		}
	}
	return ever, there
}
