package front

import (
	"bufio"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring/internal/readerfeeds/cache"
	"github.com/feedring/feedring/internal/web"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	token, err := loadToken(path)
	check(t, err)
	if len(token) < 16 {
		t.Errorf("token %q", token)
	}
	if again, err := loadToken(path); err != nil || again != token {
		t.Errorf("token %q: %v", again, err)
	}
	check(t, os.Chmod(path, 0o640))
	if _, err := loadToken(path); err == nil || !errors.As(err, new(*TokenError)) || !strings.Contains(err.Error(), "read by others") {
		t.Errorf("readable by others: %v", err)
	}
	check(t, os.Chmod(path, 0o600))
	for _, bad := range []string{"", "short", "two words that are long enough", strings.Repeat("x", 600)} {
		check(t, os.WriteFile(path, []byte(bad+"\n"), 0o600))
		if _, err := loadToken(path); err == nil || !strings.Contains(err.Error(), "holds no token") {
			t.Errorf("token %q: %v", bad, err)
		}
	}
	if _, err := loadToken(t.TempDir()); err == nil {
		t.Error("a directory is no token")
	}
}

func TestSocket(t *testing.T) {
	dir, err := os.MkdirTemp("", "feedring") // a test's own may be too long for a socket
	check(t, err)
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "feedring.sock")
	left, err := net.Listen("unix", path)
	check(t, err)
	left.(*net.UnixListener).SetUnlinkOnClose(false)
	check(t, left.Close())
	l, err := listenSocket(path)
	check(t, err)
	info, err := os.Stat(path)
	check(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	c, err := net.Dial("unix", path)
	check(t, err)
	check(t, c.Close())
	check(t, l.Close())
	if _, err := listenSocket(filepath.Join(dir, strings.Repeat("x", 120))); !errors.As(err, new(*LongPathError)) {
		t.Errorf("too long: %v", err)
	}
}

func TestHTTPPortInUse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	defer l.Close()
	dir := t.TempDir()
	cfg := Config{HTTP: l.Addr().String(), TokenFile: filepath.Join(dir, "token"), Socket: filepath.Join(dir, "s")}
	if _, err := Open(cfg, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "http \""+l.Addr().String()) {
		t.Errorf("got %v", err)
	}
}

// TestCloseEndsConnections closes a front with connections of every kind: one that is
// waiting after a poll, one that said nothing, and one that net/http has.
func TestCloseEndsConnections(t *testing.T) {
	dir, err := os.MkdirTemp("", "feedring") // a test's own may be too long for a socket
	check(t, err)
	defer os.RemoveAll(dir)
	log := slog.New(slog.DiscardHandler)
	f, err := Open(Config{HTTP: "127.0.0.1:0", TokenFile: filepath.Join(dir, "token"), Socket: filepath.Join(dir, "s")}, log)
	check(t, err)
	feeds, err := cache.Open(cache.Config{Dir: filepath.Join(dir, "feeds")})
	check(t, err)
	path := feeds.Offer("https://a.example/feed", "a.example")
	feeds.Take("https://a.example/feed", cache.Fetched{Body: []byte("<rss/>"), At: time.Now()})
	f.Serve(web.Config{Front: feeds}, feeds)
	var conns []net.Conn
	for _, request := range []string{"", "GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n", "GET " + path + " HTTP/1.1\r\nHost: a\r\nRange: bytes=0-1\r\n\r\n"} {
		c, err := net.Dial("tcp", strings.TrimPrefix(f.Address(), "http://"))
		check(t, err)
		defer c.Close()
		conns = append(conns, c)
		if request == "" {
			continue
		}
		_, err = c.Write([]byte(request))
		check(t, err)
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		check(t, err)
		if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != http.StatusOK {
			t.Error(resp.StatusCode, err)
		}
	}
	began := time.Now()
	f.Close()
	if took := time.Since(began); took > time.Second {
		t.Errorf("closed after %v", took)
	}
	for i, c := range conns {
		check(t, c.SetReadDeadline(time.Now().Add(10*time.Second)))
		if _, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("connection %d: %v", i, err)
		}
	}
	if _, err := net.Dial("tcp", strings.TrimPrefix(f.Address(), "http://")); err == nil {
		t.Error("still answers")
	}
}
