package pages

import (
	"cmp"
	"net/url"
	"unicode/utf8"

	"github.com/feedring/feedring"
)

// maxRows bounds what a page lists of one kind; the API lists all.
const maxRows = 300

// Roles are this peer's roles by theme.
type Roles map[feedring.Theme]string

// ring writes the ring as a drawing and as a table.
func ring(m *markup, groups []feedring.RingGroup, own Roles) {
	m.html("<section id=\"ring\" aria-labelledby=\"ring-title\">\n<h2 id=\"ring-title\">The ring</h2>\n")
	if len(groups) == 0 {
		m.html("<p>No group is known yet.</p>\n</section>\n")
		return
	}
	draw(m, groups, own)
	m.html("<table>\n<caption>Every group in ring order; M is its manager, S its secondary</caption>\n" +
		"<thead><tr><th scope=\"col\">Group<th scope=\"col\">Led by<th scope=\"col\">Peers<th scope=\"col\">Feeds<th scope=\"col\">Clients</thead>\n<tbody>\n")
	for i := range groups[:min(len(groups), maxRows)] {
		ringRow(m, &groups[i], own[groups[i].Theme])
	}
	m.html("</tbody>\n</table>\n")
	more(m, len(groups)-maxRows, "groups", "api/v1/ring")
	m.html("</section>\n")
}

func ringRow(m *markup, g *feedring.RingGroup, role string) {
	m.html("<tr><th scope=\"row\">")
	groupLink(m, "", g.Theme)
	if role != "" {
		m.between(`<br><span class="own">here: `, role, "</span>")
	}
	m.html("<td>")
	leader(m, "M", "manager", g.Manager)
	m.html("<br>")
	leader(m, "S", "secondary", g.Secondary)
	for _, n := range []int{g.Peers, g.Feeds, g.Clients} {
		m.html(`<td class="number">`)
		m.number(int64(n))
	}
	m.html("\n")
}

// leader writes who manages a group, or stands in.
func leader(m *markup, letter, word literal, id feedring.PeerID) {
	m.html(`<abbr title="`)
	m.html(word)
	m.html(`">`)
	m.html(letter)
	m.between(`</abbr> <code title="`, string(id), `">`)
	m.between("", cmp.Or(id.Short(), "none"), "</code>")
}

// groupLink links to a group's page.
func groupLink(m *markup, root string, t feedring.Theme) {
	m.between(`<a href="`, root+"group/"+url.PathEscape(string(t)), `">`)
	m.between("", string(t), "</a>")
}

// more says where the rest of a list is.
func more(m *markup, left int, what literal, where string) {
	if left <= 0 {
		return
	}
	m.html("<p>And ")
	m.number(int64(left))
	m.html(" more ")
	m.html(what)
	m.between(`: <a href="`, where, "\">the API lists all</a>.</p>\n")
}

// shorten cuts a label for the drawing.
func shorten(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}
