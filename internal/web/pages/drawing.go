package pages

import (
	"math"
	"math/bits"
	"net/url"

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
	*markup
	groups          []feedring.RingGroup
	own             Roles
	radius, cx, cy  float64
	names, chevrons bool
}

func draw(m *markup, groups []feedring.RingGroup, own Roles) {
	if len(groups) > drawn {
		m.html("<p>")
		m.counted(len(groups), "group is", "groups are")
		m.html(" too many to draw.</p>\n")
		return
	}
	n := float64(len(groups))
	d := &drawing{markup: m, groups: groups, own: own, radius: max(100, n*11), names: len(groups) <= labelled}
	d.chevrons = d.names && len(groups) > 1
	if !d.names {
		d.radius = max(150, n*4.5)
	}
	d.cx, d.cy = d.radius+margin, d.radius+headroom
	m.html(`<svg class="ring" role="group" aria-label="The groups, clockwise in ring order" viewBox="0 0 `)
	d.at(2*d.cx, 2*d.cy+8, " ")
	m.html("\">\n<circle class=\"orbit\" cx=\"")
	d.at(d.cx, d.cy, `" cy="`)
	m.html(`" r="`)
	m.number(int64(d.radius))
	m.html("\"/>\n")
	d.middle()
	for i := range groups {
		d.group(i)
	}
	m.html("</svg>\n")
	if d.names {
		m.html("<p class=\"legend\">In each circle: the number of peers. Filled: managed by this peer. Bold: it is a member.</p>\n")
	}
}

// at writes two coordinates, whole.
func (d *drawing) at(x, y float64, between literal) {
	d.number(int64(math.Round(x)))
	d.html(between)
	d.number(int64(math.Round(y)))
}

func (d *drawing) middle() {
	d.html(`<text class="sum" x="`)
	d.at(d.cx, d.cy, `" y="`)
	d.html(`">`)
	d.counted(len(d.groups), "group", "groups")
	d.html("</text>\n")
}

// angle is where group i stands; halves are between two.
func (d *drawing) angle(i float64) float64 { return 2*math.Pi*i/float64(len(d.groups)) - math.Pi/2 }

func (d *drawing) point(angle, radius float64) (x, y float64) {
	return d.cx + radius*math.Cos(angle), d.cy + radius*math.Sin(angle)
}

func (d *drawing) group(i int) {
	g, role := &d.groups[i], d.own[d.groups[i].Theme]
	x, y := d.point(d.angle(float64(i)), d.radius)
	// What is written beside a circle is its link's name; one without has a label.
	d.between(`<a href="group/`, url.PathEscape(string(g.Theme)), `"`)
	if !d.names {
		d.html(` aria-label="`)
		d.describe(g, role)
		d.html(`"`)
	}
	d.html(`><circle class="group `)
	d.html(classOf(role))
	d.html(`" cx="`)
	d.at(x, y, `" cy="`)
	d.html(`" r="`)
	size := 4.0
	if d.names {
		size = 11 + 2*float64(min(bits.Len(uint(max(g.Peers, 0))), 4))
	}
	d.number(int64(size))
	d.html(`"><title>`)
	d.describe(g, role)
	d.html(`</title></circle>`)
	if d.names {
		d.html(`<text class="peers" x="`)
		d.at(x, y+4, `" y="`)
		d.html(`">`)
		d.number(int64(g.Peers))
		d.html("</text> ")
		d.name(g, role, d.angle(float64(i)), size)
	}
	d.html("</a>\n")
	if d.chevrons {
		d.chevron(d.angle(float64(i) + .5))
	}
}

// describe says in words what is drawn of a group.
func (d *drawing) describe(g *feedring.RingGroup, role string) {
	d.text(string(g.Theme))
	d.html(": ")
	d.counted(g.Peers, "peer, ", "peers, ")
	d.counted(g.Feeds, "feed, ", "feeds, ")
	d.counted(g.Clients, "client", "clients")
	d.between("; manager ", g.Manager.Short(), "")
	if g.Secondary != "" {
		d.between(", secondary ", g.Secondary.Short(), "")
	}
	if role != "" {
		d.between("; this peer is its ", role, "")
	}
}

func classOf(role string) literal {
	switch role {
	case "":
		return "other"
	case "manager":
		return "manager"
	default:
		return "member"
	}
}

// name writes a group's name beside its circle, away from the middle.
func (d *drawing) name(g *feedring.RingGroup, role string, angle, size float64) {
	x, y := d.point(angle, d.radius+size+7)
	anchor, dy := literal("middle"), 0.0
	switch cos, sin := math.Cos(angle), math.Sin(angle); {
	case cos > .3:
		anchor = "start"
	case cos < -.3:
		anchor = "end"
	case sin < 0:
		dy = -14
	default:
		dy = 12
	}
	d.line("name", anchor, x, y+dy, shorten(string(g.Theme), 13))
	d.html(" ")
	if role != "" {
		d.line("note", anchor, x, y+dy+14, role+" here")
		return
	}
	d.html(`<text class="note" text-anchor="`)
	d.html(anchor)
	d.html(`" x="`)
	d.at(x, y+dy+14, `" y="`)
	d.html(`">`)
	d.counted(g.Feeds, "feed", "feeds")
	d.html("</text>")
}

func (d *drawing) line(class, anchor literal, x, y float64, s string) {
	d.html(`<text class="`)
	d.html(class)
	d.html(`" text-anchor="`)
	d.html(anchor)
	d.html(`" x="`)
	d.at(x, y, `" y="`)
	d.between(`">`, s, "</text>")
}

// chevron points along the ring.
func (d *drawing) chevron(angle float64) {
	x, y := d.point(angle, d.radius)
	d.html(`<path class="chevron" d="M-4-5 3 0-4 5" transform="translate(`)
	d.at(x, y, " ")
	d.html(") rotate(")
	d.number(int64(math.Round(angle*180/math.Pi + 90)))
	d.html(")\"/>\n")
}
