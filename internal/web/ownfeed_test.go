package web

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

// echo answers with what it is told of the peer.
type echo struct{ err error }

func (e echo) Answer(w http.ResponseWriter, _ *http.Request, hub string) error {
	if e.err == nil {
		fmt.Fprint(w, hub)
	}
	return e.err
}

// TestOwnFeedsNameAHubThatIsReached: whatever a proxy or a stranger says in Host,
// it is the public address, or none.
func TestOwnFeedsNameAHubThatIsReached(t *testing.T) {
	for _, tt := range []struct{ public, host, want string }{
		{"https://peer.example/ring", "site.example", "https://peer.example/ring/hub"},
		{"", "localhost:7378", ""},
		{"", "site.example", ""},
	} {
		h := Handler(Config{Backend: newFake(), PublicURL: tt.public, Address: "0.0.0.0:7378", Hub: "/hub", Front: echo{}})
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "http://"+tt.host+"/f/a.example/feed", nil))
		if w.Code != 200 || w.Body.String() != tt.want || w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%v: %d %s", tt, w.Code, w.Body)
		}
	}
}

func TestOwnFeedsThatCannotBeServed(t *testing.T) {
	for _, tt := range []struct {
		method string
		err    error
		want   int
	}{
		{"GET", ErrUnknown.Of(errors.New("no such")), 404},
		{"HEAD", ErrLoop.Of(errors.New("itself")), 508},
		{"GET", errors.New("not yet"), 503},
		{"POST", nil, 405},
	} {
		h := Handler(Config{Backend: newFake(), Front: echo{tt.err}})
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(tt.method, "http://localhost/f/a.example/feed", nil))
		if w.Code != tt.want || w.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s %v: %d %v", tt.method, tt.err, w.Code, w.Header())
		}
	}
	w := httptest.NewRecorder()
	Handler(Config{Backend: newFake()}).ServeHTTP(w, httptest.NewRequest("GET", "http://localhost/f/x", nil))
	if w.Code != 404 {
		t.Errorf("without a front: %d", w.Code)
	}
}
