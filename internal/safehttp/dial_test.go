package safehttp

import (
	"errors"
	"net/http/httptest"
	"testing"
	"time"
)

// connections keep what they are told.
type connections map[string]time.Duration

func (c connections) Connected(address string, took time.Duration) { c[address] = took }

// Connect makes one connection, where addresses may be private, and tells how long
// it took; elsewhere none.
func TestConnect(t *testing.T) {
	server := httptest.NewServer(nil)
	defer server.Close()
	told := connections{}
	free, err := New(Config{AllowPrivate: true, Observer: told})
	if err != nil {
		t.Fatal(err)
	}
	if err := free.Connect(t.Context(), server.URL+"/feed.xml"); err != nil || told[server.Listener.Addr().String()] <= 0 || len(told) != 1 {
		t.Errorf("%v, and told of %v", err, told)
	}
	clear(told)
	safe, err := New(Config{Observer: told})
	if err != nil {
		t.Fatal(err)
	}
	port := server.URL[len("http://127.0.0.1"):]
	for _, address := range []string{server.URL, "http://127.1" + port, "http://0x7f000001" + port, "http://localhost" + port, "https://[::1]" + port, "http://[::ffff:127.0.0.1]" + port} {
		if err := safe.Connect(t.Context(), address); err == nil || len(told) > 0 {
			t.Errorf("%s: %v", address, err)
		}
	}
	if err := safe.Connect(t.Context(), server.URL); !errors.Is(err, ErrPrivate) || len(told) > 0 {
		t.Errorf("loopback: %v, and told of %v", err, told)
	}
	for _, address := range []string{"ftp://example.org/", "file:///etc/passwd", "http://", "://"} {
		if err := free.Connect(t.Context(), address); err == nil {
			t.Errorf("%s is no address of a feed", address)
		}
	}
}
