package pages

import "time"

// Frame is what stands around every page.
type Frame struct {
	Root    string // what addresses of this peer begin with: empty at /, "../" one level below
	Network string
	Owner   bool // the reader holds the token
	Now     time.Time
	Session bool // in a cookie, which can be given back
}

// open begins a page up to its content.
func (f *Frame) open(m *markup, title string) {
	style, script := Assets()
	m.html(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
`)
	m.between("<title>", title, " · feedring</title>\n")
	f.address(m, `<link rel="stylesheet" href="`, style.Name)
	m.between(`" integrity="`, style.Hash, "\">\n")
	f.address(m, `<link rel="icon" type="image/svg+xml" href="`, Icon().Name)
	m.html("\">\n")
	f.address(m, `<script src="`, script.Name)
	m.between(`" integrity="`, script.Hash, "\" defer></script>\n")
	f.address(m, `<link rel="alternate" type="application/atom+xml" title="Newest entries" href="`, "api/v1/entries.atom")
	m.html(`">
<a class="skip" href="#main">Skip to the content</a>
<header>
`)
	f.address(m, `<p class="brand"><a href="`, "./")
	m.between(`">feedring</a> <span>network `, f.Network, "</span></p>\n<nav aria-label=\"Sections\">\n<ul>\n")
	for _, s := range sections {
		f.address(m, `<li><a href="`, "./")
		m.html("#")
		m.html(s.id)
		m.html(`">`)
		m.html(s.label)
		m.html("</a></li>\n")
	}
	m.html("</ul>\n</nav>\n</header>\n<main id=\"main\" tabindex=\"-1\">\n")
}

var sections = []struct{ id, label literal }{
	{"search", "Entries"}, {"ring", "Ring"}, {"personal", "Personal feeds"}, {"feeds", "This peer’s feeds"}, {"peer", "This peer"},
}

// address writes before and the address of something of this peer.
func (f *Frame) address(m *markup, before literal, path string) {
	m.html(before)
	m.text(f.Root + path)
}

// shut ends a page.
func (f *Frame) shut(m *markup) {
	m.html("</main>\n<footer>\n<p>Machine readable: ")
	for i, p := range []string{"status", "ring", "entries", "entries.atom"} {
		if i > 0 {
			m.html(" · ")
		}
		f.address(m, `<a href="`, "api/v1/"+p)
		m.between(`">`, p, "</a>")
	}
	f.address(m, ` · <a href="`, "metrics")
	m.html("\">metrics</a></p>\n</footer>\n</html>\n")
}

// Problem is a page that says what went wrong.
func Problem(f *Frame, title, detail string) []byte {
	m := new(markup)
	f.open(m, title)
	m.between("<section>\n<h1>", title, "</h1>\n")
	m.between(`<p role="alert">`, detail, "</p>\n")
	f.address(m, `<p><a href="`, "./")
	m.html("\">To the first page</a></p>\n</section>\n")
	f.shut(m)
	return m.Bytes()
}
