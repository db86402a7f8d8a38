package fetch

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/feedring/feedring/internal/origin/decode"
	"github.com/feedring/feedring/internal/origin/discover"
	"github.com/feedring/feedring/internal/origin/document"
)

// How much of what a preview brought waits for a fetch, and for how long.
const (
	mostPreviews     = 2048
	mostPreviewBytes = 64 << 20
	previewLasts     = time.Minute
)

// Previews fetches addresses before they are added, and hands what came on to
// the first fetch, so that the origin is asked once. It is safe for concurrent
// use.
type Previews struct {
	next      Client
	preparer  Preparer
	readSlots chan struct{} // as of a Fetcher, for all previews together

	mu   sync.Mutex
	held map[string]preview
	size int // of the bodies of held
}

// preview is an answer with its body as it came, or why none did.
type preview struct {
	err  error
	resp *http.Response
	body []byte
	at   time.Time
}

// NewPreviews returns one that asks next, as NewFetcher does.
func NewPreviews(next Client, preparer Preparer) *Previews {
	return &Previews{next: next, preparer: preparer, readSlots: make(chan struct{}, readers), held: make(map[string]preview)}
}

// Do implements Client: an answer that is held answers once.
func (g *Previews) Do(req *http.Request) (*http.Response, error) {
	url := req.URL.String()
	g.mu.Lock()
	had, ok := g.held[url]
	g.drop(url)
	g.mu.Unlock()
	switch {
	case !ok || time.Since(had.at) >= previewLasts:
	case had.err != nil:
		return nil, had.err
	default:
		return had.answer(), nil
	}
	return g.next.Do(req)
}

// answer is the answer, to be read from its start.
func (h preview) answer() *http.Response {
	resp := *h.resp
	resp.Body = io.NopCloser(bytes.NewReader(h.body))
	return &resp
}

// Seen is what a preview saw: a feed, or a page of HTML. Neither is set where
// something else came, or nothing.
type Seen struct {
	Document *document.Document
	Page     *discover.Page
}

// Preview asks for an address as a first fetch does. Where a page of HTML came, it
// is returned with the *Error that says so; what else came waits for the first
// fetch. It blocks as Fetch does, and its errors are those of Fetch.
func (g *Previews) Preview(ctx context.Context, url string) (Seen, error) {
	var came preview
	fetcher := NewFetcher(doer(func(req *http.Request) (*http.Response, error) {
		resp, err := g.next.Do(req)
		if err != nil {
			if ctx.Err() == nil { // else it was given up, and may still answer
				came = preview{err: err, at: time.Now()}
			}
			return nil, err
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(io.LimitReader(resp.Body, decode.MaxBody+1))
		if err != nil { // to be told as of any fetch, and not to be kept
			resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), broken{err}))
			return resp, nil
		}
		came = preview{resp: resp, body: body, at: time.Now()}
		return came.answer(), nil
	}), g.preparer)
	fetcher.readSlots = g.readSlots
	answer, err := fetcher.Fetch(ctx, url, nil)
	var refused *Error
	if errors.As(err, &refused) && refused.Page {
		body, _ := decode.ReadBody(bytes.NewReader(came.body), came.resp.Header.Get("Content-Encoding"))
		return Seen{Page: &discover.Page{Location: came.resp.Request.URL.String(), Header: came.resp.Header, Body: body}}, err
	}
	if !came.at.IsZero() {
		g.hold(url, came)
	}
	return Seen{Document: answer.Document}, err
}

// hold keeps an answer. Too many are not kept, nor old ones: then the origin is
// asked again.
func (g *Previews) hold(url string, came preview) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.drop(url)
	if len(g.held) < mostPreviews && len(came.body) <= decode.MaxBody && g.size+len(came.body) <= mostPreviewBytes {
		g.held[url] = came
		g.size += len(came.body)
		time.AfterFunc(previewLasts, g.expire)
	}
}

// expire gives up what no fetch came for.
func (g *Previews) expire() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for old, h := range g.held {
		if time.Since(h.at) >= previewLasts {
			g.drop(old)
		}
	}
}

// drop gives an answer up. It is called with mu held.
func (g *Previews) drop(url string) {
	g.size -= len(g.held[url].body)
	delete(g.held, url)
}

// Holds reports whether the first fetch of a feed is answered by a preview, so that
// no host is asked for it.
func (g *Previews) Holds(url string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	had, ok := g.held[url]
	return ok && time.Since(had.at) < previewLasts
}

// Forget gives what is held for an address up: nobody adds it.
func (g *Previews) Forget(url string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.drop(url)
}

// broken is a body that ends with an error.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }

// doer is a Client of a function.
type doer func(*http.Request) (*http.Response, error)

func (d doer) Do(req *http.Request) (*http.Response, error) { return d(req) }
