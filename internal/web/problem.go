package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/match"
)

// problem is an error as the API tells it (RFC 9457). Detail says what is
// wrong and what to do.
type problem struct {
	Type   string      `json:"type"`
	Title  string      `json:"title"`
	Status int         `json:"status"`
	Detail string      `json:"detail"`
	Offset *int        `json:"offset,omitempty"` // bytes into q, of the fault
	Feeds  []NamedFeed `json:"feeds,omitempty"`  // among which to choose
	Force  string      `json:"force,omitempty"`  // how an API's caller gets it all the same

	Reasons  []string `json:"reasons,omitempty"`  // of Readiness
	Warnings []string `json:"warnings,omitempty"` // the same
	header   http.Header
	people   string // in Detail's place on a page; empty: Detail
}

func (p *problem) Error() string { return p.Detail }

func badRequest(format string, args ...any) *problem {
	return &problem{Status: http.StatusBadRequest, Detail: fmt.Errorf(format, args...).Error()}
}

// badWords shows the place of a fault in a keyword expression: the last two
// lines are the expression and a caret below it.
func badWords(err error) *problem {
	p := badRequest("%w", err)
	var syntax *match.SyntaxError
	if errors.As(err, &syntax) {
		p.Offset = &syntax.Offset
		p.Detail += "\n" + syntax.Place()
	}
	return p
}

// busy is for what is limited: the caller comes back later.
func busy(after int, detail string) *problem {
	return &problem{
		Status: http.StatusServiceUnavailable, Detail: detail,
		header: http.Header{"Retry-After": {strconv.Itoa(after)}},
	}
}

// fail writes err as a problem document.
func (s *site) fail(w http.ResponseWriter, r *http.Request, err error) {
	p := problemOf(err)
	if p.Status >= http.StatusInternalServerError && r.URL.Path != "/readyz" {
		level := slog.LevelWarn
		// Whoever asked went away, or waits for what an origin does: a fetch that
		// failed is told where the feed is watched, and a fleet that was left at the start.
		if r.Context().Err() != nil || errors.Is(err, context.Canceled) || errors.Is(err, ErrOrigin) || errors.Is(err, ErrLate) || errors.Is(err, ErrLoop) || errors.Is(err, errLeftFleet) {
			level = slog.LevelDebug
		}
		s.Logger.Log(r.Context(), level, "a request failed", "path", loggedPath(r), "status", p.Status, "err", err)
	}
	for name, values := range p.header {
		w.Header()[name] = values
	}
	p.Type, p.Title = "about:blank", http.StatusText(p.Status)
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	_ = newEncoder(w).Encode(p) // a reader who left needs no error
}

// loggedPath is a path without a secret that it holds.
func loggedPath(r *http.Request) string {
	if strings.HasPrefix(r.URL.Path, PersonalPath) {
		return PersonalPath + "…"
	}
	if strings.HasPrefix(r.URL.Path, joinPrefix) {
		return joinPrefix + "…"
	}
	return r.URL.Path
}

// problemOf gives every error a status. What the backend cannot do now, it may
// do later, so that is the meaning of an error that says nothing else.
func problemOf(err error) *problem {
	var p *problem
	var kind *Kind
	var tooLarge *http.MaxBytesError
	var away *AwayError
	switch {
	case errors.As(err, &p):
		copied := *p
		return &copied
	case errors.As(err, &tooLarge):
		return &problem{Status: http.StatusRequestEntityTooLarge, Detail: fmt.Sprintf("the body is longer than %d bytes: send less", tooLarge.Limit)}
	case errors.As(err, &away):
		return busy(int(fleetRetry/time.Second), away.Error())
	case errors.As(err, &kind):
		detail := err.Error()
		if errors.As(err, new(*feedring.CredentialsError)) {
			detail += ": add it without them; where the site wants them, let a program of yours fetch the feed, and name its file"
		}
		return &problem{Status: kind.status, Detail: detail}
	case errors.Is(err, context.DeadlineExceeded):
		return busy(1, err.Error()+": ask again, or give more time with \"Prefer: wait=SECONDS\"")
	default:
		return busy(5, err.Error())
	}
}

// refusal is the problem for a request that no route takes. h is what the mux
// would do with it: it knows whether the path or only the method is wrong.
func refusal(h http.Handler, r *http.Request) *problem {
	verdict := verdict{header: http.Header{}}
	h.ServeHTTP(&verdict, r)
	if allow := verdict.header.Get("Allow"); allow != "" {
		return &problem{
			Status: http.StatusMethodNotAllowed, Detail: quote(r.Method) + " is not for " + quote(r.URL.Path) + ": use " + allow,
			header: http.Header{"Allow": {allow}},
		}
	}
	return &problem{
		Status: http.StatusNotFound, Detail: "nothing is at " + quote(r.URL.Path) + ": the API is below /api/v1, and docs/programmers.md describes it",
		people: "nothing is at " + quote(r.URL.Path) + ": the first page shows what is here",
	}
}

// verdict takes a header and drops the rest.
type verdict struct{ header http.Header }

func (v *verdict) Header() http.Header         { return v.header }
func (v *verdict) Write(b []byte) (int, error) { return len(b), nil }
func (v *verdict) WriteHeader(int)             {}

// quote makes a text of the request fit for an error: short and on one line.
func quote(s string) string {
	if len(s) > 100 {
		s = strings.ToValidUTF8(s[:100], "") + "…"
	}
	return strconv.Quote(s)
}

// newEncoder writes JSON as it is: it is never put into HTML.
func newEncoder(w io.Writer) *json.Encoder {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e
}

// writeJSON answers with one value.
func writeJSON(w http.ResponseWriter, status int, v any) error {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = newEncoder(w).Encode(v) // the status is out; a reader who left needs no error
	return nil
}
