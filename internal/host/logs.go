package host

import (
	"context"
	"log/slog"

	golog "github.com/ipfs/go-log/v2"
	"github.com/libp2p/go-libp2p/gologshim"
)

// LibraryLogs sends what libp2p logs to handler, at debug level: it calls the
// closing of its own listener an error. Without it libp2p writes to stderr in
// a form of its own. It is for main, once, before the first New: libp2p keeps
// one logger for the whole process.
func LibraryLogs(handler slog.Handler) {
	gologshim.SetDefaultHandler(demoted{handler})
	golog.SetAllLoggers(golog.LevelFatal) // the address book's, which has another logger
}

// demoted logs everything at debug level.
type demoted struct{ slog.Handler }

func (d demoted) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelInfo && d.Handler.Enabled(ctx, slog.LevelDebug)
}

func (d demoted) Handle(ctx context.Context, r slog.Record) error {
	r.Level = slog.LevelDebug
	return d.Handler.Handle(ctx, r)
}

func (d demoted) WithAttrs(attrs []slog.Attr) slog.Handler {
	return demoted{d.Handler.WithAttrs(attrs)}
}

func (d demoted) WithGroup(name string) slog.Handler { return demoted{d.Handler.WithGroup(name)} }
