package check

import "github.com/feedring/feedring"

// driver checks that drivers hand peers nothing that they sent to themselves.
type driver struct{ *record }

func (c *driver) sends(p int32, to feedring.PeerID, m feedring.Message) {
	if to == c.cfg.Name(p) {
		c.Fail("driver", "%s sends %s to itself over the network", to, m.Verb())
	}
}
