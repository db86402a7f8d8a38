package node

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/feedring/feedring/internal/web"
)

// front is the peer's HTTP side: the web address and the control socket.
type front struct {
	log     *slog.Logger
	servers []*http.Server
	url     string // of the web address; empty: off
	socket  string
}

// openFront takes the socket and the web address and serves both.
func (n *Node) openFront() (*front, error) {
	token, err := loadToken(n.cfg.TokenFile())
	if err != nil {
		return nil, err
	}
	f := &front{log: n.log, socket: n.cfg.SocketFile()}
	site := web.Config{Backend: n, Token: token, PublicURL: n.cfg.PublicURL, Logger: n.log, Metrics: n.metrics()}
	if n.cfg.HTTP != "off" {
		l, err := net.Listen("tcp", n.cfg.HTTP)
		if err != nil {
			return nil, fmt.Errorf("--http %s: %w: choose another address, port 0 or off", n.cfg.HTTP, plainError(err))
		}
		f.url = "http://" + l.Addr().String()
		site.Address = l.Addr().String()
		f.serve(l, web.Handler(site))
	}
	l, err := listenSocket(f.socket)
	if err != nil {
		f.close()
		return nil, err
	}
	f.serve(l, web.SocketHandler(site))
	return f, nil
}

func (f *front) serve(l net.Listener, h http.Handler) {
	s := &http.Server{
		Handler: h, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10,
		ErrorLog: slog.NewLogLogger(f.log.Handler(), slog.LevelDebug),
	}
	f.servers = append(f.servers, s)
	go func() {
		if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			f.log.Error("http server ended", "addr", l.Addr(), "err", err)
		}
	}()
}

func (f *front) address() string { return f.url }

func (f *front) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	for _, s := range f.servers {
		if s.Shutdown(ctx) != nil {
			_ = s.Close() // streams never end by themselves
		}
	}
	_ = os.Remove(f.socket)
}

// listenSocket takes the control socket. The store's lock is held already, so
// a socket that is there was left by a kill.
func listenSocket(path string) (net.Listener, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		if len(path) > 100 {
			return nil, fmt.Errorf("control socket %s: its path is too long for the system: choose a shorter --data", path)
		}
		return nil, fmt.Errorf("control socket: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("control socket: %w", err)
	}
	return l, nil
}

// loadToken reads the API token, or makes one.
func loadToken(path string) (string, error) {
	value, err := os.ReadFile(path)
	if err == nil {
		token := strings.TrimSpace(string(value))
		if len(token) < 16 {
			return "", fmt.Errorf("%s holds no token: remove it, and the next start makes a new one", path)
		}
		return token, os.Chmod(path, 0o600)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("API token: %w", err)
	}
	var secret [24]byte
	_, _ = rand.Read(secret[:]) // documented never to fail
	token := base64.RawURLEncoding.EncodeToString(secret[:])
	return token, writeWhole(path, []byte(token+"\n"))
}

// writeWhole writes a private file so that it is there whole or not at all.
func writeWhole(path string, value []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if _, err = f.Write(value); err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return os.Rename(f.Name(), path)
}

// plainError is the system's own words, without the operation and address that
// the caller names anyway.
func plainError(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}
