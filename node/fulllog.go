package node

import (
	"context"
	"errors"
	"log/slog"

	"github.com/feedring/feedring/internal/store"
)

// fullOnce is a slog.Handler that takes lines about one more thing for which the
// disk has no room for details: writes says once that it is full.
type fullOnce struct{ slog.Handler }

// Handle implements slog.Handler.
func (h fullOnce) Handle(ctx context.Context, r slog.Record) error {
	full := false
	r.Attrs(func(a slog.Attr) bool {
		err, ok := a.Value.Any().(error)
		full = ok && errors.Is(err, store.ErrFull)
		return !full
	})
	if full {
		if r.Level = slog.LevelDebug; !h.Enabled(ctx, r.Level) {
			return nil
		}
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h fullOnce) WithAttrs(attrs []slog.Attr) slog.Handler {
	return fullOnce{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h fullOnce) WithGroup(name string) slog.Handler { return fullOnce{h.Handler.WithGroup(name)} }
