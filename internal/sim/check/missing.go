package check

import (
	"slices"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group"
)

// missing checks that a publisher that is away, and for whom nobody answers, is
// named as missing, by the manager and in the final.
type missing struct {
	*record
	answers map[lookedUp][]answer
}

// names checks that a lookup that only publishers can answer names those that are away,
// unless a peer that is there publishes the same address.
func (c *missing) names(p int32, m group.Placed, asked []wanted) {
	why := ""
	for _, want := range asked {
		if why = c.unnamed(m, want, c.cfg.Name(p)); why == "" {
			return
		}
	}
	if why != "" && m.Served {
		c.Fail("missing", "%s does not tell that %s is away", c.cfg.Name(p), why)
	}
}

// unnamed names a publisher that is away, and is neither named as missing nor as
// one of whom there are copies; empty: there is none.
func (c *missing) unnamed(m group.Placed, want wanted, self feedring.PeerID) string {
	if want.view == nil || len(want.view.Away) == 0 || len(able(want, self)) > 0 {
		return ""
	}
	feeds := want.view.Feeds(want.provider)
	for len(feeds) > 0 {
		n := 1
		for n < len(feeds) && feeds[n].URL == feeds[0].URL {
			n++
		}
		there := slices.ContainsFunc(feeds[:n], func(ref feedring.FeedRef) bool { return !slices.Contains(want.view.Away, ref.Publisher) })
		if l := c.cfg.Log(feeds[0]); !there && l != nil {
			name := string(want.view.Theme) + "/" + string(l.Provider)
			c.Judge("missing")
			if !slices.Contains(m.Missing, name) && !slices.Contains(m.Copies, name) && !slices.Contains(m.Missing, string(want.view.Theme)) {
				return name
			}
		}
		feeds = feeds[n:]
	}
	return ""
}

// lookedUp names a lookup at its coordinator.
type lookedUp struct {
	at      int32
	id      feedring.QueryID
	attempt uint32
}

// answer is what a manager answered to a coordinator.
type answer struct {
	group   feedring.GroupID
	missing []string
}

// noted notes what a coordinator is told is missing.
func (c *missing) noted(p int32, m group.Placed) {
	if len(c.answers) > 4096 {
		clear(c.answers)
	}
	key := lookedUp{p, m.ID, m.Attempt}
	c.answers[key] = append(c.answers[key], answer{m.Group, m.Missing})
}

// ofClient is the client's attempt that one inside the network is for.
func ofClient(attempt uint32) uint32 { return attempt >> 6 }

// tellsMissing checks that a final names what the managers of the groups that it
// grants named: the others, since what a coordinator looks up itself is no message,
// and goes before what it asked another for meanwhile.
func (c *missing) tellsMissing(p int32, f feedring.Final) {
	answers := c.answers[lookedUp{p, f.ID, ofClient(f.Attempt)}]
	for i := range f.Grants {
		g := f.Grants[i].Theme.Group()
		if s := c.peer(p).find(g); s != nil && (s.role >= feedring.RoleSecondary || s.role == feedring.RolePeer && s.since > c.cfg.Now()-c.cfg.Refresh) {
			continue // it leads, or did when it looked
		}
		heard, told := false, false
		for _, a := range answers {
			if a.group != g {
				continue
			}
			heard = true
			told = told || !slices.ContainsFunc(a.missing, func(name string) bool { return !slices.Contains(f.Missing, name) })
		}
		if len(f.Missing) > 0 && heard {
			c.Judge("missing of a final")
		}
		if heard && (!told || len(f.Missing) > 0 && f.Status == feedring.Answered) {
			c.Fail("missing", "%s answers %v of %s and tells that %v is missing", c.cfg.Name(p), f.Status, f.Grants[i].Theme, f.Missing)
			return
		}
	}
}
