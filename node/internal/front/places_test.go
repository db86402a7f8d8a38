package front

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/feedring/feedring/internal/asker"
	"github.com/feedring/feedring/internal/refusals"
)

// remotes is a listener whose connections come from addresses of the test's choice.
type remotes struct {
	net.Listener
	conns chan net.Conn
}

// remote is an end of a pipe, from an address.
type remote struct {
	net.Conn
	from *net.TCPAddr
}

func (r remote) RemoteAddr() net.Addr { return r.from }

func (l *remotes) Accept() (net.Conn, error) {
	c, ok := <-l.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (l *remotes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4zero, Port: 1} }

// opened is the other end of a connection, and whether it is open still.
type opened struct {
	net.Conn
	closed chan struct{}
}

func (o *opened) isOpen() bool {
	select {
	case <-o.closed:
		return false
	default:
		return true
	}
}

// connect has p accept one more connection from an address, and returns both ends: got
// is nil if it was refused.
func connect(t *testing.T, p *places, from string) (o *opened, got *conn) {
	t.Helper()
	here, there := net.Pipe()
	o = &opened{Conn: here, closed: make(chan struct{})}
	l := p.Listener.(*remotes)
	l.conns <- remote{there, net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(from), 1))}
	go func() {
		_, _ = io.Copy(io.Discard, here)
		close(o.closed)
	}()
	accepted := make(chan net.Conn, 1)
	go func() {
		if c, err := p.Accept(); err == nil {
			accepted <- c
		}
	}()
	select {
	case c := <-accepted:
		return o, c.(*conn)
	case <-o.closed: // refused: Accept goes on waiting
		l.conns <- remote{there, &net.TCPAddr{IP: net.IPv6unspecified}}
		<-accepted
		return o, nil
	}
}

func testPlaces(all int, proxies ...string) *places {
	var trusted asker.Proxies
	for _, p := range proxies {
		trusted = append(trusted, netip.MustParsePrefix(p))
	}
	return newPlaces(&remotes{conns: make(chan net.Conn, 1)}, all, trusted, new(refusals.Counts))
}

// TestOneAskersConnections: beyond its part, an asker's new connection takes the place
// of the one of its own that was answered longest ago.
func TestOneAskersConnections(t *testing.T) {
	p := testPlaces(64) // four of each asker
	var conns []*opened
	var held []*conn
	for range 4 {
		o, c := connect(t, p, "192.0.2.1")
		conns, held = append(conns, o), append(held, c)
	}
	other, _ := connect(t, p, "192.0.2.2")
	if _, err := held[0].Write([]byte("an answer")); err != nil {
		t.Fatal(err)
	}
	fifth, _ := connect(t, p, "192.0.2.1")
	<-conns[1].closed
	for n, o := range []*opened{conns[0], conns[2], conns[3], fifth, other} {
		if !o.isOpen() {
			t.Errorf("connection %d was closed", n)
		}
	}
	if p.held != 5 || len(p.by["192.0.2.1"]) != 4 {
		t.Errorf("%d are held, %d of one", p.held, len(p.by["192.0.2.1"]))
	}
	if got := p.refused.All(); len(got) != 1 || got[0] != (refusals.Count{Where: refusals.Connection, Reason: refusals.Share, Times: 1}) {
		t.Errorf("counted: %v", got)
	}
	for _, c := range held {
		_ = c.Close()
		_ = c.Close()
	}
	if p.held != 2 {
		t.Errorf("%d are held", p.held)
	}
}

// TestFullPlaces: the asker with most gives way, this machine's part stays free for it,
// and a proxy may have more than an asker's part.
func TestFullPlaces(t *testing.T) {
	p := testPlaces(64, "10.0.0.0/8") // eight are this machine's
	var strangers []*opened
	for n := range 56 {
		o, _ := connect(t, p, fmt.Sprintf("192.0.2.%d", n/4))
		strangers = append(strangers, o)
	}
	if p.held != 56 {
		t.Fatalf("%d are held", p.held)
	}
	newcomer, c := connect(t, p, "198.51.100.1")
	closed := 0
	for _, o := range strangers {
		select {
		case <-o.closed:
			closed++
		case <-time.After(0):
		}
	}
	if c == nil || !newcomer.isOpen() || p.held != 56 {
		t.Errorf("a newcomer has no place; %d closed, %d held", closed, p.held)
	}
	for n := range 8 {
		if o, c := connect(t, p, "127.0.0.1"); c == nil || !o.isOpen() {
			t.Errorf("connection %d of this machine has no place", n)
		}
	}
	if p.held != 64 {
		t.Errorf("%d are held", p.held)
	}
	for n := range 20 {
		if o, c := connect(t, p, "10.0.0.5"); c == nil || !o.isOpen() {
			t.Errorf("connection %d of a proxy has no place", n)
		}
	}
	if len(p.by["10.0.0.5"]) != 20 || p.held != 64 {
		t.Errorf("%d of the proxy, %d held", len(p.by["10.0.0.5"]), p.held)
	}
	if len(p.by["127.0.0.1"]) != 8 {
		t.Errorf("this machine has %d", len(p.by["127.0.0.1"]))
	}
}

// TestHalfSentRequests opens ten times as many connections as there are places, each
// with half a request: whoever asks in good order is answered at once.
func TestHalfSentRequests(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	f := &Front{log: slog.New(slog.DiscardHandler), web: newPlaces(l, 64, nil, nil)}
	f.answer(f.web, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "alive") }))
	defer f.Close()
	for n := range 640 {
		c, err := net.Dial("tcp", l.Addr().String())
		check(t, err)
		defer c.Close()
		if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: localhost\r\nX-Half: "); err != nil && !errors.Is(err, net.ErrClosed) {
			continue // it was closed for one after it
		}
		if n%100 != 99 {
			continue
		}
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second) // a header may take five
		req, err := http.NewRequestWithContext(ctx, "GET", "http://"+l.Addr().String(), nil)
		check(t, err)
		req.Close = true
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatalf("beside %d half-sent requests: %v", n+1, err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		cancel()
		if err != nil || string(body) != "alive" {
			t.Errorf("beside %d half-sent requests: %q %v", n+1, body, err)
		}
	}
}

// TestWhoTakesNothing: a write of which nothing is taken ends, whatever deadline was
// taken back before.
func TestWhoTakesNothing(t *testing.T) {
	p := testPlaces(64)
	here, there := net.Pipe()
	defer here.Close()
	c := &conn{Conn: there, places: p}
	check(t, c.SetWriteDeadline(time.Now().Add(20*time.Millisecond)))
	if _, err := c.Write(make([]byte, 64)); err == nil || !err.(net.Error).Timeout() {
		t.Errorf("a write whose deadline is sooner: %v", err)
	}
	check(t, c.SetDeadline(time.Time{}))
	go func() { _, _ = bufio.NewReader(here).Peek(64) }()
	if _, err := c.Write(make([]byte, 64)); err != nil {
		t.Errorf("a write that is taken: %v", err)
	}
}

func TestPlacesForFiles(t *testing.T) {
	for files, want := range map[uint64]int{0: 64, 256: 64, 1024: 256, 4096: 1024, 1 << 20: 2048} {
		if got := placesFor(files); got != want {
			t.Errorf("%d files: %d, want %d", files, got, want)
		}
	}
	if descriptors() < 64 {
		t.Errorf("%d files", descriptors())
	}
}
