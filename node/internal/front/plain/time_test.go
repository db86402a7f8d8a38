package plain_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/feedring/feedring/internal/web"
	"github.com/feedring/feedring/node/internal/front/plain"
)

func readAnswer(t testing.TB, c io.Reader) (http.Header, []byte) {
	t.Helper()
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	check(t, err)
	body, err := io.ReadAll(resp.Body)
	check(t, err)
	check(t, resp.Body.Close())
	return resp.Header, body
}

// pipes is a listener in memory, for virtual time.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func newPipes() *pipes { return &pipes{make(chan net.Conn), make(chan struct{})} }

func (p *pipes) dial() net.Conn {
	here, there := net.Pipe()
	p.conns <- there
	return here
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.closed); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// inVirtualTime runs a test with a server in memory.
func inVirtualTime(t *testing.T, test func(t *testing.T, l *pipes, s *plain.Server)) {
	t.Helper()
	r := feeds(t)
	synctest.Test(t, func(t *testing.T) {
		l := newPipes()
		s := plain.Serve(l, r, web.Handler(web.Config{}), hub, slog.New(slog.DiscardHandler))
		test(t, l, s)
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		defer cancel()
		s.Close(ctx)
	})
}

// endsAfter checks when the other side ends a connection that nothing is read from.
func endsAfter(t *testing.T, c net.Conn, want time.Duration) {
	t.Helper()
	began := time.Now()
	if n, err := c.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("read %d bytes, %v", n, err)
	}
	if took := time.Since(began); took < want-time.Second || took > want {
		t.Errorf("ended after %v, want %v", took, want)
	}
}

func TestSlowSenders(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, l *pipes, _ *plain.Server) {
		endsAfter(t, l.dial(), 5*time.Second) // says nothing
		c := l.dial()
		_, err := io.WriteString(c, "GET /f/a")
		check(t, err)
		endsAfter(t, c, 5*time.Second)
	})
	inVirtualTime(t, func(t *testing.T, l *pipes, _ *plain.Server) {
		c := l.dial()
		for range 3 {
			_, err := io.WriteString(c, get(path))
			check(t, err)
			readAnswer(t, c)
			time.Sleep(50 * time.Second) // is kept
		}
		_, err := io.WriteString(c, get(path))
		check(t, err)
		readAnswer(t, c)
		endsAfter(t, c, time.Minute)
	})
	inVirtualTime(t, func(t *testing.T, l *pipes, _ *plain.Server) {
		c := l.dial()
		_, err := io.WriteString(c, get(path))
		check(t, err)
		readAnswer(t, c)
		time.Sleep(50 * time.Second)
		_, err = io.WriteString(c, "GE") // from here on it is a request
		check(t, err)
		endsAfter(t, c, 5*time.Second)
	})
}

func TestClose(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, l *pipes, s *plain.Server) {
		idle, fresh, slow := l.dial(), l.dial(), l.dial()
		for _, c := range []net.Conn{idle, slow} {
			_, err := io.WriteString(c, get(path))
			check(t, err)
		}
		readAnswer(t, idle)
		synctest.Wait() // slow is being written to
		began := time.Now()
		s.Stop()
		for _, c := range []net.Conn{idle, fresh} {
			if _, err := c.Read(make([]byte, 1)); err != io.EOF {
				t.Error(err)
			}
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("who waited was ended after %v", took)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		defer cancel()
		s.Close(ctx)
		if took := time.Since(began); took != 200*time.Millisecond {
			t.Errorf("closed after %v", took)
		}
		_, _ = io.Copy(io.Discard, slow) // ends
	})
	inVirtualTime(t, func(t *testing.T, l *pipes, s *plain.Server) {
		c := l.dial()
		_, err := io.WriteString(c, get(path))
		check(t, err)
		synctest.Wait()
		began := time.Now()
		s.Stop()
		_, body := readAnswer(t, c) // what was begun is ended
		if !strings.Contains(string(body), "</rss>") {
			t.Errorf("%q", body)
		}
		s.Close(context.Background())
		if took := time.Since(began); took != 0 {
			t.Errorf("closed after %v", took)
		}
	})
}

// TestAnswersWhileVersionsChange answers on many connections at once while versions change and the server
// closes.
func TestAnswersWhileVersionsChange(t *testing.T) {
	s := start(t, true)
	done := make(chan error)
	for i := range 16 {
		go func() {
			c, err := net.Dial("tcp", s.addr)
			if err != nil {
				done <- err
				return
			}
			defer c.Close()
			r := bufio.NewReader(c)
			for range 50 {
				if _, err = io.WriteString(c, get(path, fmt.Sprintf("User-Agent: R%d", i), "Accept-Encoding: gzip")); err != nil {
					break
				}
				resp, wrong := http.ReadResponse(r, nil)
				if err = wrong; err != nil {
					break
				}
				if _, err = io.Copy(io.Discard, resp.Body); err != nil {
					break
				}
			}
			done <- err
		}()
	}
	for i := range 20 {
		take(s.feeds, fmt.Sprint(i))
	}
	for range 16 {
		check(t, <-done)
	}
	if n := s.feeds.Readers(feed); n < 12 || n > 20 || s.others.Load() != 0 {
		t.Errorf("%d readers, %d connections at net/http", n, s.others.Load())
	}
}

// lasting is a connection that counts for how often it is to be kept alive.
type lasting struct {
	net.Conn
	times *atomic.Int64
}

func (l lasting) KeepAlive() { l.times.Add(1) }

// TestKeepAlive: the system is asked to look after connections that net/http gets, and
// after no other.
func TestKeepAlive(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, l *pipes, s *plain.Server) {
		var times atomic.Int64
		for want, request := range []string{get(path), get(path, "Range: bytes=0-1")} {
			c, there := net.Pipe()
			l.conns <- lasting{there, &times}
			go func() { _, _ = io.WriteString(c, request) }()
			if want == 0 {
				readAnswer(t, c)
			} else {
				_, err := s.Rest().Accept()
				check(t, err)
			}
			if got := times.Load(); got != int64(want) {
				t.Errorf("%q: kept alive %d times, want %d", request, got, want)
			}
			_ = c.Close()
			_ = there.Close()
		}
	})
}
