// Package plain answers the plain polls of own and personal feeds on their connections by itself, and
// hands every connection with anything else to net/http, with what it has read of it.
//
// It is a strict reader of a part of HTTP/1.1 that net/http reads alike: one parser, that
// of net/http, decides about all that is unusual. What is answered is decided by
// packages cache and web, with the functions that decide it for net/http.
package plain

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/feedring/feedring/internal/readerfeeds/cache"
	"github.com/feedring/feedring/internal/web"
)

// maxPause is the longest wait after a connection could not be accepted.
const maxPause = time.Second

// Server answers plain polls.
type Server struct {
	feeds *cache.Cache
	site  web.Site // of personal feeds
	hub   string   // address that the documents name
	log   *slog.Logger
	from  net.Listener
	rest  chan net.Conn
	clock clock

	closing atomic.Bool
	done    chan struct{} // closed when closing
	mu      sync.Mutex
	conns   map[*conn]struct{} // those that are answered here
	none    chan struct{}      // closed when closing and conns is empty
}

// Serve answers at a listener until Close, of site the personal feeds. All else comes out
// of Rest. The listener's connections must bound the time of a write.
func Serve(from net.Listener, feeds *cache.Cache, site web.Site, hub string, log *slog.Logger) *Server {
	s := &Server{
		feeds: feeds, site: site, hub: hub, log: log, from: from, rest: make(chan net.Conn), done: make(chan struct{}),
		conns: make(map[*conn]struct{}), none: make(chan struct{}),
	}
	go s.accept()
	return s
}

func (s *Server) accept() {
	var pause time.Duration
	for {
		c, err := s.from.Accept()
		if err == nil {
			pause = 0
			s.begin(c)
			continue
		}
		if s.closing.Load() || errors.Is(err, net.ErrClosed) {
			return
		}
		pause = min(max(2*pause, 5*time.Millisecond), maxPause) // no more files, mostly
		s.log.Warn("a connection could not be accepted", "addr", s.from.Addr(), "err", err, "pause", pause)
		select {
		case <-time.After(pause):
		case <-s.done:
			return
		}
	}
}

func (s *Server) begin(accepted net.Conn) {
	c := &conn{Conn: accepted, s: s}
	if at, ok := accepted.LocalAddr().(*net.TCPAddr); ok {
		c.local = at.AddrPort().Addr()
	}
	c.q.poll.Remote = accepted.RemoteAddr().String()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing.Load() {
		_ = accepted.Close()
		return
	}
	s.conns[c] = struct{}{}
	go c.serve()
}

func (s *Server) leave(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
	if s.closing.Load() && len(s.conns) == 0 {
		s.allLeft()
	}
}

// allLeft says so, once. s.mu is held.
func (s *Server) allLeft() {
	select {
	case <-s.none:
	default:
		close(s.none)
	}
}

// Stop accepts no more, and ends the connections that wait for a request.
func (s *Server) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing.Swap(true) {
		return
	}
	close(s.done)
	_ = s.from.Close()
	for c := range s.conns {
		_ = c.SetReadDeadline(time.Unix(1, 0))
	}
	if len(s.conns) == 0 {
		s.allLeft()
	}
}

// Close is Stop, waits for what is being answered until ctx ends, and ends it then.
func (s *Server) Close(ctx context.Context) {
	s.Stop()
	select {
	case <-s.none:
		return
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		_ = c.Conn.Close()
	}
}

// hand passes a connection on with what was read of it.
func (s *Server) hand(c net.Conn, unread []byte) {
	_ = c.SetDeadline(time.Time{})
	if long, ok := c.(interface{ KeepAlive() }); ok {
		long.KeepAlive() // a stream may stay for days
	}
	select {
	case s.rest <- &handed{Conn: c, unread: unread}:
	case <-s.done:
		_ = c.Close()
	}
}

// Rest are the connections that are handed over.
func (s *Server) Rest() net.Listener { return rest{s} }

type rest struct{ s *Server }

func (r rest) Accept() (net.Conn, error) {
	select {
	case c := <-r.s.rest:
		return c, nil
	case <-r.s.done:
		return nil, net.ErrClosed
	}
}

func (r rest) Close() error {
	r.s.Stop()
	return nil
}

func (r rest) Addr() net.Addr { return r.s.from.Addr() }

// handed is a connection of which something was read.
type handed struct {
	net.Conn
	unread []byte
}

func (h *handed) Read(p []byte) (int, error) {
	if len(h.unread) == 0 {
		return h.Conn.Read(p)
	}
	n := copy(p, h.unread)
	h.unread = h.unread[n:]
	return n, nil
}

// CloseWrite is what net/http does before it ends a connection whose sender may
// still be sending.
func (h *handed) CloseWrite() error {
	if c, ok := h.Conn.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return nil
}

// clock keeps the line of the date, which changes once a second.
type clock struct{ last atomic.Pointer[dateLine] }

type dateLine struct {
	second int64
	line   string
}

func (c *clock) line(now time.Time) string {
	last := c.last.Load()
	if last == nil || last.second != now.Unix() {
		last = &dateLine{now.Unix(), "Date: " + now.UTC().Format(http.TimeFormat) + "\r\n"}
		c.last.Store(last)
	}
	return last.line
}
