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
	"mime"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// maxAnswer bounds an answer that is read whole.
const maxAnswer = 64 << 20

// Config says which peer is asked.
type Config struct {
	URL       string // of the API, without /api/v1; empty: Socket
	Socket    string // the control socket, which needs no token
	TokenFile string // read only where it is not empty
}

// Client asks one running peer. It is safe for concurrent use.
type Client struct {
	base  string
	token string
	http  http.Client
}

// New makes a client. Nothing is sent yet.
func New(cfg Config) (*Client, error) {
	c := &Client{base: "http://feedring"}
	if cfg.URL == "" {
		var dialer net.Dialer
		c.http.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, "unix", cfg.Socket)
		}}
	} else {
		u, err := url.Parse(cfg.URL)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			return nil, fmt.Errorf("%q is no web address: write one such as http://127.0.0.1:7378", cfg.URL)
		}
		c.base = strings.TrimSuffix(strings.TrimSuffix(cfg.URL, "/"), "/api/v1")
	}
	if cfg.TokenFile != "" {
		token, err := os.ReadFile(cfg.TokenFile)
		if err != nil {
			return nil, fmt.Errorf("token: %w", err)
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
}

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
	body   any
}

// send returns a response whose status is 2xx. Its body must be closed.
func (c *Client) send(ctx context.Context, r request) (*http.Response, error) {
	req, err := c.build(ctx, r)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		return nil, fmt.Errorf("asking the running peer: %w", err)
	}
	if resp.StatusCode/100 != 2 {
		defer resp.Body.Close()
		return nil, problem(resp)
	}
	return resp, nil
}

func (c *Client) build(ctx context.Context, r request) (*http.Request, error) {
	var body io.Reader
	if r.body != nil {
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
		req.Header.Set("Content-Type", "application/json")
	}
	if r.accept == "" {
		r.accept = "application/json"
	}
	req.Header.Set("Accept", r.accept)
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	if r.last != "" {
		req.Header.Set("Last-Event-ID", r.last)
	}
	// RFC 7240: the peer answers with what it has just before we leave.
	if deadline, ok := ctx.Deadline(); ok {
		req.Header.Set("Prefer", fmt.Sprintf("wait=%d", max(1, int(time.Until(deadline).Seconds()))))
	}
	return req, nil
}

func problem(resp *http.Response) error {
	p := &Problem{Status: resp.StatusCode}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if kind == "application/problem+json" || kind == "application/json" {
		if err := json.NewDecoder(io.LimitReader(resp.Body, 64<<10)).Decode(p); err != nil {
			p.Detail = ""
		}
	}
	p.Status = resp.StatusCode
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
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(into); err != nil {
		return fmt.Errorf("%s: the answer cannot be read (is a feedring peer listening there?): %w", r.path, err)
	}
	return nil
}
