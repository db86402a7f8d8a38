package safehttp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// Config says what a Client may do. The zero value of each field is its
// default.
type Config struct {
	// AllowPrivate lets addresses be loopback, private or otherwise not of the
	// public internet. False: they are refused with ErrPrivate.
	AllowPrivate bool

	UserAgent string // sent with each request that names none

	// MaxConnsPerHost bounds connections to one host. 0: 2, so that nobody is
	// pressed by one peer; more helps only many parallel requests to one host.
	MaxConnsPerHost int

	// HeaderTimeout is from the start of a request to the header of the final
	// answer, redirects included, but for what Onward waits. 0: 10 s.
	HeaderTimeout time.Duration

	Observer Observer // of connections; nil: nobody is told of them
	Blocks   Blocks   // where nothing is fetched from; nil: everything may be

	// BodyTimeout is from the header to the last byte of the body. 0: 30 s.
	BodyTimeout time.Duration
}

// Blocks tells which hosts and addresses the owner of this program blocks.
type Blocks interface {
	RefuseHost(address string) bool // with or without a port
	RefuseAddr(netip.Addr) bool
}

// ErrBlocked is returned for what Config.Blocks refuses.
var ErrBlocked = errors.New("the host or its address is blocked")

// Observer is told of connections that were made.
type Observer interface {
	// Connected tells how long a connection took to make, name service left out,
	// by the host and port that were asked for. It must not block.
	Connected(address string, took time.Duration)
}

func (c Config) withDefaults() Config {
	if c.MaxConnsPerHost == 0 {
		c.MaxConnsPerHost = 2
	}
	if c.HeaderTimeout == 0 {
		c.HeaderTimeout = 10 * time.Second
	}
	if c.BodyTimeout == 0 {
		c.BodyTimeout = 30 * time.Second
	}
	return c
}

// Client fetches from outside. It keeps connections, no cookies, and never
// uses a proxy. It is safe for concurrent use.
type Client struct {
	cfg       Config
	dialer    dialer
	http      *http.Client
	transport *http.Transport
}

// Validate reports a limit that allows nothing.
func (c Config) Validate() error {
	if c.MaxConnsPerHost < 0 || c.HeaderTimeout < 0 || c.BodyTimeout < 0 {
		return errors.New("guard: limits must not be negative")
	}
	return nil
}

// New returns a client that follows at most MaxRedirects redirects.
func New(cfg Config) (*Client, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if cfg.AllowPrivate {
		return newClient(cfg, dialer{}), nil
	}
	return newClient(cfg, dialer{rule: publicOnly{}}), nil
}

// newClient takes the dialer so that tests can see what is dialled, say where
// names lead, and let one loopback server through.
func newClient(cfg Config, d dialer) *Client {
	cfg = cfg.withDefaults()
	d.timeout, d.observer, d.blocks = cfg.HeaderTimeout, cfg.Observer, cfg.Blocks
	t := &http.Transport{
		Proxy:                  nil, // a proxy would dial for us, past the guard
		DialContext:            d.dial,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // whoever reads the body bounds what it expands to
		MaxConnsPerHost:        cfg.MaxConnsPerHost,
		MaxIdleConnsPerHost:    1,
		MaxIdleConns:           64,
		IdleConnTimeout:        90 * time.Second,
		TLSHandshakeTimeout:    cfg.HeaderTimeout,
		MaxResponseHeaderBytes: maxHeader,
	}
	var rt http.RoundTripper = t
	if !cfg.AllowPrivate {
		rt = numericHosts{t}
	}
	return &Client{cfg: cfg, dialer: d, transport: t, http: &http.Client{Transport: rt, CheckRedirect: followSome}}
}

// WithoutRedirects returns a client over the same connections that answers a
// redirect with ErrRedirected.
func (c *Client) WithoutRedirects() *Client {
	h := *c.http
	h.CheckRedirect = followNone
	return &Client{cfg: c.cfg, dialer: c.dialer, http: &h, transport: c.transport}
}

// AllowsPrivate reports whether c was made with AllowPrivate.
func (c *Client) AllowsPrivate() bool { return c.cfg.AllowPrivate }

// CloseIdle closes the connections that no request uses.
func (c *Client) CloseIdle() { c.transport.CloseIdleConnections() }

// Do sends req and returns the answer to it, or to the last of its redirects.
// It blocks until the header is there, at most Config.HeaderTimeout; reads of
// the body fail with ErrSlow after Config.BodyTimeout. The caller closes the
// body. Errors are short: they carry the reason and not the address again.
func (c *Client) Do(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	header := newLimit(c.cfg.HeaderTimeout, func() {
		cancel(fmt.Errorf("%w: no answer after %v", ErrSlow, c.cfg.HeaderTimeout))
	})
	req = req.Clone(context.WithValue(ctx, limited{}, header))
	if req.Header.Get("User-Agent") == "" && c.cfg.UserAgent != "" {
		req.Header.Set("User-Agent", c.cfg.UserAgent)
	}
	req.Header.Del("Referer")
	resp, err := c.http.Do(req)
	header.timer.Stop()
	if err != nil {
		if resp != nil {
			resp.Body.Close()
		}
		err = shorten(ctx, err)
		cancel(nil)
		return nil, err
	}
	timer := time.AfterFunc(c.cfg.BodyTimeout, func() {
		cancel(fmt.Errorf("%w: the body was not complete after %v", ErrSlow, c.cfg.BodyTimeout))
	})
	resp.Body = &body{ReadCloser: resp.Body, ctx: ctx, cancel: cancel, timer: timer}
	return resp, nil
}

// shorten replaces the client's error by its cause: the reason why we gave up,
// or what net/http wrapped.
func shorten(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	var op *net.OpError
	if errors.As(err, &op) && errors.Is(op.Err, ErrPrivate) {
		return op.Err
	}
	return inWords(err)
}

// numericHosts refuses hosts such as "127.1" or "0x7f000001": some resolvers
// read them as addresses, so no check of a name would see what is dialled.
type numericHosts struct{ next *http.Transport }

func (n numericHosts) RoundTrip(req *http.Request) (*http.Response, error) {
	if host := req.URL.Hostname(); isNumeric(host) {
		return nil, fmt.Errorf("%w: host %q is an address in a disguised form", ErrPrivate, host)
	}
	return n.next.RoundTrip(req)
}

func isNumeric(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return false
	}
	host = strings.TrimSuffix(host, ".")
	last := strings.ToLower(host[strings.LastIndexByte(host, '.')+1:])
	if digits, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(digits, "0123456789abcdef") == ""
	}
	return last != "" && strings.Trim(last, "0123456789") == ""
}
