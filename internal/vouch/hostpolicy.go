package vouch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// HostPolicy is what hosts ask of those who ask them, for whatever. Hosts are
// written as in addresses, with the port where it is not the scheme's own.
type HostPolicy interface {
	// Opens is from when on a host may be asked; a time that has passed: now.
	Opens(host string) time.Time
	// ApplyHints takes what a host answered with an error.
	ApplyHints(host string, status int, header http.Header)
}

// mostRest is how long a host's turn is waited for.
const mostRest = 2 * time.Second

// errHeld is the error of a host that is not asked, because it asked for that.
var errHeld = errors.New("the host asked to be left alone")

// mostWaits is how often somebody else may be quicker.
const mostWaits = 5

// MayAsk waits while a host rests between two requests, and fails where it asked
// to be left alone for longer.
func (c Checker) MayAsk(ctx context.Context, address string) error {
	u, err := url.Parse(address)
	if c.HostPolicy == nil || err != nil {
		return err
	}
	for range mostWaits {
		until := c.HostPolicy.Opens(u.Host)
		switch rest := time.Until(until); {
		case rest <= 0:
			return nil
		case rest > mostRest:
			return fmt.Errorf("%s: %w until %s", u, errHeld, until.UTC().Format(time.RFC3339))
		default:
			if err := pause(ctx, after(rest)); err != nil {
				return err
			}
		}
	}
	return nil
}

// applyHints keeps what a host said about when to come back.
func (c Checker) applyHints(resp *http.Response) {
	if c.HostPolicy != nil {
		c.HostPolicy.ApplyHints(resp.Request.URL.Host, resp.StatusCode, resp.Header)
	}
}
