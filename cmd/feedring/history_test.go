package main

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// TestHistoryRebuildOfAPeerThatEnds: however the peer goes, a person is told what
// becomes of the index, and sees no socket's path.
func TestHistoryRebuildOfAPeerThatEnds(t *testing.T) {
	for name, end := range map[string]func(http.ResponseWriter){
		"at a connection": func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
		"in an answer": func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, `{"indexed":`)
		},
		"altogether": nil,
	} {
		t.Run(name, func(t *testing.T) {
			data := t.TempDir()
			l, err := net.Listen("unix", filepath.Join(data, "feedring.sock"))
			if err != nil {
				t.Fatal(err)
			}
			mux := http.NewServeMux()
			s := &http.Server{Handler: mux}
			mux.HandleFunc("POST /api/v1/history/rebuild", func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Connection", "close")
				if end == nil {
					_ = l.Close()
				}
				fmt.Fprint(w, `{"indexed":1,"entries":9}`)
			})
			mux.HandleFunc("GET /api/v1/history", func(w http.ResponseWriter, _ *http.Request) { end(w) })
			done := make(chan struct{})
			go func() { defer close(done); _ = s.Serve(l) }()
			defer func() { _ = s.Close(); <-done }()
			var stdout, stderr bytes.Buffer
			code := run([]string{"history", "rebuild", "--data", data}, &stdout, &stderr)
			if got := stderr.String(); code != 1 || stdout.Len() > 0 || !strings.Contains(got, "the peer ended while it built the index: started again it goes on by itself") || strings.Contains(got, data) {
				t.Errorf("exit %d, %q, %q", code, &stdout, got)
			}
		})
	}
}
