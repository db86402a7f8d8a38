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

// How much of what was glanced at waits for a look, and for how long.
const (
	mostGlances     = 2048
	mostGlanceBytes = 64 << 20
	glanceLasts     = time.Minute
)

// Glances looks at addresses before they are added, and hands what came on to
// the first look, so that the origin is asked once. It is safe for concurrent
// use.
type Glances struct {
	next      Client
	prepare   Prepare
	readSlots chan struct{} // as of a Fetcher, for all glances together

	mu   sync.Mutex
	held map[string]glanced
	size int // of the bodies of held
}

// glanced is an answer with its body as it came, or why none did.
type glanced struct {
	err  error
	resp *http.Response
	body []byte
	at   time.Time
}

// NewGlances returns one that asks next, as NewFetcher does.
func NewGlances(next Client, prepare Prepare) *Glances {
	return &Glances{next: next, prepare: prepare, readSlots: make(chan struct{}, readers), held: make(map[string]glanced)}
}

// Do implements Client: an answer that is held answers once.
func (g *Glances) Do(req *http.Request) (*http.Response, error) {
	url := req.URL.String()
	g.mu.Lock()
	had, ok := g.held[url]
	g.drop(url)
	g.mu.Unlock()
	switch {
	case !ok || time.Since(had.at) >= glanceLasts:
	case had.err != nil:
		return nil, had.err
	default:
		return had.answer(), nil
	}
	return g.next.Do(req)
}

// answer is the answer, to be read from its start.
func (h glanced) answer() *http.Response {
	resp := *h.resp
	resp.Body = io.NopCloser(bytes.NewReader(h.body))
	return &resp
}

// Seen is what a glance saw: a feed, or a page of HTML. Neither is set where
// something else came, or nothing.
type Seen struct {
	Document *document.Document
	Page     *discover.Page
}

// Glance asks for an address as a first look does. Where a page of HTML came, it
// is returned with the *Error that says so; what else came waits for the first
// look. It blocks as Fetch does, and its errors are those of Fetch.
func (g *Glances) Glance(ctx context.Context, url string) (Seen, error) {
	var came glanced
	fetcher := NewFetcher(doer(func(req *http.Request) (*http.Response, error) {
		resp, err := g.next.Do(req)
		if err != nil {
			if ctx.Err() == nil { // else it was given up, and may still answer
				came = glanced{err: err, at: time.Now()}
			}
			return nil, err
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(io.LimitReader(resp.Body, decode.MaxBody+1))
		if err != nil { // to be told as of any look, and not to be kept
			resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), broken{err}))
			return resp, nil
		}
		came = glanced{resp: resp, body: body, at: time.Now()}
		return came.answer(), nil
	}), g.prepare)
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
func (g *Glances) hold(url string, came glanced) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.drop(url)
	if len(g.held) < mostGlances && len(came.body) <= decode.MaxBody && g.size+len(came.body) <= mostGlanceBytes {
		g.held[url] = came
		g.size += len(came.body)
		time.AfterFunc(glanceLasts, g.expire)
	}
}

// expire gives up what no look came for.
func (g *Glances) expire() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for old, h := range g.held {
		if time.Since(h.at) >= glanceLasts {
			g.drop(old)
		}
	}
}

// drop gives an answer up. It is called with mu held.
func (g *Glances) drop(url string) {
	g.size -= len(g.held[url].body)
	delete(g.held, url)
}

// Holds reports whether the first look at a feed is answered by a glance, so that
// no host is asked for it.
func (g *Glances) Holds(url string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	had, ok := g.held[url]
	return ok && time.Since(had.at) < glanceLasts
}

// Forget gives what is held for an address up: nobody adds it.
func (g *Glances) Forget(url string) {
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
