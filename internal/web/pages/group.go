package pages

import (
	"cmp"
	"net/url"
	"strconv"

	"github.com/feedring/feedring"
)

// Group is the page of a group: its catalogue and its entries.
type Group struct {
	Frame
	Self      feedring.PeerID
	Catalogue feedring.Catalogue
	List      List
}

// Write returns the page.
func (g *Group) Write() []byte {
	m, c := new(markup), &g.Catalogue
	g.open(m, string(c.Theme))
	m.between("<h1>Group ", string(c.Theme), "</h1>\n<div class=\"columns\">\n<div>\n<section aria-labelledby=\"entries-title\">\n<h2 id=\"entries-title\" class=\"unseen\">Entries</h2>\n")
	g.List.write(m, &g.Frame, "Newest entries")
	m.html("</section>\n</div>\n<div>\n<section aria-labelledby=\"catalogue\">\n<h2 id=\"catalogue\">Catalogue</h2>\n<dl class=\"facts\">\n")
	m.fact("Manager", c.Manager.Short())
	m.fact("Secondary", cmp.Or(c.Secondary.Short(), "none"))
	m.fact("Term", strconv.FormatUint(c.Term, 10))
	m.fact("Peers", strconv.Itoa(len(c.Peers)))
	m.html("</dl>\n<ul class=\"cards\">\n")
	for i := range c.Peers[:min(len(c.Peers), maxRows)] {
		g.peer(m, &c.Peers[i])
	}
	m.html("</ul>\n")
	more(m, len(c.Peers)-maxRows, "peers", g.Root+"api/v1/catalog/"+url.PathEscape(string(c.Theme)))
	m.html("</section>\n</div>\n</div>\n")
	g.shut(m)
	return m.Bytes()
}

func (g *Group) peer(m *markup, p *feedring.CataloguePeer) {
	m.between(`<li><h3>Peer <code title="`, string(p.Peer), `">`)
	m.between("", p.Peer.Short(), "</code>")
	if p.Peer == g.Self {
		m.html(` <span class="own">this peer</span>`)
	}
	m.between("</h3>\n<p class=\"meta\"><span>", p.Role, "</span>")
	if p.Clients != nil {
		m.html(" <span>")
		m.counted(*p.Clients, "client", "clients")
		m.html("</span>")
	}
	for _, site := range p.VouchedBy[:min(len(p.VouchedBy), maxRows)] {
		m.between(" <span>vouched for by ", site, "</span>")
	}
	m.html("</p>\n<ul>\n")
	for i := range p.Feeds[:min(len(p.Feeds), maxRows)] {
		f := &p.Feeds[i]
		m.html("<li>")
		m.link(f.URL, cmp.Or(f.Title, f.URL))
		about := url.Values{"theme": {string(g.Catalogue.Theme)}, "provider": {string(f.Provider)}}
		m.between(` <a class="from" href="`, g.Root+"?"+about.Encode(), `#search">`)
		m.between("", string(f.Provider), "</a></li>\n")
	}
	m.html("</ul>\n")
	more(m, len(p.Feeds)-maxRows, "feeds", g.Root+"api/v1/catalog/"+url.PathEscape(string(g.Catalogue.Theme)))
	m.html("</li>\n")
}
