package integration

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestHalfSentRequests sends a peer that may open 1,024 files three times as many
// halves of requests. Whoever asks in good order is answered meanwhile, by HTTP and by
// libp2p, and a newcomer joins. Before connections had places, 1,100 of them left the
// process without descriptors.
func TestHalfSentRequests(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	n := newNetwork(t, "500ms")
	p := n.prepare(nil, "news=victim@"+o.feed(newFeed("victim", 2)))
	p.binary = filepath.Join(n.dir, "few-files")
	script := fmt.Sprintf("#!/bin/sh\nulimit -n 1024 && exec %s \"$@\"\n", binary)
	if err := os.WriteFile(p.binary, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	n.start(p)
	until(t, 20*time.Second, "the feed", func() bool { return len(n.query(p, "--theme", "news").entries()) == 2 })

	const attempts = 3000
	open := 0
	for i := range attempts {
		from := &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(1+i%250))}
		c, err := (&net.Dialer{LocalAddr: from, Timeout: 5 * time.Second}).DialContext(t.Context(), "tcp", strings.TrimPrefix(p.http, "http://"))
		if err != nil {
			t.Fatalf("connection %d: %v", i, err)
		}
		defer c.Close()
		if _, err := io.WriteString(c, "POST /api/v1/ping HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\nX-Half: "); err == nil {
			open++
		}
		if i%1000 == 999 {
			ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second) // a header may take five
			req, err := http.NewRequestWithContext(ctx, "GET", p.http+"/livez", nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Close = true
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatalf("beside %d half-sent requests: %v", i+1, err)
			}
			_ = resp.Body.Close()
			cancel()
			if resp.StatusCode != 200 {
				t.Errorf("beside %d half-sent requests: %s", i+1, resp.Status)
			}
			if r := n.query(p, "--theme", "news"); len(r.entries()) != 2 {
				t.Errorf("beside %d half-sent requests a query: %v", i+1, r)
			}
		}
	}
	newcomer := n.peer([]*peer{p}, "news=newcomer@"+o.feed(newFeed("newcomer", 1)))
	n.formed(map[string]int{"news": 2}, p, newcomer)
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.cmd.Process.Pid))
	t.Logf("of %d half-sent requests %d were accepted; the peer has %d files open", attempts, open, len(files))
	if err == nil && len(files) > 700 {
		t.Errorf("the peer has %d files open", len(files))
	}
	if log := p.errors(); strings.Contains(log, "too many open files") {
		t.Errorf("it has no descriptors left:\n%s", tail(log))
	}
}

// TestOneClientBehindAProxy has one client of a proxy open streams until it is refused:
// it has a sixteenth of them, whatever it writes into X-Forwarded-For itself.
func TestOneClientBehindAProxy(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	n := newNetwork(t, "500ms", "--public-url", "https://news.example")
	p := n.peer(nil, "news=followed@"+o.feed(newFeed("followed", 1)))
	follow := func(forwarded string) int {
		req, err := http.NewRequestWithContext(t.Context(), "GET", p.http+"/api/v1/stream?theme=news", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Forwarded-For", forwarded)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = resp.Body.Close() })
		return resp.StatusCode
	}
	streams := 0
	for i := range 80 {
		if follow(fmt.Sprintf("198.51.100.%d, 203.0.113.7", i)) == 200 { // the proxy wrote the last one
			streams++
		}
	}
	t.Logf("one client has %d of 1,000 streams", streams)
	if streams != 62 {
		t.Errorf("one client has %d streams", streams)
	}
	if code := follow("203.0.113.8"); code != 200 {
		t.Errorf("another client: %d", code)
	}
	resp, err := http.Get(p.http + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	metrics, err := io.ReadAll(resp.Body)
	if counted := `feedring_refused_total{reason="share",where="http"} 18`; err != nil || !strings.Contains(string(metrics), counted+"\n") {
		t.Errorf("/metrics lacks %s: %v", counted, err)
	}
}
