package ask

import (
	"time"

	"github.com/feedring/feedring/cmd/feedring/internal/show"
)

// lostAfter is how long a followed peer is away before that is told: a restart
// takes less.
const lostAfter = 2 * time.Second

// outage tells once that the followed peer is away, and once that it is back.
type outage struct {
	app   *commands
	since time.Time // zero: it is there
	told  bool
}

// lost takes why it could not be reached now.
func (o *outage) lost(now time.Time, why error) {
	if o.since.IsZero() {
		o.since = now
	}
	if o.told || why == nil || now.Sub(o.since) < lostAfter {
		return
	}
	o.told = true
	o.app.Hint("the followed peer is lost, trying again until it is back: %s", show.OneLine(why.Error()))
}

// back takes that it answers.
func (o *outage) back() {
	if o.told {
		o.app.Hint("the followed peer is back, going on")
	}
	o.since, o.told = time.Time{}, false
}
