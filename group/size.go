package group

import (
	"github.com/feedring/feedring"
	"github.com/feedring/feedring/group/internal/catalogue"
)

// MaxGranted bounds the grants in one answer, by GrantSize.
const MaxGranted = 2 << 20

func headSize(h *feedring.Head) int { return len(h.Feed.URL) + 4*catalogue.Part }

// full says that a list of heads was cut: the sender may have had more. Both
// sides find the same.
func full(heads []feedring.Head) bool {
	size := 0
	for i := range heads {
		size += headSize(&heads[i])
	}
	return len(heads) >= maxTold || size > catalogue.MaxBytes
}

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
