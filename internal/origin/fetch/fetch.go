package fetch

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/feedring/feedring/internal/origin/decode"
	"github.com/feedring/feedring/internal/origin/document"
	"github.com/feedring/feedring/internal/origin/failure"
	"github.com/feedring/feedring/internal/origin/htmltext"
	"github.com/feedring/feedring/internal/safehttp"
)

// Accept is what a reader takes, in the header of that name.
const Accept = "application/atom+xml, application/rss+xml, application/feed+json, application/rdf+xml;q=0.9, " +
	"application/xml;q=0.8, text/xml;q=0.8, application/json;q=0.7, */*;q=0.1"

// UserAgent is what origins are told of who asks: contact is where that can be
// found out, empty for the project's page. For how many readers it asks is added
// as aggregators do; 0: nothing is.
func UserAgent(version, contact string, readers int) string {
	agent := "feedring/" + version + " (+" + cmp.Or(contact, "https://github.com/feedring/feedring")
	switch {
	case readers == 1:
		agent += "; 1 subscriber"
	case readers > 1:
		agent += "; " + strconv.Itoa(readers) + " subscribers"
	}
	return agent + ")"
}

// Answer is what an origin said that is no error.
type Answer struct {
	// Document is nil where nothing changed: status 304, or the same bytes as
	// last time.
	Document   *document.Document
	Validators Validators
	Source     string   // the address that gave them, where a redirect led there; empty: the one that was asked
	BodyHash   BodyHash // of the decompressed body, before it was read
	Hints      Hints
	Moved      string // where permanent redirects led; empty where not all were
	Partial    bool   // Document has only what is new: what it has not may still be there
	Page       Page   // what came that can be read, even if it is the same as last time
}

// Page is a feed's document as it came, decompressed; the zero Page is none.
type Page struct {
	Body        []byte // not to be changed
	ContentType string // the header
	Partial     bool   // only what is new
}

// Client is what a Fetcher needs of a *safehttp.Client.
type Client interface {
	Do(*http.Request) (*http.Response, error)
}

// Preparer changes the header of what is asked for a feed, the last thing before
// it is sent. It must not block.
type Preparer interface {
	Prepare(feedURL string, h http.Header)
}

// Fetcher asks origins. It is safe for concurrent use.
type Fetcher struct {
	client    Client
	preparer  Preparer      // nil: nothing is changed
	readSlots chan struct{} // one token for each document being read
}

// readers is how many documents are read at once: reading is all CPU, and may
// take twenty bytes of memory for each byte of the document.
const readers = 2

// NewFetcher returns a Fetcher over client, a *safehttp.Client, whose limits of
// time, redirects and addresses hold. preparer may be nil.
func NewFetcher(client Client, preparer Preparer) *Fetcher {
	return &Fetcher{client: client, preparer: preparer, readSlots: make(chan struct{}, readers)}
}

// Fetch asks for url, or where that moved to, telling the origin what state knows
// already; nil knows nothing. It blocks for at most the client's time limits and the reading of the document. Errors
// are *Error, or ctx's own.
func (f *Fetcher) Fetch(ctx context.Context, url string, state *State) (Answer, error) {
	if state == nil {
		state = &State{}
	}
	answer, err := f.fetch(ctx, url, state)
	if err == nil {
		return answer, nil
	}
	if ctx.Err() != nil {
		return Answer{}, ctx.Err()
	}
	var refused *Error
	if !errors.As(err, &refused) {
		refused = networkError(err)
	}
	refused.URL, refused.Detail = url, htmltext.OneLine(refused.Detail)
	return answer, refused
}

func (f *Fetcher) fetch(ctx context.Context, url string, state *State) (Answer, error) {
	asked := cmp.Or(state.Address, state.Named, url)
	source := cmp.Or(state.Source, asked)
	req, err := newRequest(safehttp.Fitting(ctx, onlyTo(source)), asked, state)
	if err != nil {
		return Answer{}, err
	}
	if f.preparer != nil {
		f.preparer.Prepare(url, req.Header)
	}
	resp, err := f.client.Do(req)
	var held *HeldError
	if errors.As(err, &held) { // where a redirect leads
		wait := max(0, time.Until(held.Until))
		return Answer{Hints: Hints{RetryAfter: wait}}, &Error{Kind: failure.KindNetwork, RetryAfter: wait, Detail: "its redirect was not followed: " + held.Error(), Err: held}
	}
	if err != nil {
		return Answer{}, err
	}
	defer resp.Body.Close()
	now, from := time.Now(), resp.Request.URL.String()
	answer := Answer{
		Validators: state.Validators,
		Source:     state.Source,
		BodyHash:   state.BodyHash,
		Hints:      ReadHints(resp.Header, now),
		Moved:      moved(resp),
	}
	switch {
	case resp.StatusCode == http.StatusNotModified && state.conditional():
		if !answer.Hints.told { // what was told of the document holds (RFC 9111, 4.3.4)
			answer.Hints.MaxAge = state.MaxAge
		}
		if from != source { // it speaks of another document: the whole is asked for
			answer.Validators, answer.Source = Validators{}, ""
		}
		return answer, nil
	case resp.StatusCode == http.StatusIMUsed && from == source && req.Header.Get("A-Im") != "" && isDelta(resp.Header):
		answer.Partial = true
	case resp.StatusCode != http.StatusOK:
		return answer, statusError(resp, answer.Hints)
	}
	err = f.read(&answer, url, asked, resp, state)
	return answer, err
}

