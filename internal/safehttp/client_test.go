package safehttp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"
)

func client(t *testing.T, cfg Config) *Client {
	t.Helper()
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestConfig(t *testing.T) {
	if _, err := New(Config{HeaderTimeout: -1}); err == nil {
		t.Error("a negative limit was accepted")
	}
}

func get(t *testing.T, c *Client, url string) (*http.Response, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c.Do(req)
}

func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

func TestPrivateAddressesAreRefusedHoweverTheyAreSpelled(t *testing.T) {
	c := client(t, Config{})
	for _, host := range []string{
		"127.0.0.1", "127.255.255.254", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254",
		"100.64.0.1", "224.0.0.1", "255.255.255.255", "198.18.0.1", "192.0.0.8", "240.0.0.1",
		"[::1]", "[::]", "[fe80::1]", "[fc00::1]", "[fd12:3456::1]", "[ff02::1]", "[::ffff:127.0.0.1]",
		"[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::1]", "[2001::1]", "[2001:db8::1]",
		"127.1", "0x7f.1", "0x7f000001", "2130706433", "017700000001", "127.0.0.1.", "0177.0.0.1", "localhost",
	} {
		_, err := get(t, c, "http://"+host+":1/feed")
		if !errors.Is(err, ErrPrivate) {
			t.Errorf("%s: got %v, want ErrPrivate", host, err)
			continue
		}
		if !strings.Contains(err.Error(), "the setting allow-private-feeds") {
			t.Errorf("%s: %q does not say how to allow it", host, err)
		}
		if !IsPrivateHost(strings.Trim(host, "[]")) {
			t.Errorf("IsPrivateHost(%s) is false", host)
		}
	}
	for _, host := range []string{"example.org", "8.8.8.8", "2606:4700::1111", "x1.example", "10.example"} {
		if IsPrivateHost(host) {
			t.Errorf("IsPrivateHost(%s) is true", host)
		}
	}
}

// letThrough allows one server, as a public one would be.
func letThrough(s *httptest.Server) addressRule {
	return allBut{netip.MustParseAddrPort(s.Listener.Addr().String())}
}

// allBut refuses private addresses but for one.
type allBut struct{ allowed netip.AddrPort }

func (a allBut) control(network, address string, c syscall.RawConn) error {
	if netip.MustParseAddrPort(address) == a.allowed {
		return nil
	}
	return publicOnly{}.control(network, address, c)
}

func TestRefusalHoldsForRedirects(t *testing.T) {
	inside := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the private server was asked") })
	outside := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, inside.URL, http.StatusFound) })
	_, err := get(t, newClient(Config{}, dialer{rule: letThrough(outside)}), outside.URL)
	if !errors.Is(err, ErrPrivate) {
		t.Fatalf("got %v", err)
	}
}

func TestRefusalHoldsForNames(t *testing.T) {
	// The control sees what the name led to: "localhost" is looked up first.
	s := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the private server was asked") })
	port := s.URL[strings.LastIndexByte(s.URL, ':'):]
	if _, err := get(t, client(t, Config{}), "http://localhost"+port); !errors.Is(err, ErrPrivate) {
		t.Fatalf("got %v", err)
	}
}

func TestProxiesOfTheEnvironmentAreIgnored(t *testing.T) {
	proxy := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the proxy was asked") })
	t.Setenv("HTTP_PROXY", proxy.URL)
	t.Setenv("HTTPS_PROXY", proxy.URL)
	if _, err := get(t, client(t, Config{}), "http://10.0.0.1/feed"); !errors.Is(err, ErrPrivate) {
		t.Fatalf("got %v", err)
	}
}

