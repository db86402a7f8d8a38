package front

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/feedring/feedring/internal/asker"
	"github.com/feedring/feedring/internal/refusals"
)

const (
	maxConns = 2048
	// askersPart is how many of the places one asker may have: one in so many. As many
	// more are kept free for this machine's programs.
	askersPart = 16
	ownersPart = 8
	// One write may take writeWithin, and as long again for every writePiece bytes.
	writeWithin = 20 * time.Second
	writePiece  = 8 << 10
)

// places hold the connections of the web address: all together, and of each asker. It
// never leaves one waiting. Where there is no place for a new connection, the one that
// has waited longest for its asker since it was last answered is closed: of the new
// one's asker if that has its part, else of the asker that has most.
type places struct {
	net.Listener
	all     int
	proxies asker.Proxies // may have more than an asker's part
	refused *refusals.Counts
	blocks  Blocks // nil: nobody is blocked
	private bool   // only this machine reaches the listener: it has no part of its own

	mu   sync.Mutex
	held int
	by   map[string]map[*conn]struct{}
}

// newPlaces returns a listener with so many places.
func newPlaces(l net.Listener, all int, proxies asker.Proxies, counts *refusals.Counts) *places {
	at, _ := l.Addr().(*net.TCPAddr)
	return &places{
		Listener: l, all: all, proxies: proxies, refused: counts, private: at != nil && at.IP.IsLoopback(),
		by: make(map[string]map[*conn]struct{}),
	}
}

// placesFor is how many connections there may be where this process may have so many
// files open.
func placesFor(files uint64) int { return int(min(maxConns, max(64, files/4))) }

// Accept returns the next connection that has a place.
func (p *places) Accept() (net.Conn, error) {
	for {
		raw, err := p.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if p.isBlocked(raw.RemoteAddr()) {
			_ = raw.Close()
			continue
		}
		c := &conn{Conn: raw, places: p, of: asker.Proxies(nil).Name(raw.RemoteAddr().String(), nil)}
		c.own, c.trusted = p.kind(raw.RemoteAddr())
		c.answered.Store(time.Now().UnixNano())
		last, ok := p.take(c)
		if last != nil {
			_ = last.Close()
		}
		switch {
		case last != nil && last.of == c.of:
			p.refused.Add(refusals.Connection, refusals.Share)
		case last != nil || !ok:
			p.refused.Add(refusals.Connection, refusals.Full)
		}
		if ok {
			return c, nil
		}
		_ = raw.Close()
	}
}

// take counts a connection, in the place of last if it is not nil.
func (p *places) take(c *conn) (last *conn, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	part, room := p.all/askersPart, p.all
	switch {
	case c.trusted:
		part = p.all
	case c.own:
		part = p.all / ownersPart
	default:
		room -= p.all / ownersPart
	}
	switch {
	case len(p.by[c.of]) >= part:
		last = oldest(p.by[c.of])
	case p.held >= room:
		last = oldest(p.by[p.largest()])
	}
	if last != nil {
		p.drop(last)
	} else if p.held >= room {
		return nil, false
	}
	c.held = true
	p.held++
	if p.by[c.of] == nil {
		p.by[c.of] = make(map[*conn]struct{})
	}
	p.by[c.of][c] = struct{}{}
	return last, true
}

func (p *places) isBlocked(remote net.Addr) bool {
	at, ok := remote.(*net.TCPAddr)
	return ok && p.blocks != nil && p.blocks.RefuseAddr(at.AddrPort().Addr())
}

// closeBlocked closes the connections from addresses that are blocked.
func (p *places) closeBlocked() {
	var closing []*conn
	p.mu.Lock()
	for _, conns := range p.by {
		for c := range conns {
			if p.isBlocked(c.RemoteAddr()) {
				closing = append(closing, c)
			}
		}
	}
	p.mu.Unlock()
	for _, c := range closing {
		_ = c.Close()
	}
}

// kind reports whether an address is of this machine, and whether it may have all
// places.
func (p *places) kind(remote net.Addr) (own, trusted bool) {
	at, ok := remote.(*net.TCPAddr)
	if !ok {
		return false, false
	}
	a := at.AddrPort().Addr().Unmap().WithZone("")
	return a.IsLoopback(), a.IsLoopback() && p.private || p.proxies.Has(a)
}

// largest is the asker with the most connections, of those that are strangers if any
// has more than one.
func (p *places) largest() string {
	most, largest := 1, ""
	for of, conns := range p.by {
		if c := anyOf(conns); len(conns) > most && !c.trusted && !c.own {
			most, largest = len(conns), of
		}
	}
	if largest != "" {
		return largest
	}
	for of, conns := range p.by { // nobody else has more than one
		if len(conns) > most || largest == "" {
			most, largest = len(conns), of
		}
	}
	return largest
}

func anyOf(conns map[*conn]struct{}) *conn {
	for c := range conns {
		return c
	}
	return &conn{}
}

// oldest is the connection on which nothing was answered for the longest time.
func oldest(conns map[*conn]struct{}) (first *conn) {
	for c := range conns {
		if first == nil || c.answered.Load() < first.answered.Load() {
			first = c
		}
	}
	return first
}

func (p *places) drop(c *conn) {
	if !c.held {
		return
	}
	c.held = false
	p.held--
	if delete(p.by[c.of], c); len(p.by[c.of]) == 0 {
		delete(p.by, c.of)
	}
}

// conn is a connection that has a place.
type conn struct {
	net.Conn
	places   *places
	of       string       // its asker
	own      bool         // of this machine
	trusted  bool         // may have all places
	held     bool         // guarded by places.mu
	answered atomic.Int64 // when something was last written, or it was made, in Unix nanoseconds
	until    atomic.Int64 // the deadline that was set for writing; 0: none
}

// Write gives every piece its time, so that nobody takes an answer for ever.
func (c *conn) Write(b []byte) (int, error) {
	now := time.Now()
	within := now.Add(writeWithin * time.Duration(1+len(b)/writePiece))
	if until := c.until.Load(); until != 0 && until < within.UnixNano() {
		within = time.Unix(0, until)
	}
	if err := c.Conn.SetWriteDeadline(within); err != nil {
		return 0, err
	}
	c.answered.Store(now.UnixNano())
	return c.Conn.Write(b)
}

// SetWriteDeadline sets a deadline that holds if it is sooner than a write's own.
func (c *conn) SetWriteDeadline(t time.Time) error {
	if t.IsZero() {
		c.until.Store(0)
		return nil
	}
	c.until.Store(t.UnixNano())
	return c.Conn.SetWriteDeadline(t)
}

// SetDeadline sets both.
func (c *conn) SetDeadline(t time.Time) error {
	if err := c.SetWriteDeadline(t); err != nil {
		return err
	}
	return c.SetReadDeadline(t)
}

// KeepAlive has the system look whether the other side is still there, as it would for
// a connection of net.Listen.
func (c *conn) KeepAlive() {
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		_ = tcp.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true}) // else deadlines find out
	}
}

// CloseWrite ends what is written: net/http does so before it ends a connection whose
// sender may still be sending, so that the answer is not lost.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// Close gives the place back.
func (c *conn) Close() error {
	c.places.mu.Lock()
	c.places.drop(c)
	c.places.mu.Unlock()
	return c.Conn.Close()
}