func newRequest(ctx context.Context, url string, state *State) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", Accept)
	req.Header.Set("Accept-Encoding", decode.AcceptEncoding)
	if state.Validators.ETag != "" {
		req.Header["If-None-Match"] = []string{string(state.Validators.ETag)}
		req.Header["A-Im"] = []string{"feed"}
	}
	if state.Validators.LastModified != "" {
		req.Header["If-Modified-Since"] = []string{string(state.Validators.LastModified)}
	}
	return req, nil
}

// onlyTo takes an origin's validators out of requests that a redirect leads anywhere
// but to the address that gave them: another's mean nothing there, and a tag like "v1"
// would be taken for that of a document that nobody has read.
func onlyTo(source string) func(*http.Request) {
	return func(req *http.Request) {
		if req.URL.String() != source {
			for _, name := range []string{"If-None-Match", "If-Modified-Since", "A-Im"} {
				req.Header.Del(name)
			}
		}
	}
}

// read takes the body in, and reads it as a document if it is not the old one.
func (f *Fetcher) read(a *Answer, url, asked string, resp *http.Response, state *State) error {
	if resp.ContentLength > decode.MaxBody {
		return failure.New(failure.KindTooLarge, "the document is larger than %d MiB", decode.MaxBody>>20)
	}
	body, err := decode.ReadBody(resp.Body, resp.Header.Get("Content-Encoding"))
	if err != nil {
		return err
	}
	hash := BodyHash(sha256.Sum256(body))
	page := Page{body, resp.Header.Get("Content-Type"), a.Partial}
	if told := readValidators(resp.Header); !a.Partial || told.ETag != "" {
		a.Validators, a.Source = told, "" // a delta without a tag leaves the version where it was
		if from := resp.Request.URL.String(); from != asked {
			a.Source = from
		}
	}
	if a.Partial {
		hash = state.BodyHash
	} else if hash == state.BodyHash && state.Fetched() {
		a.Page = page
		return nil
	}
	f.readSlots <- struct{}{}
	defer func() { <-f.readSlots }()
	doc, err := document.Parse(document.Source{URL: url, Former: state.Former, Location: resp.Request.URL.String(), Header: resp.Header}, body)
	if err != nil {
		return err
	}
	doc.Partial = a.Partial
	a.Document, a.BodyHash, a.Page = doc, hash, page
	if mayChangeUnseen(resp.Header) {
		a.Validators = Validators{}
	}
	return nil
}

// isDelta reports whether an answer with status 226 is the kind of delta that is
// asked for: the feed with its new entries alone (RFC 3229, "feed").
func isDelta(h http.Header) bool {
	said := strings.Join(h.Values("IM"), ",")
	if said == "" {
		return true
	}
	for name := range strings.SplitSeq(said, ",") {
		if strings.EqualFold(strings.TrimSpace(name), "feed") {
			return true
		}
	}
	return false
}

// moved returns where resp came from if every redirect on the way said that it
// is for good.
func moved(resp *http.Response) string {
	req := resp.Request
	if req.Response == nil {
		return ""
	}
	for r := req.Response; r != nil; r = r.Request.Response {
		if r.StatusCode != http.StatusMovedPermanently && r.StatusCode != http.StatusPermanentRedirect {
			return ""
		}
	}
	return req.URL.String()
}

func networkError(err error) *Error {
	e := &Error{Kind: failure.KindNetwork, Detail: err.Error(), Err: err}
	var dns *net.DNSError
	var timeout net.Error
	var op *net.OpError
	e.Unreached = errors.As(err, &dns) || errors.As(err, &op) && op.Op == "dial"
	switch {
	case errors.Is(err, safehttp.ErrPrivate):
		e.Kind = failure.KindPrivate
	case errors.Is(err, safehttp.ErrRedirectLoop):
		e.Kind = failure.KindRedirectLoop
	case errors.Is(err, safehttp.ErrSlow):
		e.Kind = failure.KindSlow
	case errors.Is(err, safehttp.ErrHeader):
		e.Kind = failure.KindTooLarge
	case errors.As(err, &dns) && dns.IsNotFound:
		e.Detail = "no such host: " + dns.Name
	case errors.As(err, &timeout) && timeout.Timeout():
		e.Kind = failure.KindSlow
	}
	return e
}

// statusError says what a status other than 200 and 304 means, and what the
// page that came with it is.
func statusError(resp *http.Response, hints Hints) *Error {
	e := &Error{Status: resp.StatusCode, Host: resp.Request.URL.Host, RetryAfter: hints.RetryAfter}
	switch {
	case e.Status == http.StatusNotFound:
		e.Kind, e.Detail = failure.KindNotFound, "404: the origin has no such feed"
	case e.Status == http.StatusGone:
		e.Kind, e.Detail = failure.KindGone, "410: the origin says that the feed is gone for good"
	case e.Status == http.StatusTooManyRequests:
		e.Kind, e.Detail = failure.KindTooManyRequests, "429: the origin asks for fewer requests"
	case e.Status >= 500:
		e.Kind, e.Detail = failure.KindUnavailable, resp.Status
	default:
		e.Kind, e.Detail = failure.KindRefused, resp.Status
	}
	if e.RetryAfter > 0 {
		e.Detail += ", and to wait " + e.RetryAfter.String()
	}
	if page := challengeOf(resp); page != "" {
		e.Detail += "; " + page
		e.Challenge = true
	}
	return e
}

// challengeOf describes the page that came with an error, if it is one made to
// keep programs out: then the status alone would mislead.
func challengeOf(resp *http.Response) string {
	if resp.StatusCode != http.StatusForbidden && resp.StatusCode != http.StatusServiceUnavailable &&
		resp.StatusCode != http.StatusTooManyRequests {
		return ""
	}
	return document.Challenge(resp.Body, resp.Header)
}
