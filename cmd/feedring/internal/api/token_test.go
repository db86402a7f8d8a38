package api

import (
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A token that nobody named is not insisted on: the peer is asked once more
// without it, which is enough where none is needed.
func TestGuessedTokenOfAnotherPeer(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("other\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path          string
		guessed, well bool
		asked         int
	}{
		{"status", true, true, 2},
		{"feeds", true, false, 2},
		{"status", false, false, 1},
	} {
		asked := 0
		peer, err := New(Config{URL: "http://127.0.0.1:1", TokenFile: file, Guessed: c.guessed})
		if err != nil {
			t.Fatal(err)
		}
		peer.http.Transport = script(func(r *http.Request) (*http.Response, error) {
			asked++
			resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader("{}"))}
			if r.Header.Get("Authorization") != "" || r.URL.Path == "/api/v1/feeds" {
				resp.StatusCode = http.StatusUnauthorized
			}
			return resp, nil
		})
		err = peer.do(t.Context(), request{path: c.path}, nil)
		var problem *Problem
		told := errors.As(err, &problem) && problem.TokenFile == file && problem.Guessed == c.guessed
		if asked != c.asked || (err == nil) != c.well || !c.well && !told {
			t.Errorf("%+v: asked %d times: %v (%+v)", c, asked, err, problem)
		}
	}
}

// A data directory whose path is too long for a socket is named as the cause.
func TestSocketPathTooLong(t *testing.T) {
	peer, err := New(Config{Socket: "/" + strings.Repeat("d", 150) + "/feedring.sock", Instead: "--api"})
	if err != nil {
		t.Fatal(err)
	}
	if err := peer.do(t.Context(), request{path: "status"}, nil); err == nil || !strings.Contains(err.Error(), "too long: choose a shorter --data") {
		t.Errorf("%v", err)
	}
}
