package placement

import (
	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
)

// MaxGranted bounds the grants in one answer, by GrantSize.
const MaxGranted = 2 << 20

// GrantSize is at least what a grant takes on the wire, its ticket included.
func GrantSize(g *feedring.Grant) int {
	n := 600 + catalogue.Part*len(g.Ticket.Peers) + 2*catalogue.Part + catalogue.TextsSize(g.Provider.Addrs)
	for i := range g.Alternates {
		n += 2*catalogue.Part + catalogue.TextsSize(g.Alternates[i].Addrs)
	}
	if g.Ticket.Seal != nil {
		n += len(g.Ticket.Seal.Payload)
	}
	return n
}
