package experiment

import (
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/sim/experiment/stage"
)

// reign watches who manages one group.
type reign struct {
	churn    *restless
	theme    feedring.Theme
	members  []*stage.Host
	managers int
	since    time.Duration // when managers was noted
	without  time.Duration
	two      time.Duration
	lost     time.Duration // when the last manager crashed; below 0: all follow one
	claims   []float64     // seconds
	followed []float64
}

func newReign(c *restless, theme feedring.Theme) *reign {
	g := &reign{churn: c, theme: theme, since: c.stage.Now(), lost: -1}
	for i, h := range c.stage.Hosts() {
		if ThemeOf(i%c.cfg.Groups) == theme {
			g.members = append(g.members, h)
		}
	}
	g.managers = g.count()
	return g
}

func (g *reign) count() int {
	n := 0
	for _, h := range g.members {
		if h.Role(g.theme) == feedring.RoleManager {
			n++
		}
	}
	return n
}

// note accounts for the time since it was last called.
func (g *reign) note() {
	now, was := g.churn.stage.Now(), g.managers
	switch {
	case was == 0:
		g.without += now - g.since
	case was > 1:
		g.two += now - g.since
	}
	g.since, g.managers = now, g.count()
	switch {
	case was > 0 && g.managers == 0 && g.lost < 0:
		g.lost = now
		g.watch(now)
	case was == 0 && g.managers > 0 && g.lost >= 0:
		g.claims = append(g.claims, (now - g.lost).Seconds())
	}
}

const sampleEvery = 100 * time.Millisecond

// watch looks until all follow one manager. A manager that crashes meanwhile
// does not begin a watch of its own.
func (g *reign) watch(lost time.Duration) {
	g.churn.stage.After(sampleEvery, func() {
		if g.united() {
			g.followed = append(g.followed, (g.churn.stage.Now() - lost).Seconds())
			g.lost = -1
			return
		}
		g.watch(lost)
	})
}

// united reports whether all peers that are up, and in the group, follow one
// manager that is up.
func (g *reign) united() bool {
	leader := feedring.PeerID("")
	for _, h := range g.members {
		if !h.Up {
			continue
		}
		of := h.View().Memberships[g.theme]
		switch {
		case of == nil: // it has not come in again yet
		case leader == "":
			leader = of.Manager
		case leader != of.Manager:
			return false
		}
	}
	m := g.churn.stage.Host(leader)
	return m != nil && m.Role(g.theme) == feedring.RoleManager
}
