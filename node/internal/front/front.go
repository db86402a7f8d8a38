// Package front is the peer's HTTP side: the web address and the control socket.
package front

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
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/asker"
	"github.com/feedring/feedring/internal/readerfeeds/cache"
	"github.com/feedring/feedring/internal/refusals"
	"github.com/feedring/feedring/internal/web"
	"github.com/feedring/feedring/node/internal/front/plain"
)

// Config says where a front answers.
type Config struct {
	HTTP      string // host:port, or "off"
	TokenFile string
	Socket    string
	Proxies   asker.Proxies // in front of HTTP
	Refused   *refusals.Counts
	Blocks    Blocks // nil: nobody is blocked
}

// Blocks tells which addresses the owner of this peer blocks.
type Blocks interface{ RefuseAddr(netip.Addr) bool }

// Front answers at the web address and the control socket. The zero Front answers
// nowhere.
type Front struct {
	log     *slog.Logger
	token   string
	web     net.Listener // nil: off
	control net.Listener // nil: none
	socket  string
	handler http.Handler // of the web address; nil before Serve
	servers []*http.Server
	refused *refusals.Counts
	polls   *plain.Server // nil: off, or before Serve
}

// Open takes the socket and the web address. Nobody is answered before Serve.
func Open(cfg Config, log *slog.Logger) (_ *Front, err error) {
	f := &Front{log: log, refused: cfg.Refused}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	if f.token, err = loadToken(cfg.TokenFile); err != nil {
		return nil, err
	}
	if cfg.HTTP != "off" {
		later := net.ListenConfig{KeepAlive: -1} // a poll is over before it matters: see conn.KeepAlive
		l, err := later.Listen(context.Background(), "tcp", cfg.HTTP)
		if err != nil {
			return nil, &feedring.SettingError{Setting: "http", Value: cfg.HTTP, Err: plainError(err)}
		}
		held := newPlaces(l, placesFor(descriptors()), cfg.Proxies, cfg.Refused)
		held.blocks = cfg.Blocks
		f.web = held
	}
	f.control, err = listenSocket(cfg.Socket)
	if err != nil {
		return nil, err
	}
	f.socket = cfg.Socket
	return f, nil
}

// Serve answers on both. Plain polls of feeds take the short way.
func (f *Front) Serve(site web.Config, feeds *cache.Cache) {
	site.Token, site.Logger, site.Refused = f.token, f.log, f.refused
	if f.web != nil {
		site.Address = f.web.Addr().String()
		pages := web.Handler(site)
		if site.Closed() {
			feeds = nil // who asks must show the token
		}
		f.handler, f.polls = pages, plain.Serve(f.web, feeds, pages, site.HubAddress(), f.log)
		f.answer(f.polls.Rest(), f.handler)
	}
	if f.control != nil {
		f.answer(f.control, web.SocketHandler(site))
	}
}

func (f *Front) answer(l net.Listener, h http.Handler) {
	s := &http.Server{
		Handler: h, ReadHeaderTimeout: plain.HeadWithin, IdleTimeout: plain.IdleWithin, MaxHeaderBytes: plain.MaxHead,
		ErrorLog: slog.NewLogLogger(f.log.Handler(), slog.LevelDebug),
	}
	f.servers = append(f.servers, s)
	go func() {
		if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			f.log.Error("http server ended", "addr", l.Addr(), "err", err)
		}
	}()
}

// Address is where the web page is; empty: off.
func (f *Front) Address() string {
	if f.web == nil {
		return ""
	}
	return "http://" + f.web.Addr().String()
}

// Off reports whether there is no web address.
func (f *Front) Off() bool { return f.web == nil }

// ServeHTTP answers as the web address does, after Serve.
func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) { f.handler.ServeHTTP(w, r) }

// BlocksChanged ends connections from addresses that are blocked from now on.
func (f *Front) BlocksChanged() {
	if held, ok := f.web.(*places); ok {
		held.closeBlocked()
	}
}

// Reachable is where the web page is for programs: who listens everywhere is
// reached at the loopback address.
func (f *Front) Reachable() string {
	if f.web == nil {
		return ""
	}
	return web.AddressBase(f.web.Addr().String())
}

// Close ends what is being answered, in a fifth of a second, and gives the
// addresses back.
func (f *Front) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	if f.polls != nil {
		f.polls.Stop() // while the others are ended
		defer f.polls.Close(ctx)
	}
	for _, s := range f.servers {
		if s.Shutdown(ctx) != nil {
			_ = s.Close() // streams never end by themselves
		}
	}
	for _, l := range []net.Listener{f.web, f.control} {
		if l != nil {
			_ = l.Close() // again, where a server had it
		}
	}
	if f.socket != "" {
		_ = os.Remove(f.socket)
	}
}

// LongPathError is for a control socket whose path the system does not take.
type LongPathError struct{ Path string }

func (e *LongPathError) Error() string {
	return fmt.Sprintf("control socket %s: its path is too long for the system", e.Path)
}

// listenSocket takes the control socket. The store's lock is held already, so
// a socket that is there was left by a kill.
func listenSocket(path string) (net.Listener, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	most := 103
	if runtime.GOOS == "linux" {
		most = 107
	}
	if len(path) > most { // those who connect need the whole path
		return nil, &LongPathError{path}
	}
	l, err := listenPrivately(path)
	if err != nil {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	return l, nil
}

// listenPrivately makes the socket where only this user can reach it, and moves
// it to its place when its mode is right: at no moment is it open to others.
func listenPrivately(path string) (net.Listener, error) {
	dir := filepath.Join(filepath.Dir(path), ".s") // short: a socket's path must be
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	fresh := filepath.Join(dir, "s")
	l, err := net.Listen("unix", fresh)
	if err != nil {
		return nil, err
	}
	if u, ok := l.(*net.UnixListener); ok {
		u.SetUnlinkOnClose(false) // it is elsewhere by then
	}
	if err = os.Chmod(fresh, 0o600); err == nil {
		err = os.Rename(fresh, path)
	}
	if err != nil {
		_ = l.Close()
		return nil, err
	}
	return l, nil
}

// TokenError is for a file that holds no API token, or, with Open, one that others
// can read.
type TokenError struct {
	Path string
	Open bool
}

func (e *TokenError) Error() string {
	if e.Open {
		return e.Path + " can be read by others"
	}
	return e.Path + " holds no token"
}

// loadToken reads the API token, or makes one.
func loadToken(path string) (string, error) {
	value, err := os.ReadFile(path)
	if err == nil {
		token := strings.TrimSpace(string(value))
		if len(token) < 16 || len(token) > 512 || strings.ContainsAny(token, " \t\r\n") {
			return "", &TokenError{Path: path}
		}
		return token, onlyOurs(path)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("API token: %w", err)
	}
	var secret [24]byte
	_, _ = rand.Read(secret[:]) // documented never to fail
	token := base64.RawURLEncoding.EncodeToString(secret[:])
	return token, writeWhole(path, []byte(token+"\n"))
}

// onlyOurs refuses a token that others can read: they may have it already, so
// that closing the file in silence would help nobody.
func onlyOurs(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("API token: %w", err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return &TokenError{Path: path, Open: true}
	}
	return nil
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
