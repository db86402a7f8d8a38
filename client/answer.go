package client

import (
	"errors"
	"fmt"

	"github.com/feedring/feedring"
)

// ErrBadQuery is wrapped where a query could never be answered as it stands.
var ErrBadQuery = errors.New("bad query")

// ErrNoPeer is wrapped where none of the peers to ask could be reached. The
// error's text names them.
var ErrNoPeer = errors.New("no peer could be reached")

// NoGroupError says that nobody serves a theme.
type NoGroupError struct {
	Theme   feedring.Theme
	Suggest []string // themes that somebody serves and that look alike
}

// Error implements error.
func (e *NoGroupError) Error() string { return fmt.Sprintf("nobody serves the theme %q", e.Theme) }

// Answer is what one query found.
type Answer struct {
	Entries []feedring.Entry // newest first, at most the query's limit, no id twice
	// Final is the last attempt's, with what became of it: its grants name the
	// peers that served, and it is Incomplete where one did not.
	Final feedring.Final
	// Cursor is where a follower stands after it; nil: nowhere yet, or a query's.
	Cursor feedring.Cursor
	// Resume is where a follower goes on after all of a first answer was shown, for
	// who keeps that before it shows it; nil elsewhere.
	Resume *Resume
}
