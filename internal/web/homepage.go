package web

import (
	"cmp"
	"net/url"
)

// page writes the peer's page.
func (h *home) page() *markup {
	m := new(markup)
	h.head(m)
	m.html("<main>\n")
	h.roles(m)
	h.ring(m)
	h.feeds(m)
	h.commands(m)
	m.html("</main>\n</html>\n")
	return m
}

func (h *home) head(m *markup) {
	m.html(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
`)
	m.between("<title>feedring · ", h.Peer.Short(), "</title>\n")
	m.html(`<link rel="stylesheet" href="style.css">
<link rel="alternate" type="application/atom+xml" title="Newest entries" href="api/v1/entries.atom">
<header>
<h1>feedring</h1>
`)
	m.between("<p>A peer of the network <b>", h.Network, "</b>")
	m.between(", version ", h.Version, "")
	m.between(", up for ", h.Up.String(), ": ")
	m.number(int64(h.Entries))
	m.html(" entries,\n")
	m.number(int64(h.Peers))
	m.html(" connected peers, ")
	m.number(int64(h.Clients))
	m.html(" clients.</p>\n")
	m.between("<p><code>", string(h.Peer), "</code></p>\n</header>\n")
}

func (h *home) roles(m *markup) {
	m.html("<section>\n<h2>Roles</h2>\n")
	if len(h.Roles) == 0 {
		m.html("<p>This peer is in no group: it publishes no feed.</p>\n</section>\n")
		return
	}
	m.html("<table>\n<thead><tr><th>Theme<th>Role<th>Term</thead>\n<tbody>\n")
	for _, r := range h.Roles {
		m.html("<tr>")
		m.cell(string(r.Theme))
		m.cell(r.Role)
		m.count(int64(r.Term))
		m.html("\n")
	}
	m.html("</tbody>\n</table>\n</section>\n")
}

func (h *home) ring(m *markup) {
	m.html("<section>\n<h2>Ring</h2>\n")
	if len(h.Ring) == 0 {
		m.html("<p>No group is known yet.</p>\n</section>\n")
		return
	}
	m.html("<table>\n<thead><tr><th>Theme<th>Manager<th>Secondary<th>Peers<th>Feeds<th>Clients</thead>\n<tbody>\n")
	for _, g := range h.Ring {
		m.between(`<tr><td><a href="api/v1/catalog/`, url.PathEscape(string(g.Theme)), `">`)
		m.between("", string(g.Theme), "</a>")
		m.between(`<td title="`, string(g.Manager), `">`)
		m.text(g.Manager.Short())
		m.between(`<td title="`, string(g.Secondary), `">`)
		m.text(cmp.Or(g.Secondary.Short(), "–"))
		m.count(int64(g.Peers))
		m.count(int64(g.Feeds))
		m.count(int64(g.Clients))
		m.html("\n")
	}
	m.html("</tbody>\n</table>\n</section>\n")
}

func (h *home) feeds(m *markup) {
	m.html("<section>\n<h2>Feeds of this peer</h2>\n")
	if len(h.Feeds) == 0 {
		m.html("<p>None.</p>\n</section>\n")
		return
	}
	m.html("<table>\n<thead><tr><th>Feed<th>Theme<th>Provider<th>Entries<th>Last look (UTC)<th>Error</thead>\n<tbody>\n")
	for _, f := range h.Feeds {
		m.html("<tr><td>")
		m.link(f.URL, cmp.Or(f.Title, f.URL))
		m.cell(cmp.Or(string(f.Theme), "private"))
		m.cell(string(f.Provider))
		m.count(int64(f.Entries))
		m.cell(when(f.LastFetch))
		m.between(`<td class="error">`, f.Error, "\n")
	}
	m.html("</tbody>\n</table>\n</section>\n")
}

// commands are what a visitor may copy.
func (h *home) commands(m *markup) {
	at := ""
	if h.Join != "" {
		at = "--peer " + h.Join + " "
		if h.Network != "main" {
			at += "--network " + h.Network + " "
		}
	}
	m.html("<section>\n<h2>Ask from a terminal</h2>\n")
	m.between("<pre>feedring query ", at, "--since 36h WORDS\n")
	m.between("feedring follow ", at, "--theme news\n")
	m.between("feedring ring ", at, "</pre>\n<h2>Ask over HTTP</h2>\n")
	m.between("<pre>curl '", h.Base, "/api/v1/entries?theme=news&amp;since=36h&amp;limit=10'\n")
	m.between("curl -N '", h.Base, "/api/v1/stream?q=climate'</pre>\n")
	m.html(`<p>
<a href="api/v1/status">status</a> ·
<a href="api/v1/ring">ring</a> ·
<a href="api/v1/entries">entries</a> ·
<a href="api/v1/entries.atom">entries as Atom</a> ·
<a href="readyz">ready</a> ·
<a href="metrics">metrics</a></p>
</section>
`)
}
