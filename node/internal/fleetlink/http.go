package fleetlink

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/fleetkey"
	"github.com/feedring/feedring/internal/wire"
	"github.com/feedring/feedring/node/internal/transport"
)

const (
	helloPath  = "/fleet/v1/hello"
	dialWithin = 3 * time.Second
	idleWithin = 30 * time.Second
	headWithin = 5 * time.Second
	// Streams that are kept for more requests, and all, to each peer.
	keptStreams, mostStreams = 32, 128
	// Served is how many streams of the verb are served at once, of all peers and of each.
	servedAll, servedEach = 1024, mostStreams
)

// Bound is how many streams of the verb a peer serves.
func Bound() transport.Bound { return transport.Bound{All: servedAll, Each: servedEach} }

// client sends requests.
type client struct{ http *http.Transport }

func (c *client) init(ctx context.Context, host Host) {
	c.http = &http.Transport{
		DialContext: func(asked context.Context, _, address string) (net.Conn, error) {
			asked, cancel := context.WithTimeout(asked, dialWithin)
			defer cancel()
			to, _, err := net.SplitHostPort(address)
			if err != nil {
				return nil, err
			}
			s, err := host.Open(asked, feedring.PeerID(to), wire.VerbFleet, false)
			if err != nil {
				return nil, err
			}
			return dialed{newConn(s, feedring.PeerID(to)), s}, nil
		},
		MaxIdleConnsPerHost: keptStreams, MaxConnsPerHost: mostStreams, IdleConnTimeout: idleWithin, DisableCompression: true,
	}
	context.AfterFunc(ctx, c.http.CloseIdleConnections)
}

// RoundTrip sends a request to a peer that showed its credential: its URL has a path only.
func (l *Link) RoundTrip(to feedring.PeerID, r *http.Request) (*http.Response, error) {
	if !l.Shown(to) {
		l.meet(to, nil)
		return nil, fmt.Errorf("%s: %w", to.Short(), errStranger)
	}
	return l.Send(to, r)
}

var errStranger = errors.New("it has not shown that it belongs to the fleet")

// Send is RoundTrip to anybody.
func (l *Link) Send(to feedring.PeerID, r *http.Request) (*http.Response, error) {
	r.URL.Scheme, r.URL.Host = "http", string(to)
	return l.client.http.RoundTrip(r)
}

// exchange shows a peer a credential, and returns what that one shows.
func (l *Link) exchange(ctx context.Context, p feedring.PeerID, own []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+string(p)+helloPath, bytes.NewReader(own))
	if err != nil {
		return nil, err
	}
	answer, err := l.Send(p, r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%w: %s", errStranger, answer.Status)
	}
	return io.ReadAll(io.LimitReader(answer.Body, fleetkey.MaxCredential+1))
}

// server answers requests.
type server struct {
	conns   chan net.Conn
	serving *http.Server
	handler http.Handler // of the fleet's peers; nil before Serve
}

func (s *server) init(l *Link, log *slog.Logger) {
	s.conns = make(chan net.Conn)
	s.serving = &http.Server{
		Handler: http.HandlerFunc(l.serve), ReadHeaderTimeout: headWithin, IdleTimeout: 2 * idleWithin,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, fromKey{}, c.(*conn).peer)
		},
	}
}

type fromKey struct{}

// From is the peer of the fleet that sent a request; empty: it came in another way.
func From(ctx context.Context) feedring.PeerID {
	p, _ := ctx.Value(fromKey{}).(feedring.PeerID)
	return p
}

// Serve answers the fleet's peers until ctx of New ends. It is called once, before any
// stream is served.
func (l *Link) Serve(h http.Handler) {
	l.handler = h
	context.AfterFunc(l.ctx, func() { _ = l.serving.Close() })
	l.cfg.Tasks.Run(func() {
		err := l.serving.Serve(listener{l.ctx, l.conns})
		if !errors.Is(err, http.ErrServerClosed) && l.ctx.Err() == nil {
			l.cfg.Log.Error("the fleet's server ended", "err", err)
		}
	})
}

// ServeStream serves one stream of the verb: it returns when the stream ended.
func (l *Link) ServeStream(from feedring.PeerID, s *wire.Stream) error {
	raw, ok := s.Raw().(stream)
	if !ok {
		return errors.New("no stream of another peer")
	}
	if !l.Shown(from) {
		if !l.strangers.take(from) {
			return errBusy
		}
		defer l.strangers.give(from)
	}
	c := newConn(raw, from)
	select {
	case l.conns <- c:
	case <-l.ctx.Done():
		return l.ctx.Err()
	}
	select {
	case <-c.ended:
	case <-l.ctx.Done():
	}
	return nil
}

var errBusy = errors.New("others without a credential are served")

// strangers counts the streams of peers that have shown no credential.
type strangers struct {
	mu   sync.Mutex
	all  int
	each map[feedring.PeerID]int
}

// A stranger has a stream for its hello, and one for the next try.
const strangersAll, strangersEach = 64, 2

func (s *strangers) take(p feedring.PeerID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all >= strangersAll || s.each[p] >= strangersEach {
		return false
	}
	if s.each == nil {
		s.each = make(map[feedring.PeerID]int)
	}
	s.all++
	s.each[p]++
	return true
}

func (s *strangers) give(p feedring.PeerID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all--
	if s.each[p]--; s.each[p] == 0 {
		delete(s.each, p)
	}
}

// serve answers a request. Whoever has not shown a credential is answered nothing.
func (l *Link) serve(w http.ResponseWriter, r *http.Request) {
	from := From(r.Context())
	if r.URL.Path == helloPath {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(headWithin)) // a connection takes it
		shown, err := io.ReadAll(io.LimitReader(r.Body, fleetkey.MaxCredential+1))
		if err == nil {
			err = l.greeted(from, shown)
		}
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		_, _ = w.Write(l.own) // whoever left needs no answer
		return
	}
	if !l.Shown(from) {
		panic(http.ErrAbortHandler)
	}
	l.handler.ServeHTTP(w, r)
}

// listener hands streams to a server.
type listener struct {
	ctx   context.Context
	conns <-chan net.Conn
}

func (l listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.ctx.Done():
		return nil, net.ErrClosed
	}
}

func (listener) Close() error     { return nil }
func (l listener) Addr() net.Addr { return address("fleet") }

// stream is what a connection needs of one.
type stream interface {
	io.ReadWriteCloser
	SetDeadline(time.Time) error
	SetReadDeadline(time.Time) error
	SetWriteDeadline(time.Time) error
}

var _ stream = network.Stream(nil)

// conn is a stream as a connection.
type conn struct {
	stream
	peer  feedring.PeerID
	once  sync.Once
	ended chan struct{}
}

func newConn(s stream, p feedring.PeerID) *conn {
	return &conn{stream: s, peer: p, ended: make(chan struct{})}
}

func (c *conn) Close() error {
	c.once.Do(func() { close(c.ended) })
	return c.stream.Close()
}

// dialed is a connection that this peer opened.
type dialed struct {
	*conn
	stream network.Stream
}

// Close does not wait for the other end. A stream's Close does, for ten seconds, until the
// other end agreed on the verb: a request to a peer that was killed would not end when its
// time is up.
func (c dialed) Close() error { return c.stream.Reset() }

func (c *conn) LocalAddr() net.Addr  { return address("fleet") }
func (c *conn) RemoteAddr() net.Addr { return address(c.peer) }

// address is a peer's id as an address.
type address string

func (address) Network() string  { return "libp2p" }
func (a address) String() string { return string(a) }
