package experiment

import (
	"errors"
	"testing"
	"time"
)

// A network that is stopped has figures of the time that was played, and none
// before everybody is in.
func TestSizeStops(t *testing.T) {
	cfg := DefaultSize()
	cfg.Peers, cfg.Groups = 90, 3
	var last SizeResult
	r, err := Size(cfg, SizeWatch{
		Played: func(r SizeResult) { last = r },
		Stop:   func() bool { return last.Played >= 20*time.Second },
	})
	if err != nil || r.Played != last.Played || r.Played > 25*time.Second || r.Messages != last.Messages || r.PerSecond < 0.3 || !r.Kept() {
		t.Errorf("%+v %v", r, err)
	}
	if _, err := Size(cfg, SizeWatch{Stop: func() bool { return true }}); !errors.Is(err, ErrStopped) {
		t.Errorf("%v, stopped while peers join", err)
	}
}
