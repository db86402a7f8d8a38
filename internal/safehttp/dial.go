package safehttp

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/feedring/feedring/internal/outbound"
)

// dialer makes connections where its rule allows it.
type dialer struct {
	timeout  time.Duration
	resolver *net.Resolver // nil: the system's
	rule     addressRule   // nil: connections are made to everywhere
	observer Observer      // nil: nobody is told
	blocks   Blocks        // nil: nothing is blocked
}

// addressRule says whether a connection may be made to an address, as the Control of a
// net.Dialer: it sees the address after every lookup.
type addressRule interface {
	control(network, address string, c syscall.RawConn) error
}

func (d dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if d.blocks != nil && d.blocks.RefuseHost(address) {
		return nil, ErrBlocked
	}
	var began atomic.Pointer[time.Time] // of the last attempt: a name has several addresses
	n := &net.Dialer{Timeout: d.timeout, Resolver: d.resolver, Control: func(network, address string, c syscall.RawConn) error {
		now := time.Now()
		began.Store(&now)
		if at, err := netip.ParseAddrPort(address); err == nil {
			if d.blocks != nil && d.blocks.RefuseAddr(at.Addr()) {
				return ErrBlocked
			}
			if err := outbound.Connection(ctx, at.Addr()); err != nil {
				return err
			}
		}
		if d.rule == nil {
			return nil
		}
		return d.rule.control(network, address, c)
	}}
	conn, err := n.DialContext(ctx, network, address)
	if at := began.Load(); err == nil && at != nil && d.observer != nil {
		d.observer.Connected(address, time.Since(*at))
	}
	return conn, err
}

// Connect makes a connection to the host of an address and ends it without a
// word: Config.Observer is told how long that took. It blocks for at most
// Config.HeaderTimeout.
func (c *Client) Connect(ctx context.Context, address string) error {
	host, err := AddressOf(address)
	if err != nil {
		return err
	}
	if name, _, err := net.SplitHostPort(host); err == nil && !c.cfg.AllowPrivate && isNumeric(name) {
		return fmt.Errorf("%w: host %q is an address in a disguised form", ErrPrivate, name)
	}
	conn, err := c.dialer.dial(ctx, "tcp", host)
	if err != nil {
		return err
	}
	return conn.Close()
}

// AddressOf is the host and port that a URL of http or https leads to.
func AddressOf(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	port := u.Port()
	switch {
	case u.Hostname() == "":
		return "", fmt.Errorf("%s names no host", address)
	case port != "":
	case u.Scheme == "https":
		port = "443"
	case u.Scheme == "http":
		port = "80"
	default:
		return "", fmt.Errorf("%s is neither http nor https", address)
	}
	return net.JoinHostPort(u.Hostname(), port), nil
}
