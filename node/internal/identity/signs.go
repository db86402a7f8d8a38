package identity

import (
	"log/slog"
	"sync"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/web"
)

const (
	signLogged = time.Hour // a warning that comes more often is not read
	signText   = "another process runs with this peer's key"
)

// signs remembers those of another process with this peer's key, most likely on
// a copy of the data directory.
type signs struct {
	mu           sync.Mutex
	seen, logged time.Time
	recent       time.Duration // a sign counts for that long
}

// met takes a sign. It is called on the loop, and never blocks.
func (t *signs) met(theme feedring.Theme, now time.Time, log *slog.Logger) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seen = now
	if t.logged.IsZero() || now.Sub(t.logged) >= signLogged {
		t.logged = now
		log.Error(web.AdviseStopEither.To(signText), "theme", theme)
	}
}

// warning says so for a while after the last sign; else it is empty.
func (t *signs) warning(now time.Time) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.seen.IsZero() || now.Sub(t.seen) > t.recent {
		return ""
	}
	return signText
}

// Met takes a sign that the machine saw. It is called on the loop, and never
// blocks.
func (d *Keeper) Met(theme feedring.Theme) { d.signs.met(theme, d.Loop.Now(), d.Log) }

// rival says what another process with this peer's key does; empty: there is
// none.
func (d *Keeper) rival() string {
	now, _ := d.State()
	if text := elsewhere(now); text != "" {
		return text
	}
	return d.signs.warning(d.Loop.Now())
}

// Warning is what this peer's owner should know of its key; empty: nothing.
func (d *Keeper) Warning() string {
	if text := d.rival(); text != "" {
		return web.AdviseStopEither.To(text)
	}
	if err := d.Yields(); err != nil {
		return err.Error()
	}
	return ""
}

// Check is the doctor's look at this peer's key.
func (d *Keeper) Check() web.Check {
	if text := d.rival(); text != "" {
		return web.Check{Name: "identity", Detail: text, Advice: web.AdviseStopEither}
	}
	return web.Check{Name: "identity", OK: true, Detail: string(d.Self)}
}
