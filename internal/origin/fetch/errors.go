package fetch

import (
	"fmt"
	"time"

	"github.com/feedring/feedring/internal/origin/failure"
)

// Error says what came instead of a feed, or why nothing did.
type Error = failure.Error

// HeldError says until when a host is left alone.
type HeldError struct {
	Host      string
	Until     time.Time
	OpenEnded bool // it asked for fewer requests, and not until when
}

// Error names the host and until when it is left alone, in UTC.
func (e *HeldError) Error() string {
	until := e.Until.UTC().Truncate(time.Second).Format(time.RFC3339)
	if e.OpenEnded {
		return fmt.Sprintf("%s is left alone until %s, after its 429", e.Host, until)
	}
	return fmt.Sprintf("%s asked to be left alone until %s", e.Host, until)
}
