package host

import (
	"slices"
	"time"
)

// addressesSettle is how long addresses may still change before a change is
// told: a relay comes with several, and relays come together.
const addressesSettle = 250 * time.Millisecond

// addresses follows what Addrs returns.
type addresses struct {
	wake chan struct{} // holds one
}

// mayHaveMoved asks for a look. It never blocks.
func (a *addresses) mayHaveMoved() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// watchAddresses calls AddrsChanged when Addrs became other than at the last
// call.
func (h *Host) watchAddresses() {
	var last []string
	settle := time.NewTimer(addressesSettle)
	settle.Stop()
	for {
		select {
		case <-h.ctx.Done():
			return
		case <-h.addresses.wake:
			settle.Reset(addressesSettle)
			continue
		case <-settle.C:
		}
		if now := h.Addrs(); !slices.Equal(now, last) {
			last = now
			h.cfg.Observer.AddrsChanged()
		}
	}
}
