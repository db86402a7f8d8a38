package network

import (
	"strings"

	"github.com/feedring/feedring/internal/charter"
	"github.com/feedring/feedring/internal/host/addr"
	"github.com/feedring/feedring/internal/wire/charters"
)

// warnOfReach says who cannot use a code, for want of an address that leads there.
func (a *commands) warnOfReach(text string) {
	code, err := charters.ParseCode(text)
	if err != nil { // of a later version
		return
	}
	switch farthest(code) {
	case addr.Private:
		a.Hint("warning: the code works in this peer's local network only, since it holds no other address: for others restart the peer with --announce and its public address")
	case addr.Loopback:
		a.Hint("warning: the code works on this machine only, since the peer is reached on loopback only: for others restart it with --listen and an address of this machine, or with --announce and its public one")
	}
}

// farthest is from where a code can be used: in a closed network at the addresses of the
// peer that gave it, which come first.
func farthest(code charters.Code) addr.Kind {
	kind := addr.Loopback
	for _, text := range code.Addrs {
		if code.Charter.Mode != charter.Vouched && holder(text) != holder(code.Addrs[0]) {
			continue
		}
		if at, err := addr.Parse(text); err == nil {
			kind = min(kind, addr.KindOf(at))
		}
	}
	return kind
}

// holder is the id at the end of a peer's address.
func holder(address string) string { return address[strings.LastIndex(address, "/")+1:] }
