package pages

import (
	"cmp"
	"strings"

	"github.com/feedring/feedring"
)

// Home is the page at /.
type Home struct {
	Frame
	Peer     Peer
	Ring     []feedring.RingGroup // in ring order
	Own      Roles
	Search   Search
	Personal *Personal
	Feeds    []Feed
}

// Write returns the page.
func (h *Home) Write() []byte {
	m := new(markup)
	h.open(m, h.title())
	m.html("<h1 class=\"unseen\">")
	m.between("Peer ", h.Peer.ID.Short(), "</h1>\n<div class=\"columns\">\n<div>\n")
	h.Search.section(m, &h.Frame, h.Ring)
	m.html("</div>\n<div>\n")
	ring(m, h.Ring, h.Own)
	h.Personal.section(m, &h.Frame)
	feeds(m, &h.Frame, h.Feeds)
	h.Peer.section(m, &h.Frame)
	m.html("</div>\n</div>\n")
	h.shut(m)
	return m.Bytes()
}

func (h *Home) title() string {
	var parts []string
	for _, part := range []string{h.Search.Words, h.Search.Theme, h.Search.Provider} {
		if h.Search.Asked && part != "" {
			parts = append(parts, clip(part, maxTitle))
		}
	}
	return cmp.Or(strings.Join(parts, " · "), h.Peer.ID.Short())
}
