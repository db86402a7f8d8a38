package web

import (
	"net/netip"
	"sync"
)

// streamsOfOne is how many streams one address may have open: enough for those
// who share one, and a tenth of all.
const streamsOfOne = 100

// audience counts the streams of each address.
type audience struct {
	mu   sync.Mutex
	open map[netip.Prefix]int
}

// enter takes a place for whoever is at a host:port, which leave gives back.
// Behind a proxy all have its address, which is of this machine or network:
// those are not counted.
func (r *audience) enter(remote string) (leave func(), ok bool) {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return func() {}, true // of the socket
	}
	address := at.Addr().Unmap().WithZone("")
	if address.IsLoopback() || address.IsPrivate() || address.IsLinkLocalUnicast() {
		return func() {}, true
	}
	bits := 32
	if address.Is6() {
		bits = 64 // one reader has as many addresses below as it likes
	}
	who, err := address.Prefix(bits)
	if err != nil {
		return func() {}, true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open[who] >= streamsOfOne {
		return nil, false
	}
	if r.open == nil {
		r.open = make(map[netip.Prefix]int)
	}
	r.open[who]++
	return func() { r.leave(who) }, true
}

func (r *audience) leave(who netip.Prefix) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open[who]--; r.open[who] == 0 {
		delete(r.open, who)
	}
}
