package web

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/feedring/feedring"
)

func TestRetract(t *testing.T) {
	f := newFake()
	e := entryAt(1, 0)
	e.ID, e.URL = "00112233445566778899aabbccddeeff", "https://a.example/wrong"
	f.entries = []feedring.Entry{e}
	h := testSite(f, false)
	token := withToken
	for target, want := range map[string]int{
		"/api/v1/entries/" + string(e.ID):                  http.StatusOK,
		"/api/v1/entries?url=https://a.example/wrong":      http.StatusOK,
		"/api/v1/entries/ffffffffffffffffffffffffffffffff": http.StatusNotFound,
		"/api/v1/entries?url=https://a.example/other":      http.StatusNotFound,
		"/api/v1/entries/abc":                              http.StatusBadRequest,
		"/api/v1/entries":                                  http.StatusBadRequest,
	} {
		got := call(t, h, "DELETE", target, "", token)
		if got.Code != want {
			t.Errorf("%s: %d %s", target, got.Code, got.Body)
		}
		var told []feedring.Retraction
		if want == http.StatusOK && (json.Unmarshal(got.Body.Bytes(), &told) != nil || len(told) != 1 || told[0] != e.Retraction()) {
			t.Errorf("%s: %s", target, got.Body)
		}
	}
	target := "/api/v1/entries/" + string(e.ID)
	if got := call(t, h, "DELETE", target, ""); got.Code != http.StatusUnauthorized {
		t.Errorf("without the token: %d", got.Code)
	}
	if got := call(t, h, "DELETE", target, "", token, "Origin: https://evil.example"); got.Code != http.StatusForbidden {
		t.Errorf("from another page: %d", got.Code)
	}
}

func TestStreamTellsWhatWasTakenBack(t *testing.T) {
	f := newFake()
	e := entryAt(1, 0)
	gone := e.Retraction()
	f.follow = func(_ context.Context, ask Ask, each func(Update) error) error {
		if !ask.Updates {
			t.Error("updates are not asked for")
		}
		return each(Update{Retraction: &gone, Cursor: cursorOf(7)})
	}
	w := httptest.NewRecorder()
	Handler(Config{Backend: f}).ServeHTTP(w, httptest.NewRequest("GET", "http://localhost/api/v1/stream?updates=true", nil))
	got := w.Body.String()
	_, rest, _ := strings.Cut(got, "event: retracted\nid: ")
	id, rest, _ := strings.Cut(rest, "\n")
	if c, _, err := parseCursor(id); err != nil || !maps.Equal(c, cursorOf(7)) || !strings.HasPrefix(rest, "data: {\"event\":\"retracted\",\"id\":\""+string(e.ID)+"\"") {
		t.Errorf("the stream says %q", got)
	}
}
