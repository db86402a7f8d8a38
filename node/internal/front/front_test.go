package front

import (
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
