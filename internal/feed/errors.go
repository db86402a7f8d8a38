package feed

import (
	"errors"
	"fmt"

	"github.com/feedring/feedring/internal/feed/document"
)

// Error says what came instead of a feed, or why nothing did.
type Error = document.Error

// asError returns err as an *Error; Fetch returns no other kind, unless it was
// cancelled.
func asError(err error, url string) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Kind: document.KindNetwork, URL: url, Detail: err.Error(), Err: err}
}

func refuse(kind document.Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Detail: fmt.Sprintf(format, args...)}
}