func TestRedirects(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Referer") != "" || r.Header.Get("Cookie") != "" {
			t.Errorf("%s: sent %v", r.URL, r.Header)
		}
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
		var n int
		switch _, err := fmt.Sscanf(r.URL.Path, "/down/%d", &n); {
		case err == nil && n > 0:
			http.Redirect(w, r, fmt.Sprintf("/down/%d", n-1), http.StatusMovedPermanently)
		case r.URL.Path == "/endless":
			http.Redirect(w, r, "/endless?"+r.URL.RawQuery+"x", http.StatusFound)
		case r.URL.Path == "/self":
			http.Redirect(w, r, "/self", http.StatusFound)
		case r.URL.Path == "/ftp":
			http.Redirect(w, r, "ftp://example.org/x", http.StatusFound)
		}
	})
	c := client(t, Config{AllowPrivate: true})
	for path, want := range map[string]error{
		"/down/10": nil, "/down/11": ErrRedirectLoop, "/endless": ErrRedirectLoop, "/self": ErrRedirectLoop,
	} {
		resp, err := get(t, c, s.URL+path)
		if !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", path, err, want)
		}
		if err == nil {
			resp.Body.Close()
		}
	}
	if _, err := get(t, c, s.URL+"/ftp"); err == nil {
		t.Error("a redirect to ftp was followed")
	}
	if _, err := get(t, c.WithoutRedirects(), s.URL+"/down/1"); !errors.Is(err, ErrRedirected) {
		t.Errorf("got %v, want ErrRedirected", err)
	}
}

// refusedHost is what a caller says of a host that a redirect leads to.
type refusedHost struct{ host string }

func (r *refusedHost) Error() string { return "not " + r.host }

// Who waits before a redirect is followed is not blamed for it on the origin.
func TestOnwardMayWait(t *testing.T) {
	target := serve(t, func(http.ResponseWriter, *http.Request) {})
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, target.URL+"/x", http.StatusFound) })
	const patience = time.Second
	ctx := Onward(t.Context(), func(string) error { <-time.After(patience + patience/4); return nil })
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client(t, Config{AllowPrivate: true, HeaderTimeout: patience}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
}

func TestOnward(t *testing.T) {
	asked := 0
	target := serve(t, func(http.ResponseWriter, *http.Request) { asked++ })
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, target.URL+"/x", http.StatusFound) })
	refuse := true
	ctx := Onward(t.Context(), func(host string) error {
		if refuse {
			return &refusedHost{host}
		}
		return nil
	})
	for range 2 {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client(t, Config{AllowPrivate: true}).Do(req)
		var refused *refusedHost
		switch {
		case refuse && (!errors.As(err, &refused) || "http://"+refused.host != target.URL || asked != 0):
			t.Errorf("%v, %d requests", err, asked)
		case !refuse && (err != nil || asked != 1):
			t.Errorf("%v, %d requests", err, asked)
		case err == nil:
			resp.Body.Close()
		}
		refuse = false
	}
}

func TestSlowHeaderAndSlowBody(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/body" {
			io.WriteString(w, "a")
			w.(http.Flusher).Flush()
		}
		<-r.Context().Done()
	})
	_, err := get(t, client(t, Config{AllowPrivate: true, HeaderTimeout: 20 * time.Millisecond}), s.URL)
	if !errors.Is(err, ErrSlow) {
		t.Errorf("header: got %v", err)
	}
	resp, err := get(t, client(t, Config{AllowPrivate: true, BodyTimeout: 20 * time.Millisecond}), s.URL+"/body")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.ReadAll(resp.Body); !errors.Is(err, ErrSlow) {
		t.Errorf("body: got %v", err)
	}
}

func TestUserAgentAndIdleConnections(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.UserAgent()) })
	c := client(t, Config{AllowPrivate: true, UserAgent: "feedring/1"})
	defer c.CloseIdle()
	resp, err := get(t, c, s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got, _ := io.ReadAll(resp.Body); string(got) != "feedring/1" {
		t.Errorf("user agent %q", got)
	}
	if !c.AllowsPrivate() {
		t.Error("AllowsPrivate is false")
	}
}
