package pages

import (
	"bytes"
	"html"
	"net/url"
	"strconv"
	"strings"
	"time"
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

// counted writes n with the thing that it counts.
func (m *markup) counted(n int, one, more literal) {
	m.number(int64(n))
	m.html(" ")
	if n == 1 {
		m.html(one)
	} else {
		m.html(more)
	}
}

// fact writes a labelled value of a list of facts.
func (m *markup) fact(label literal, value string) {
	m.html("<div><dt>")
	m.html(label)
	m.between("</dt><dd>", value, "</dd></div>\n")
}

// link writes a link to another site. An address that is not of the web, such
// as javascript:, is shown and not linked.
func (m *markup) link(address, label string) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || !strings.EqualFold(u.Scheme, "http") && !strings.EqualFold(u.Scheme, "https") {
		m.text(label)
		return
	}
	m.between(`<a href="`, u.String(), `" rel="noopener noreferrer nofollow">`)
	m.between("", label, "</a>")
}

// time writes when something was, in UTC: a server does not know the reader's
// zone, the script does.
func (m *markup) time(t time.Time) {
	if t.IsZero() {
		m.html("never")
		return
	}
	m.between(`<time datetime="`, t.UTC().Format(time.RFC3339), `">`)
	m.between("", t.UTC().Format("2 Jan 2006, 15:04"), " UTC</time>")
}

// ago writes how long ago something was. The script goes on counting.
func (m *markup) ago(t, now time.Time) {
	m.between(`<time data-ago datetime="`, t.UTC().Format(time.RFC3339), `">`)
	past := max(0, now.Sub(t))
	for _, u := range []struct {
		name literal
		one  time.Duration
	}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"min", time.Minute}, {"s", time.Second}} {
		if past >= 2*u.one || u.one == time.Second {
			m.number(int64(past / u.one))
			m.html(" " + u.name + " ago</time>")
			return
		}
	}
}
