// Package api asks a running peer over HTTP: on its control socket, or at an
// address. It is the command line's side of the API, not a library for other
// programs, and it does not speak to the network.
package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// maxAnswer bounds an answer that is read whole.
const maxAnswer = 64 << 20

// Config says which peer is asked.
type Config struct {
	URL       string // of the API, without /api/v1; empty: Socket
	Socket    string // the control socket, which needs no token
	TokenFile string // read only where it is not empty
	Guessed   bool   // nobody named TokenFile: a peer that does not take the token is asked without it
	Instead   string // the flags that name another peer, for errors about Socket
}

// Client asks one running peer. It is safe for concurrent use.
type Client struct {
	cfg   Config
	base  string
	token string
	http  http.Client
}

// New makes a client. Nothing is sent yet. The error names the flag that is
// wrong.
func New(cfg Config) (*Client, error) {
	c := &Client{cfg: cfg, base: "http://feedring"}
	if cfg.URL == "" {
		var dialer net.Dialer
		c.http.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, "unix", cfg.Socket)
		}}
	} else {
		u, err := url.Parse(cfg.URL)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			return nil, fmt.Errorf("--api: %q is no web address: write one such as http://127.0.0.1:7378", cfg.URL)
		}
		c.base = strings.TrimSuffix(strings.TrimSuffix(cfg.URL, "/"), "/api/v1")
	}
	if cfg.TokenFile != "" {
		token, err := os.ReadFile(cfg.TokenFile)
		if err != nil {
			return nil, fmt.Errorf("--token-file: %w", err)
		}
		c.token = strings.TrimSpace(string(token))
	}
	return c, nil
}

// Close gives connections back.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// Problem is an error that the peer told (RFC 9457).
type Problem struct {
	Status int    `json:"status"`
	Title  string `json:"title"`
	Detail string `json:"detail"`
	Feeds  []Feed `json:"feeds"` // among which to choose; with URL and Title
	Force  string `json:"force"` // how the API is asked to do it all the same; empty: it would not

	TokenFile string `json:"-"` // of the token that was sent, where Status says that one is needed; empty: none was
	Guessed   bool   `json:"-"` // as of Config
}

// Error implements error.
func (p *Problem) Error() string {
	switch {
	case p.Detail != "":
		return p.Detail
	case p.Title != "":
		return p.Title
	default:
		return fmt.Sprintf("the peer answered %d %s", p.Status, http.StatusText(p.Status))
	}
}

type request struct {
	method string // empty: GET
	path   string
	query  url.Values
	accept string // empty: JSON
	last   string // Last-Event-ID
	body   any    // sent as JSON, but for an opmlList; nil: none
}

// opmlList is a body that is sent as it is.
type opmlList []byte

// send returns a response whose status is 2xx. Its body must be closed.
func (c *Client) send(ctx context.Context, r request) (*http.Response, error) {
	resp, err := c.ask(ctx, r, c.token)
	if err == nil && resp.StatusCode == http.StatusUnauthorized && c.cfg.Guessed && c.token != "" {
		resp.Body.Close()
		resp, err = c.ask(ctx, r, "")
	}
	if err != nil {
		return nil, err
	}
	if resp.StatusCode/100 != 2 {
		defer resp.Body.Close()
		return nil, c.problem(resp)
	}
	return resp, nil
}

// ask returns a response of any status.
func (c *Client) ask(ctx context.Context, r request, token string) (*http.Response, error) {
	req, err := c.build(ctx, r, token)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.unanswered(err)
	}
	return resp, nil
}

// ErrGone is for a peer that is not there, or no more: the text says what to do.
var ErrGone = errors.New("no peer")

// goneError is an ErrGone in words for people.
type goneError string

func (e goneError) Error() string        { return string(e) }
func (e goneError) Is(target error) bool { return target == ErrGone }

// ErrSilent is for a peer that accepts connections and does not answer, as a
// stopped process does: the text says what to do.
var ErrSilent = errors.New("no answer")

// silentError is an ErrSilent in words for people.
type silentError string

