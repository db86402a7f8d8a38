package admin

import (
	"fmt"
	"time"

	"github.com/feedring/feedring/internal/web"
)

// Readiness implements web.Backend.
func (d *Admin) Readiness() web.Readiness {
	var is web.Readiness
	if !d.Ready() {
		is.Reasons = append(is.Reasons, web.ReasonUnsettled)
	}
	is.Reasons = append(is.Reasons, d.faults()...)
	if len(d.cfg.Joins.All()) > 0 && len(d.cfg.Host.Peers()) == 0 {
		is.Warnings = append(is.Warnings, web.WarnAlone)
	}
	if prefix, shared := d.cfg.Host.SharedPrefix(); shared {
		is.Warnings = append(is.Warnings, web.WarnSharedPrefix(prefix))
	}
	is.Warnings = append(is.Warnings, d.warnings()...)
	if failing := d.cfg.Feeds.Failing(); failing > 0 {
		is.Warnings = append(is.Warnings, web.WarnFailing(failing))
	}
	return is
}

// faults is what is wrong with the peer itself, and what to do.
func (d *Admin) faults() (faults []string) {
	if warning := d.cfg.Identity.Warning(); warning != "" {
		faults = append(faults, warning)
	}
	if err := d.cfg.Storage.Check(time.Now()); err != nil {
		faults = append(faults, web.AdviseMakeRoom.To("nothing new is stored: "+err.Error()))
	}
	return faults
}

func (d *Admin) checkStore() web.Check {
	if err := d.cfg.Storage.Check(time.Now()); err != nil {
		return web.Check{Name: "store", Detail: "nothing new is stored: " + err.Error(), Advice: web.AdviseMakeRoom}
	}
	size, err := d.cfg.Store.Stats()
	if err != nil {
		return web.Check{Name: "store", Detail: err.Error(), Advice: web.AdviseDisk}
	}
	return web.Check{Name: "store", OK: true, Detail: fmt.Sprintf("%d entries, %d MiB", size.Entries, size.Bytes>>20)}
}
