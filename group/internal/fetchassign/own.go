package fetchassign

import (
	"slices"

	"github.com/feedring/feedring/group/internal/catalogue"
	"github.com/feedring/feedring/internal/hostkind"
)

// A peer never rests for its own feeds. What others offer, ask for or assign may be made up: a row costs nothing.

// own reports whether a feed is this peer's own: its site names this peer, as this peer found itself, or its host is in
// a private network. Peers of one home share what is there.
func (h *Snapshot) own(url string, offers []catalogue.Publication) bool {
	return h.Members.Named(url) || hostkind.Of(hostOf(url)) != hostkind.Public && slices.ContainsFunc(offers, func(f catalogue.Publication) bool {
		return !f.Away && f.Ref.Publisher != h.Self && h.Members.Prefix(f.Ref.Publisher) != ""
	})
}
