package blocking

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"

	"github.com/feedring/feedring/internal/blocks"
	"github.com/feedring/feedring/internal/outbound"
	"github.com/feedring/feedring/internal/safehttp"
	"github.com/feedring/feedring/internal/store"
)

// Doer fetches from outside.
type Doer interface {
	Do(*http.Request) (*http.Response, error)
}

// Errors of reading a list.
var (
	ErrAddress = errors.New("it is no address of a list: write one such as https://example.org/blocks.json")
	ErrLarge   = errors.New("the list is larger than 1 MiB")
	ErrKept    = errors.New("what the lines of the list block, until when and why, takes more than the 704 KiB that are kept")
)

// StatusError is for a list that is answered with another status than 200.
type StatusError struct{ Status int }

// Error names the status.
func (e *StatusError) Error() string {
	return fmt.Sprintf("the answer is %d %s", e.Status, http.StatusText(e.Status))
}

// listReader is how lists are read.
type listReader struct {
	client Doer
	log    *slog.Logger
	budget *outbound.Budget
	wake   chan struct{} // holds one
}

// Reach says how lists of others are read.
func (b *Blocks) Reach(client Doer, log *slog.Logger) {
	b.reader.client, b.reader.log, b.reader.budget = client, log, outbound.New()
}

// again has the lists looked through for the one that is due first.
func (r *listReader) again() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// answer is what was read of a list.
type answer struct {
	err            error
	same           bool // as before
	blocked        []blocks.Block
	skipped        int
	etag, modified string
}

// read asks for a list, with what is known of it. What it asks draws on an account of its own, so
// that a list which redirects sends this peer nowhere often.
func (r *listReader) read(ctx context.Context, l *list) answer {
	u, err := url.Parse(l.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.Fragment != "" || len(l.URL) > 2000 {
		return answer{err: ErrAddress}
	}
	ctx = r.budget.For(ctx, l.URL)
	if err := outbound.Request(ctx, u.Host); err != nil {
		return answer{err: err}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, l.URL, nil)
	if err != nil {
		return answer{err: ErrAddress}
	}
	req.Header.Set("Accept", "application/json")
	if l.ETag != "" {
		req.Header.Set("If-None-Match", l.ETag)
	}
	if l.Modified != "" {
		req.Header.Set("If-Modified-Since", l.Modified)
	}
	resp, err := r.client.Do(req)
	if err != nil {
		return answer{err: err}
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusNotModified && l.ETag+l.Modified != "":
		return answer{same: true}
	case resp.StatusCode != http.StatusOK:
		return answer{err: &StatusError{resp.StatusCode}}
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, blocks.MaxBytes+1))
	if err != nil {
		return answer{err: err}
	}
	if len(text) > blocks.MaxBytes {
		return answer{err: ErrLarge}
	}
	blocked, skipped, err := blocks.ParsePublished(text)
	if err == nil {
		var kept []byte
		if kept, err = encode(blocks.Published(blocked)); err == nil && len(kept) > store.MaxValue {
			err = ErrKept
		}
	}
	return answer{err: err, blocked: blocked, skipped: skipped, etag: short(resp.Header.Get("ETag")), modified: short(resp.Header.Get("Last-Modified"))}
}

// short leaves out a validator that is too long to keep.
func short(s string) string {
	if len(s) > 500 {
		return ""
	}
	return s
}

// tell writes a line where a list ceases or begins to be readable.
func (r *listReader) tell(l *list, before string) {
	switch {
	case l.Problem != "" && before == "":
		r.log.Warn("a block list cannot be read or kept: what it said before holds", "list", l.URL, "err", l.Problem)
	case l.Problem == "" && before != "":
		r.log.Info("a block list can be read again", "list", l.URL)
	}
}

var _ Doer = (*safehttp.Client)(nil)
