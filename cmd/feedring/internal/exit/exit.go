// Package exit phrases errors for people and gives each its exit code.
package exit

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/feedring/feedring/client"
	"github.com/feedring/feedring/cmd/feedring/internal/api"
	"github.com/feedring/feedring/cmd/feedring/internal/show"
	"github.com/feedring/feedring/internal/match"
)

// The exit codes. Scripts rely on them.
const (
	CodeDone       = 0
	CodeFailed     = 1
	CodeUsage      = 2
	CodeNoProvider = 3
	CodeIncomplete = 4
)

// Error is an error with the code that the process ends with.
type Error struct {
	Code int
	Err  error
}

// Error implements error.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Usage is an error in what was typed or configured.
func Usage(format string, args ...any) error {
	return &Error{CodeUsage, fmt.Errorf(format, args...)}
}

// Failed marks an error of a command that was understood, unless it already
// carries a code.
func Failed(err error) error {
	var coded *Error
	if err == nil || errors.As(err, &coded) {
		return err
	}
	var syntax *match.SyntaxError
	var problem *api.Problem
	switch {
	case errors.As(err, &syntax), errors.Is(err, client.ErrBadQuery):
		return &Error{CodeUsage, err}
	case errors.As(err, &problem) && problem.Status == http.StatusBadRequest:
		return &Error{CodeUsage, err}
	case errors.As(err, &problem) && problem.Status == http.StatusUnauthorized:
		return &Error{CodeFailed, unauthorized(problem)}
	}
	return &Error{CodeFailed, err}
}

// Silent is the error of a list that may lack what these peers of a fleet have, since they
// did not answer; nil: all did.
func Silent(peers []string) error {
	if len(peers) == 0 {
		return nil
	}
	names, s := show.Printable(strings.Join(peers, ", ")), ""
	if len(peers) > 1 {
		s = "s"
	}
	return &Error{CodeIncomplete, fmt.Errorf("peer%s %s did not answer: the list may lack some", s, names)}
}

// unauthorized says which token a peer wants.
func unauthorized(p *api.Problem) error {
	switch {
	case p.TokenFile == "":
		return errors.New("that peer wants its API token: name a file that holds it with --token-file (at the peer it is DATA/token)")
	case p.Guessed:
		return fmt.Errorf("that peer wants its API token, and the one in %s is of another peer: name a file that holds it with --token-file (at the peer it is DATA/token)", p.TokenFile)
	default:
		return fmt.Errorf("that peer does not know the token or key in %s: it was revoked, or is of another peer: name another file with --token-file", p.TokenFile)
	}
}

// CodeOf returns the exit code of err. An error that did not go through Failed is
// cobra's refusal of the command line.
func CodeOf(err error) int {
	var coded *Error
	switch {
	case err == nil:
		return CodeDone
	case errors.As(err, &coded):
		return coded.Code
	default:
		return CodeUsage
	}
}

// Hints completes the commands that a text names with what was typed.
type Hints interface {
	WithFlags(text string) string
}

// Report tells a person what went wrong: one line, and for a query the place
// below it.
func Report(w io.Writer, hints Hints, err error) {
	if err == nil {
		return
	}
	fmt.Fprintln(w, "feedring: "+hints.WithFlags(show.OneLine(phrase(err))))
	var syntax *match.SyntaxError
	if errors.As(err, &syntax) {
		fmt.Fprintln(w, syntax.Place())
	}
}
