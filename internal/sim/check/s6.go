package check

import (
	"slices"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/peer"
)

// s6 checks that a question is UNSATISFIED only if every group known to all said
// no.
type s6 struct {
	*record
	questions *questions
	begun     map[ended][]feedring.Theme // what a coordinator knew of when a question over all groups came
}

// answered checks what the asked peer answers.
func (c *s6) answered(p int32, a *asked, f *feedring.Final) {
	switch theme := a.in.Query.Theme; {
	case f.Status == feedring.Unsatisfied:
		c.unsatisfied(p, a)
	case f.Status == feedring.Incomplete && c.settled > 0 && a.at > c.settled && c.nobodys(theme):
		c.Fail("S6", "%s does not know whether somebody serves %q, which is on no map, long after all faults", c.cfg.Name(p), theme)
	}
}

// nobodys reports whether a theme is on no live map.
func (c *s6) nobodys(theme feedring.Theme) bool {
	for p := range int32(len(c.peers)) {
		if theme == "" || c.cfg.Runs(p) && c.cfg.OnMap(p, theme.Group()) {
			return false
		}
	}
	return true
}

// unsatisfied checks that the answer is not UNSATISFIED for a theme that was served and
// on every live manager's map: when the question came, now, and on the map of the
// coordinator that said no, when it said so.
func (c *s6) unsatisfied(p int32, a *asked) {
	provider := a.in.Query.Provider
	for _, theme := range c.saw(p, a) {
		if c.questions.lost[theme.Group()] < a.at && c.questions.everywhere(theme, provider) {
			c.Fail("S6", "%s answers that nobody serves %q of %q, which is served and on every map", c.cfg.Name(p), provider, theme)
		}
	}
}

// saw returns the themes on the map of the peer whose no is passed on: the coordinator
// whose final comes now, else the last one, else the asked peer itself, which found
// nobody to ask.
func (c *s6) saw(p int32, a *asked) []feedring.Theme {
	if len(a.noes) == 0 {
		return c.questions.sees(p, a.known)
	}
	said := a.noes[len(a.noes)-1]
	if m, is := c.peer(p).given.Message.(peer.Final); is {
		for _, n := range a.noes {
			if n.attempt == m.Final.Attempt {
				said = n
			}
		}
	}
	return said.sees
}

// queryComes notes what a coordinator knows of when a question without a theme
// comes.
func (c *s6) queryComes(p int32, q peer.Query) {
	key := ended{p, c.peer(p).life, q.ID, q.Attempt}
	if _, again := c.begun[key]; again || q.Theme != "" || q.Provider != "" || !c.cfg.Runs(p) {
		return
	}
	var themes []feedring.Theme
	for _, r := range c.cfg.Ring(p) {
		themes = append(themes, r.Theme)
	}
	c.begun[key] = themes
}

// final checks what a coordinator answers.
func (c *s6) final(p int32, f feedring.Final) {
	key := ended{p, c.peer(p).life, f.ID, f.Attempt}
	themes, known := c.begun[key]
	delete(c.begun, key)
	if !known || f.Status == feedring.Incomplete {
		return
	}
	for _, theme := range themes {
		g := theme.Group()
		granted := slices.ContainsFunc(f.Grants, func(g feedring.Grant) bool { return g.Theme == theme })
		if !granted && c.questions.lost[g] < c.cfg.Now()-time.Minute && c.questions.everywhere(theme, "") {
			c.Fail("S6", "%s answers for all groups, and left %s out", c.cfg.Name(p), theme)
		}
	}
}