func (e silentError) Error() string        { return string(e) }
func (e silentError) Is(target error) bool { return target == ErrSilent }

func (c *Client) silent(within time.Duration) error {
	peer := "the peer at " + c.base
	if c.cfg.URL == "" {
		peer = "the peer on " + filepath.Dir(c.cfg.Socket)
	}
	return silentError(fmt.Sprintf("%s has not answered for %s: check that its process is neither stopped nor overloaded, restart it, or give more with --timeout", peer, within))
}

// connectionLost reports whether the other end went away in the middle.
func connectionLost(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// unanswered says why there is no response, and what to do. A socket may be
// left by a peer that was killed.
func (c *Client) unanswered(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	nobody := errors.Is(err, syscall.ECONNREFUSED) || c.cfg.URL == "" &&
		(errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENOTSOCK))
	switch {
	case c.cfg.URL == "" && errors.Is(err, syscall.EINVAL): // of connect: the path does not fit
		return fmt.Errorf("the path of the control socket %s is too long: choose a shorter --data, or name a peer with %s", c.cfg.Socket, c.cfg.Instead)
	case nobody && c.cfg.URL == "":
		return goneError(fmt.Sprintf("no peer runs on %s: start one with \"feedring serve\", or name one with %s",
			filepath.Dir(c.cfg.Socket), c.cfg.Instead))
	case nobody:
		return goneError(fmt.Sprintf("nobody answers at %s: check that the peer runs, and that this is its --http address", c.base))
	case connectionLost(err):
		return goneError("the peer ended before it answered: look into its log, start it again, and then ask again")
	}
	return fmt.Errorf("asking the running peer: %w", err)
}

func (c *Client) build(ctx context.Context, r request, token string) (*http.Request, error) {
	var body io.Reader
	kind := "application/json"
	if list, ok := r.body.(opmlList); ok {
		body, kind = bytes.NewReader(list), "text/x-opml"
	} else if r.body != nil {
		text, err := json.Marshal(r.body)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(text)
	}
	if r.method == "" {
		r.method = http.MethodGet
	}
	address := c.base + "/api/v1/" + r.path
	if len(r.query) > 0 {
		address += "?" + r.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, r.method, address, body)
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", kind)
	}
	if r.accept == "" {
		r.accept = "application/json"
	}
	req.Header.Set("Accept", r.accept)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if r.last != "" {
		req.Header.Set("Last-Event-ID", r.last)
	}
	// RFC 7240: the peer answers with what it has just before this program ends.
	if deadline, ok := ctx.Deadline(); ok {
		req.Header.Set("Prefer", fmt.Sprintf("wait=%d", max(1, int(time.Until(deadline).Seconds()))))
	}
	return req, nil
}

// problem reads an error. One that is not told as a peer tells it is another
// server's.
func (c *Client) problem(resp *http.Response) error {
	p := &Problem{Status: resp.StatusCode}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if kind != "application/problem+json" && kind != "application/json" {
		return fmt.Errorf("no feedring peer answers at %s (it says %s): give a peer's --http address", c.base, resp.Status)
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, 64<<10)).Decode(p); err != nil {
		p.Detail = ""
	}
	p.Status = resp.StatusCode
	if p.Status == http.StatusUnauthorized && c.token != "" {
		p.TokenFile, p.Guessed = c.cfg.TokenFile, c.cfg.Guessed
	}
	return p
}

// do sends a request and reads a JSON answer into into, unless that is nil.
func (c *Client) do(ctx context.Context, r request, into any) error {
	resp, err := c.send(ctx, r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if into == nil || resp.StatusCode == http.StatusNoContent {
		return nil
	}
	return c.read(resp, r.path, into)
}

// read reads a JSON answer into into.
func (c *Client) read(resp *http.Response, path string, into any) error {
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(into); err != nil {
		if connectionLost(err) && !errors.Is(err, io.EOF) { // an empty body is another server's
			return c.unanswered(err)
		}
		return fmt.Errorf("%s: the answer cannot be read (is a feedring peer listening there?): %w", path, err)
	}
	return nil
}
