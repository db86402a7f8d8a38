package pages

import (
	"cmp"
	"strconv"
	"time"

	"github.com/feedring/feedring"
)

// Peer is what is told of the peer itself.
type Peer struct {
	ID      feedring.PeerID
	Version string
	Up      time.Duration
	Join    string // an address for --join and --peer; empty: none is known
	Base    string // for addresses to copy

	Roles                   string // in words; empty: it is in no group
	Entries, Peers, Clients int
	Warnings                []string // what is wrong with it
}

func (p *Peer) section(m *markup, f *Frame) {
	m.html("<section id=\"peer\" aria-labelledby=\"peer-title\">\n<h2 id=\"peer-title\">This peer</h2>\n")
	for _, w := range p.Warnings {
		m.between("<p class=\"problem\">", w, "</p>\n")
	}
	m.html("<dl class=\"facts\">\n")
	m.fact("Entries kept", strconv.Itoa(p.Entries))
	m.fact("Peers connected", strconv.Itoa(p.Peers))
	m.fact("Clients served", strconv.Itoa(p.Clients))
	m.fact("Up for", p.Up.String())
	m.fact("Version", p.Version)
	m.fact("Roles", cmp.Or(p.Roles, "none: it publishes no feed"))
	m.between("<div class=\"wide\"><dt>Peer id</dt><dd><code>", string(p.ID), "</code></dd></div>\n</dl>\n")
	p.commands(m, f)
	m.html("</section>\n")
}

// commands are what a visitor may copy.
func (p *Peer) commands(m *markup, f *Frame) {
	at := ""
	if p.Join != "" {
		at = "--peer " + p.Join + " "
		if f.Network != "main" {
			at += "--network " + f.Network + " "
		}
	}
	m.html("<h3>Ask from a terminal</h3>\n")
	m.between("<pre>feedring query ", at, "--since 36h WORDS\n")
	m.between("feedring follow ", at, "--theme news\n")
	m.between("feedring ring ", at, "</pre>\n<h3>Ask over HTTP</h3>\n")
	m.between("<pre>curl '", p.Base, "/api/v1/entries?theme=news&amp;since=36h&amp;limit=10'\n")
	m.between("curl -N '", p.Base, "/api/v1/stream?q=climate'</pre>\n")
}
