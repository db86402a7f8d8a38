package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/feedring/feedring/client"
	"github.com/feedring/feedring/cmd/feedring/internal/api"
	"github.com/feedring/feedring/internal/host"
	"github.com/feedring/feedring/internal/match"
)

// The exit codes. Scripts rely on them.
const (
	exitDone       = 0
	exitFailed     = 1
	exitUsage      = 2
	exitNoProvider = 3
	exitIncomplete = 4
)

// exitError is an error with the code that the process ends with. An error
// without one comes from the parsing of the command line, or is a failure: see
// codeOf.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// usage is an error in what was typed or configured.
func usage(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

// failed marks an error of a command that was understood, unless it already
// carries a code.
func failed(err error) error {
	var coded *exitError
	if err == nil || errors.As(err, &coded) {
		return err
	}
	var syntax *match.SyntaxError
	var problem *api.Problem
	switch {
	case errors.As(err, &syntax), errors.Is(err, client.ErrBadQuery):
		return &exitError{exitUsage, err}
	case errors.As(err, &problem) && problem.Status == http.StatusBadRequest:
		return &exitError{exitUsage, err}
	case errors.As(err, &problem) && problem.Status == http.StatusUnauthorized:
		return &exitError{exitFailed, errors.New("that peer wants its API token: name a file that holds it with --token-file (at the peer it is DATA/token)")}
	}
	return &exitError{exitFailed, err}
}

// codeOf returns the exit code of err. Errors of commands went through failed;
// what is left is cobra's refusal of the command line.
func codeOf(err error) int {
	var coded *exitError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &coded):
		return coded.code
	default:
		return exitUsage
	}
}

// report tells a person what went wrong: one line, and for a query the place
// below it.
func report(w io.Writer, err error) {
	if err == nil || errors.Is(err, errTold) {
		return
	}
	text := err.Error()
	if errors.Is(err, context.DeadlineExceeded) {
		text = strings.ReplaceAll(text, context.DeadlineExceeded.Error(), "no answer in time: try again, or give more with --timeout")
	}
	text += adviceFor(err)
	fmt.Fprintln(w, "feedring: "+oneLine(text))
	var syntax *match.SyntaxError
	if errors.As(err, &syntax) {
		fmt.Fprintln(w, syntax.Place())
	}
}

// adviceFor says what to do about peers that could not be asked.
func adviceFor(err error) string {
	var foreign *host.ForeignError
	switch {
	case !errors.Is(err, client.ErrNoPeer):
		return ""
	case errors.As(err, &foreign) && foreign.Speaks != "":
		return ": add --network " + foreign.Speaks
	default:
		return ": check that one of them runs, its address, and --network"
	}
}

// errTold is the error of a command that has said everything already.
var errTold = errors.New("told")

// oneLine keeps cobra's paragraphs, and what a peer wrote, to one line.
func oneLine(s string) string {
	return strings.Join(strings.Fields(printable(s)), " ")
}
