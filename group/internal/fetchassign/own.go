package fetchassign

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/feedring/feedring/group/internal/catalogue"
)

// A peer never rests for its own feeds. What others offer, ask for or assign may be made up: a row costs nothing.

// own reports whether a feed is this peer's own: its site names this peer, as this peer found itself, or its host is at
// home. Peers of one home share what is there.
func (h *Snapshot) own(url string, offers []catalogue.Publication) bool {
	return h.Members.Named(url) || atHome(hostOf(url)) && slices.ContainsFunc(offers, func(f catalogue.Publication) bool {
		return !f.Away && f.Ref.Publisher != h.Self && h.Members.Prefix(f.Ref.Publisher) != ""
	})
}

// atHome reports whether a host, with or without a port, is at an address or under a name that nobody outside of a
// private network can ask for.
func atHome(host string) bool {
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	if err != nil {
		if port, err := netip.ParseAddrPort(host); err == nil {
			addr = port.Addr()
		}
	}
	if addr = addr.Unmap(); addr.IsValid() {
		return addr.IsLoopback() || addr.IsPrivate() || addr.IsLinkLocalUnicast()
	}
	name, _, _ := strings.Cut(host, ":")
	name = strings.TrimSuffix(name, ".")
	return slices.ContainsFunc([]string{"localhost", "local", "internal", "home.arpa"}, func(zone string) bool {
		return name == zone || strings.HasSuffix(name, "."+zone)
	})
}
