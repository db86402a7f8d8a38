package watch

import (
	"errors"

	"github.com/feedring/feedring/internal/origin/failure"
	"github.com/feedring/feedring/internal/origin/fetch"
)

// asError returns err as an *fetch.Error; Fetch returns no other kind, unless it was
// cancelled.
func asError(err error, url string) *fetch.Error {
	var e *fetch.Error
	if errors.As(err, &e) {
		return e
	}
	return &fetch.Error{Kind: failure.KindNetwork, URL: url, Detail: err.Error(), Err: err}
}

// ReportedError is an error of Handler.Changed that is no feed's own, and that the log is
// told of where it arises: a full disk would be told once for each feed. The origin
// did not fail, so its feed is fetched as often as before: see Watcher.Resume.
type ReportedError struct{ Err error }

// Error returns the text of what lies below.
func (t ReportedError) Error() string { return t.Err.Error() }

// Unwrap returns what lies below.
func (t ReportedError) Unwrap() error { return t.Err }
