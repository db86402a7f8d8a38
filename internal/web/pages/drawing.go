package pages

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/feedring/feedring"
)

const (
	labelled = 20  // groups, at most, that have their names beside them
	drawn    = 120 // groups, at most, that are drawn
	margin   = 116 // for a name on either side
	headroom = 56  // for a name above and below
)

// drawing is where the groups stand: clockwise in ring order, from the top.
type drawing struct {
	Width, Height int
	X, Y, Radius  int
	Named         bool // else a group has its words in a label
	Groups        []circle
	Chevrons      []chevron
}

// circle is a group.
type circle struct {
	*feedring.RingGroup
	Class, About string
	X, Y, Radius int
	Name, Note   string
	NameX, NameY int
	Anchor       string // at which side of its place the name begins
}

// chevron points along the ring.
type chevron struct{ X, Y, Turned int }

// Drawing returns nil for more groups than can be told apart.
func (h *Home) Drawing() *drawing {
	n := float64(len(h.Ring))
	if n > drawn {
		return nil
	}
	d := &drawing{Named: n <= labelled}
	radius := max(150, n*4.5)
	if d.Named {
		radius = max(100, n*11)
	}
	cx, cy := radius+margin, radius+headroom
	point := func(angle, radius float64) (x, y int) {
		return whole(cx + radius*math.Cos(angle)), whole(cy + radius*math.Sin(angle))
	}
	d.Width, d.Height, d.X, d.Y, d.Radius = whole(2*cx), whole(2*cy+8), whole(cx), whole(cy), int(radius)
	for i := range h.Ring {
		g := &h.Ring[i]
		role := h.Own[g.Theme]
		angle := 2*math.Pi*float64(i)/n - math.Pi/2
		c := circle{RingGroup: g, Class: classOf(role), About: about(g, role), Radius: 4}
		c.X, c.Y = point(angle, radius)
		if d.Named {
			c.Radius = 11 + 2*min(bits.Len(uint(max(g.Peers, 0))), 4)
			c.name(role, math.Cos(angle), math.Sin(angle))
			x, y := point(angle, radius+float64(c.Radius)+7)
			c.NameX, c.NameY = x, c.NameY+y
		}
		d.Groups = append(d.Groups, c)
		if d.Named && n > 1 {
			angle += math.Pi / n
			x, y := point(angle, radius)
			d.Chevrons = append(d.Chevrons, chevron{x, y, whole(angle*180/math.Pi + 90)})
		}
	}
	return d
}

func whole(x float64) int { return int(math.Round(x)) }

// about says in words what is drawn of a group.
func about(g *feedring.RingGroup, role string) string {
	s := fmt.Sprintf("%s: %s, %s, %s; manager %s", g.Theme, count(g.Peers, "peer", "peers"), count(g.Feeds, "feed", "feeds"),
		count(g.Clients, "client", "clients"), g.Manager.Short())
	if g.Secondary != "" {
		s += ", secondary " + g.Secondary.Short()
	}
	if role != "" {
		s += "; this peer is its " + role
	}
	return s
}

func classOf(role string) string {
	switch role {
	case "":
		return "other"
	case "manager":
		return "manager"
	default:
		return "member"
	}
}

// name puts a group's name beside its circle, away from the middle.
func (c *circle) name(role string, cos, sin float64) {
	c.Name, c.Note, c.Anchor = clip(string(c.Theme), 12), count(c.Feeds, "feed", "feeds"), "middle"
	if role != "" {
		c.Note = role + " here"
	}
	switch {
	case cos > .3:
		c.Anchor = "start"
	case cos < -.3:
		c.Anchor = "end"
	case sin < 0:
		c.NameY = -14
	default:
		c.NameY = 12
	}
}
