// Package command is what the commands of feedring share: where they write, which
// peer they ask, and the arguments that they take.
package command

import (
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/feedring/feedring/cmd/feedring/internal/exit"
	"github.com/feedring/feedring/cmd/feedring/internal/show"
)

// Env is the environment that all commands share.
type Env struct {
	Stdout, Stderr io.Writer
	Now            func() time.Time

	Args      []string       // as they were typed
	Command   *cobra.Command // that runs
	Data      string
	Config    string
	LogLevel  string
	LogFormat string
}

// The groups of commands in the help.
const (
	Read      = "read"
	Publish   = "publish"
	LookAfter = "look"
)

// InGroup puts a command into a group of the help.
func InGroup(id string, cmd *cobra.Command) *cobra.Command {
	cmd.GroupID = id
	return cmd
}

// Logger returns the log on stderr; level holds where --log-level is not given.
func (e *Env) Logger(level slog.Level) (*slog.Logger, error) {
	if e.LogLevel != "" {
		if err := level.UnmarshalText([]byte(e.LogLevel)); err != nil {
			return nil, exit.Usage("--log-level %q: choose debug, info, warn or error", e.LogLevel)
		}
	}
	options := &slog.HandlerOptions{Level: level}
	switch e.LogFormat {
	case "text":
		return slog.New(slog.NewTextHandler(e.Stderr, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(e.Stderr, options)), nil
	default:
		return nil, exit.Usage("--log-format %q: choose text or json", e.LogFormat)
	}
}

// Hint tells on stderr what to know or do beside a result.
func (e *Env) Hint(format string, args ...any) {
	fmt.Fprintln(e.Stderr, "feedring: "+e.WithFlags(fmt.Sprintf(format, args...)))
}

// Confirm tells what was done: the object as JSON, else the line.
func (e *Env) Confirm(asJSON bool, object any, line string) error {
	if asJSON {
		out := show.NewLines(e.Stdout)
		out.Print(object)
		return out.Err
	}
	_, err := fmt.Fprintln(e.Stdout, line)
	return err
}
