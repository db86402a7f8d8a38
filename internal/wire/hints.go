package wire

import (
	"math"
	"time"

	"github.com/feedring/feedring"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

// hintsTo is hints as they travel, nil where nobody looked.
func hintsTo(h *feedring.Hints) *feedringv1.Hints {
	if h == nil || h.Copies == nil {
		return nil
	}
	to, at := &feedringv1.Hints{}, int64(0)
	for i, c := range h.Copies[:min(len(h.Copies), feedring.MaxHints)] {
		to.Copies = append(to.Copies, c.Copy)
		if i == 0 {
			at = c.Published.Unix()
			to.NewestUnixS = at
			continue
		}
		older := min(max(at-c.Published.Unix(), 0), math.MaxUint32)
		to.OlderS = append(to.OlderS, uint32(older)) //nolint:gosec // it is in range
		at -= older
	}
	return to
}

// hints is the inverse of hintsTo. Its copies are never nil.
func (d *Decoder) hints(h *feedringv1.Hints) *feedring.Hints {
	if h == nil || !d.Within("hints", len(h.GetCopies()), feedring.MaxHints) {
		return nil
	}
	if len(h.GetOlderS()) != max(0, len(h.GetCopies())-1) || h.GetNewestUnixS() < -1<<40 || h.GetNewestUnixS() > 1<<40 {
		d.Malformed("hints", "not a date for each")
		return nil
	}
	from := &feedring.Hints{Copies: make([]feedring.Hint, len(h.GetCopies()))}
	at := h.GetNewestUnixS()
	for i, c := range h.GetCopies() {
		if i > 0 {
			at -= int64(h.GetOlderS()[i-1])
		}
		from.Copies[i] = feedring.Hint{Copy: c, Published: time.Unix(at, 0).UTC()}
	}
	return from
}
