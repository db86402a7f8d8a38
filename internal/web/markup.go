package web

import (
	"bytes"
	"html"
	"net/url"
	"strconv"
	"strings"
)

// literal is HTML that stands in this program. A constant becomes one by
// itself, a string that came from anywhere else does not: so only text, value
// and address can put that on a page, and each escapes it.
type literal string

// markup is a page that is being written. It is instead of html/template: a
// template calls methods by name, so the linker must then keep every exported
// method of every type, a seventh of the binary.
type markup struct{ bytes.Buffer }

// html writes HTML as it stands.
func (m *markup) html(h literal) { m.WriteString(string(h)) }

// text writes characters, between tags or in a quoted attribute.
func (m *markup) text(s string) { m.WriteString(html.EscapeString(strings.ToValidUTF8(s, "�"))) }

// number writes n.
func (m *markup) number(n int64) { m.WriteString(strconv.FormatInt(n, 10)) }

// between writes before, s as text, and after.
func (m *markup) between(before literal, s string, after literal) {
	m.html(before)
	m.text(s)
	m.html(after)
}

// cell starts a cell of a table and writes s into it.
func (m *markup) cell(s string) { m.between("<td>", s, "") }

// count starts a cell of a table and writes n into it.
func (m *markup) count(n int64) {
	m.html(`<td class="number">`)
	m.number(n)
}

// link writes a link to another site. An address that is not of the web, such
// as javascript:, is shown and not linked.
func (m *markup) link(address, label string) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || !strings.EqualFold(u.Scheme, "http") && !strings.EqualFold(u.Scheme, "https") {
		m.text(label)
		return
	}
	m.between(`<a href="`, u.String(), `" rel="noreferrer nofollow">`)
	m.between("", label, "</a>")
}
