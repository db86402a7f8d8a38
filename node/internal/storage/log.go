package storage

import (
	"context"
	"errors"
	"log/slog"

	"github.com/feedring/feedring/internal/store"
)

// FullOnce is a slog.Handler that takes lines about one more thing for which the
// disk has no room for details: Health says once that it is full.
type FullOnce struct{ slog.Handler }

// Handle implements slog.Handler.
func (h FullOnce) Handle(ctx context.Context, r slog.Record) error {
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
func (h FullOnce) WithAttrs(attrs []slog.Attr) slog.Handler {
	return FullOnce{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h FullOnce) WithGroup(name string) slog.Handler { return FullOnce{h.Handler.WithGroup(name)} }
