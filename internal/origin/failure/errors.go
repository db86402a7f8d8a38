// Package failure names what an origin answers instead of a feed.
package failure

import (
	"fmt"
	"time"
)

// Kind is what was wrong with an answer of an origin.
type Kind uint8

// The kinds of Error.
const (
	KindNetwork         Kind = iota + 1 // no answer: name, connection, TLS
	KindPrivate                         // the address is not of the public internet
	KindSlow                            // header or body took too long
	KindRedirectLoop                    // redirects without end
	KindNotFound                        // 404
	KindGone                            // 410: the origin says it is over
	KindTooManyRequests                 // 429
	KindUnavailable                     // 5xx
	KindRefused                         // any other status that is not 200 or 304
	KindTooLarge                        // a limit of size, depth or number
	KindEmpty                           // nothing came
	KindTruncated                       // the document ends too early
	KindNotAFeed                        // an HTML page, a compressed file, something else
	KindMalformed                       // a feed that cannot be read
	KindUnsaved                         // ours: what was found could not be stored
)

var kindNames = [...]string{
	KindNetwork: "network", KindPrivate: "private", KindSlow: "slow", KindRedirectLoop: "redirect-loop",
	KindNotFound: "not-found", KindGone: "gone", KindTooManyRequests: "too-many-requests",
	KindUnavailable: "unavailable", KindRefused: "refused", KindTooLarge: "too-large", KindEmpty: "empty",
	KindTruncated: "truncated", KindNotAFeed: "not-a-feed", KindMalformed: "malformed", KindUnsaved: "unsaved",
}

// String returns a word for logs and metrics.
func (k Kind) String() string {
	if int(k) < len(kindNames) && kindNames[k] != "" {
		return kindNames[k]
	}
	return "unknown"
}

// Error says what came instead of a feed.
type Error struct {
	Kind       Kind
	URL        string
	Status     int           // of HTTP; 0 where none came
	Host       string        // that answered with Status, with its port
	Unreached  bool          // no connection came about, so that nobody was asked
	Detail     string        // one line for people
	Page       bool          // KindNotAFeed: an HTML page came, which may name feeds
	Challenge  bool          // a page that keeps programs out, of which nobody knows what is behind it
	RetryAfter time.Duration // 0: the origin did not say
	Err        error         // what lies below; may be nil
}

// Error returns the address, where it is known, and the detail.
func (e *Error) Error() string {
	if e.URL == "" {
		return e.Detail
	}
	return fmt.Sprintf("%s: %s", e.URL, e.Detail)
}

// Unwrap returns what lies below.
func (e *Error) Unwrap() error { return e.Err }

// New returns an Error with a detail for people; see fmt.Sprintf.
func New(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Detail: fmt.Sprintf(format, args...)}
}
