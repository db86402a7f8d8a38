package check

import "github.com/feedring/feedring/ring"

// calmExchanges checks how peers exchange maps of the ring (docs/protocol.md 7).
type calmExchanges struct{ *record }

// lists checks that equal maps are not listed to who opened an exchange.
func (c *calmExchanges) lists(p int32, o *peerRecord, m ring.Versions) {
	if s, ok := o.given.Message.(ring.Swap); !ok || s.Hash != m.Hash {
		return
	}
	c.Judge("equal maps")
	if len(m.Have)+len(m.Parts)+len(m.Within) > 0 {
		c.Fail("calm", "%s lists %d groups and %d parts to %s, whose map is the same", c.cfg.Name(p), len(m.Have), len(m.Parts), c.cfg.Name(o.from))
	}
}

// opens checks that nobody leaves out an exchange, once all is settled: from one that a
// peer opens to the next it is r/3 where it leads a group all the time, else r. r/20 is
// for clocks that run apart.
func (c *calmExchanges) opens(p int32, o *peerRecord) {
	r, was := c.cfg.Refresh, o.opened
	o.opened = c.cfg.Now()
	if c.settled == 0 || was <= c.settled {
		return
	}
	most := r
	if o.leads() {
		most = r / 3
	}
	c.Judge("exchanges")
	if o.opened-was > most+r/20 {
		c.Fail("calm", "%s opens an exchange of maps %v after the last one, long after all faults", c.cfg.Name(p), o.opened-was)
	}
}
