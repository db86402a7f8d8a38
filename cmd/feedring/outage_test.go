package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// TestFollowTellsAnOutage follows a peer that is away for some seconds.
func TestFollowTellsAnOutage(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n := asked.Add(1)
		if n > 1 && n < 9 {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, `{"detail":"it starts"}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "event: entry\nid: %d\ndata: {\"id\":\"e%d\",\"published\":\"2026-01-02T03:04:05Z\"}\n\n", n, n)
		fmt.Fprint(w, "event: answered\ndata: {\"event\":\"answered\",\"via\":\"P\",\"hops\":0,\"messages\":0}\n\n")
	}))
	defer server.Close()
	var stdout, stderr bytes.Buffer
	code := run([]string{"follow", "--data", t.TempDir(), "--api", server.URL, "--theme", "news", "--count", "2", "--json"}, &stdout, &stderr)
	lost, back := "feedring: the followed peer is lost, trying again until it is back: it starts\n", "feedring: the followed peer is back, going on\n"
	if code != 0 || stderr.String() != lost+back {
		t.Errorf("exit %d, stderr %q", code, &stderr)
	}
	if strings.Contains(stdout.String(), "lost") || strings.Count(stdout.String(), "\n") != 3 {
		t.Errorf("stdout %q", &stdout)
	}
}
