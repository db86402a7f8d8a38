package node

import (
	"log/slog"
	"sync"
	"time"

	"github.com/feedring/feedring"
)

const (
	twinLogged = time.Hour // a warning that comes more often is not read
	twinText   = "another process runs with this peer's key: stop one of them, or give it a data directory of its own"
)

// twins remembers signs of another process with this peer's key, most likely on
// a copy of the data directory.
type twins struct {
	mu           sync.Mutex
	seen, logged time.Time
	recent       time.Duration // a sign counts for that long
}

// met takes a sign. It is called on the loop, and never blocks.
func (t *twins) met(theme feedring.Theme, now time.Time, log *slog.Logger) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seen = now
	if t.logged.IsZero() || now.Sub(t.logged) >= twinLogged {
		t.logged = now
		log.Error(twinText, "theme", theme)
	}
}

// warning says so for a while after the last sign; else it is empty.
func (t *twins) warning(now time.Time) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.seen.IsZero() || now.Sub(t.seen) > t.recent {
		return ""
	}
	return twinText
}
