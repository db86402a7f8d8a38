package backlog

import (
	"context"
	"log/slog"
)

const maxLines = 1024 // waiting for a log that takes none

// Log is a log that never blocks who writes to it, the loop above all: a
// standard error that nobody reads must not keep beacons back. What finds no
// room is counted, and the log told of it.
type Log struct{ *Queue[line] }

// line is one record on its way to the handler that it was made for.
type line struct {
	to     slog.Handler
	record slog.Record
}

// NewLog returns a log in which a thousand lines wait.
func NewLog() Log { return Log{New(maxLines, logLines{})} }

// logLines hands lines to their handlers.
type logLines struct{}

func (logLines) Take(l line, lost int) {
	if lost > 0 {
		gap := slog.NewRecord(l.record.Time, slog.LevelWarn, "lines are missing here: the log took none for a while", 0)
		gap.AddAttrs(slog.Int("lines", lost))
		_ = l.to.Handle(context.Background(), gap)
	}
	_ = l.to.Handle(context.Background(), l.record) // nobody to tell
}

// Over returns a logger that writes to what log writes to, later.
func (l Log) Over(log *slog.Logger) *slog.Logger {
	return slog.New(laterHandler{log.Handler(), l})
}

// laterHandler is a slog.Handler.
type laterHandler struct {
	to  slog.Handler
	log Log
}

func (h laterHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.to.Enabled(ctx, level)
}

func (h laterHandler) Handle(_ context.Context, r slog.Record) error {
	h.log.Add(line{h.to, r.Clone()})
	return nil
}

func (h laterHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return laterHandler{h.to.WithAttrs(attrs), h.log}
}

func (h laterHandler) WithGroup(name string) slog.Handler {
	return laterHandler{h.to.WithGroup(name), h.log}
}
