package safehttp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// MaxRedirects is how many redirects one request follows.
const MaxRedirects = 10

// ErrRedirectLoop is returned for a redirect to an address that was already
// asked, or for more than MaxRedirects of them.
var ErrRedirectLoop = errors.New("redirect loop")

// ErrNotWeb is returned for a redirect to an address that is neither http nor https.
var ErrNotWeb = errors.New("only http and https are fetched")

// ErrRedirected is returned by a client WithoutRedirects.
var ErrRedirected = errors.New("a redirect is not followed here")

func followSome(req *http.Request, via []*http.Request) error {
	req.Header.Del("Referer") // the origin need not learn who sent us
	if req.URL.Scheme != "http" && req.URL.Scheme != "https" {
		return fmt.Errorf("redirect to %q: %w", req.URL.Redacted(), ErrNotWeb)
	}
	if len(via) > MaxRedirects {
		return fmt.Errorf("%w: more than %d redirects, the last to %s", ErrRedirectLoop, MaxRedirects, req.URL.Redacted())
	}
	for _, old := range via {
		if old.URL.String() == req.URL.String() {
			return fmt.Errorf("%w: %s leads back to itself", ErrRedirectLoop, req.URL.Redacted())
		}
	}
	return MayFollow(req)
}

type (
	onward  struct{}
	limited struct{}
	fitting struct{}
)

// Onward returns a context whose requests ask may before they follow a redirect to
// a host, with its port; its error ends the request. may may block: no limit of time
// runs meanwhile but that of ctx.
func Onward(ctx context.Context, may func(host string) error) context.Context {
	return context.WithValue(ctx, onward{}, may)
}

// Fitting returns a context whose requests fit changes before they follow a
// redirect: they have the headers of the first one.
func Fitting(ctx context.Context, fit func(*http.Request)) context.Context {
	return context.WithValue(ctx, fitting{}, fit)
}

// MayFollow is what Onward's function says of a request that a redirect leads to,
// once Fitting's changed it.
func MayFollow(req *http.Request) error {
	if fit, ok := req.Context().Value(fitting{}).(func(*http.Request)); ok {
		fit(req)
	}
	may, ok := req.Context().Value(onward{}).(func(host string) error)
	if !ok {
		return nil
	}
	if l, ok := req.Context().Value(limited{}).(*limit); ok {
		defer l.stop()()
	}
	return may(req.URL.Host)
}

// limit is a limit of time that can stand still.
type limit struct {
	timer *time.Timer
	end   time.Time
}

func newLimit(d time.Duration, over func()) *limit {
	return &limit{time.AfterFunc(d, over), time.Now().Add(d)}
}

// stop has it stand still until the function is called that it returns.
func (l *limit) stop() (goOn func()) {
	if !l.timer.Stop() { // it is over
		return func() {}
	}
	left := time.Until(l.end)
	return func() {
		l.end = time.Now().Add(left)
		l.timer.Reset(left)
	}
}

func followNone(req *http.Request, _ []*http.Request) error {
	return fmt.Errorf("%w: to %s", ErrRedirected, req.URL.Redacted())
}
