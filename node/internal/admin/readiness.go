package admin

import (
	"fmt"
	"time"

	"github.com/feedring/feedring/internal/web"
)

// Readiness implements web.Backend.
func (d *Desk) Readiness() web.Readiness {
	var is web.Readiness
	if !d.Ready() {
		is.Reasons = append(is.Reasons, "this peer has not settled its roles in all of its groups yet: ask again in a second")
	}
	is.Reasons = append(is.Reasons, d.faults()...)
	if len(d.cfg.Joins.All()) > 0 && len(d.cfg.Host.Peers()) == 0 {
		is.Warnings = append(is.Warnings, "connected to nobody, though there are addresses to join: \"feedring doctor\" says more")
	}
	if failing := d.cfg.Feeds.Failing(); failing > 0 {
		is.Warnings = append(is.Warnings, fmt.Sprintf("the last look at %d of the feeds that this peer publishes failed: \"feedring feed list\" says why", failing))
	}
	return is
}

// faults is what is wrong with the peer itself, and what to do.
func (d *Desk) faults() (faults []string) {
	if warning := d.cfg.Identity.Warning(); warning != "" {
		faults = append(faults, warning)
	}
	if err := d.cfg.Storage.Check(time.Now()); err != nil {
		faults = append(faults, "nothing new is stored: "+err.Error())
	}
	return faults
}

func (d *Desk) checkStore() web.Check {
	if err := d.cfg.Storage.Check(time.Now()); err != nil {
		return web.Check{Name: "store", Detail: "nothing new is stored: " + err.Error(), Advice: "make room on the disk, or see why it fails; the peer goes on by itself"}
	}
	size, err := d.cfg.Store.Stats()
	if err != nil {
		return web.Check{Name: "store", Detail: err.Error(), Advice: "look whether the disk is full or failing"}
	}
	return web.Check{Name: "store", OK: true, Detail: fmt.Sprintf("%d entries, %d MiB", size.Entries, size.Bytes>>20)}
}
