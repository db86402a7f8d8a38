package web

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// membersOf is a closed network, and whether the peer is a stranger there.
type membersOf [2]bool

func (m membersOf) Closed() bool   { return m[0] }
func (m membersOf) Stranger() bool { return m[1] }

// askClosed asks a peer of a closed network.
func askClosed(t *testing.T, h http.Handler, method, path, token, body string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "http://127.0.0.1"+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestAClosedNetworkNeedsTheToken: for all but what says nothing of it.
func TestAClosedNetworkNeedsTheToken(t *testing.T) {
	h := Handler(Config{Backend: newFake(), Token: testToken, Members: membersOf{true, false}})
	for path, open := range map[string]bool{
		"/livez": true, "/readyz": true, "/healthz": true, "/": false, "/group/news": false, "/api/v1/status": false, "/api/v1/ring": false,
		"/api/v1/entries": false, "/api/v1/feeds": false, "/nothing": false, "/livez/../api/v1/ring": false,
	} {
		if w := askClosed(t, h, http.MethodGet, path, "", ""); open != (w.Code == http.StatusOK) || !open && w.Code != http.StatusUnauthorized {
			t.Errorf("%s: %d without the token", path, w.Code)
		}
		if w := askClosed(t, h, http.MethodGet, path, testToken, ""); w.Code == http.StatusUnauthorized {
			t.Errorf("%s: %d with the token", path, w.Code)
		}
	}
	if w := askClosed(t, SocketHandler(Config{Backend: newFake(), Members: membersOf{true, false}}), http.MethodGet, "/api/v1/ring", "", ""); w.Code != http.StatusOK {
		t.Errorf("on the socket: %d", w.Code)
	}
	if w := askClosed(t, Handler(Config{Backend: newFake(), Token: testToken}), http.MethodGet, "/api/v1/ring", "", ""); w.Code != http.StatusOK {
		t.Errorf("on an open network: %d", w.Code)
	}
}

// TestAStrangerAnswersNoQuestions: neither with the token nor on the socket.
func TestAStrangerAnswersNoQuestions(t *testing.T) {
	h := SocketHandler(Config{Backend: newFake(), Members: membersOf{true, true}})
	for path, open := range map[string]bool{
		"/api/v1/status": true, "/api/v1/ring": false, "/api/v1/entries": false, "/api/v1/entries.atom": false, "/api/v1/catalog/news": false, "/api/v1/stream": false,
	} {
		w := askClosed(t, h, http.MethodGet, path, "", "")
		if open != (w.Code == http.StatusOK) || !open && (w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "credential")) {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

type fakeNetwork struct{ got Invitation }

func (f *fakeNetwork) Invite(i Invitation) (string, error) {
	f.got = i
	if i.Uses == 0 {
		return "", ErrMalformed.Of(errors.New("no uses"))
	}
	return "the-code", nil
}

func (f *fakeNetwork) Take(statements []byte) (int, error) { return len(statements), nil }

func (f *fakeNetwork) Meant(_ context.Context, text string) (Meant, error) {
	if text == "" {
		return Meant{}, &ManyEntriesError{URL: text, Count: 17}
	}
	return Meant{Targets: []string{text}}, nil
}

func TestInvitationsNeedTheToken(t *testing.T) {
	n := &fakeNetwork{}
	h := Handler(Config{Backend: newFake(), Token: testToken, Network: n})
	const body = `{"role":"read","valid_s":60,"uses":2,"site":"a.example"}`
	if w := askClosed(t, h, http.MethodPost, "/api/v1/network/invitations", "", body); w.Code != http.StatusUnauthorized {
		t.Errorf("without the token: %d", w.Code)
	}
	w := askClosed(t, h, http.MethodPost, "/api/v1/network/invitations", testToken, body)
	if want := (Invitation{"read", time.Minute, 2, "a.example"}); w.Code != http.StatusCreated || !strings.Contains(w.Body.String(), "the-code") || n.got != want {
		t.Errorf("%d %s: %+v", w.Code, w.Body, n.got)
	}
	if w := askClosed(t, h, http.MethodPost, "/api/v1/network/invitations", testToken, `{"role":"read"}`); w.Code != http.StatusBadRequest {
		t.Errorf("malformed: %d", w.Code)
	}
	if w := askClosed(t, h, http.MethodPost, "/api/v1/network/statements", testToken, `{"statements":"AAAA"}`); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "3") {
		t.Errorf("statements: %d %s", w.Code, w.Body)
	}
	const meant = "/api/v1/network/meant?of="
	if w := askClosed(t, h, http.MethodGet, meant+"a", testToken, ""); w.Code != http.StatusOK || strings.TrimSpace(w.Body.String()) != `{"targets":["a"],"feeds":[],"known":false}` {
		t.Errorf("what is meant: %d %s", w.Code, w.Body)
	}
	if w := askClosed(t, h, http.MethodGet, meant, testToken, ""); w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), "name one by its id") {
		t.Errorf("too much is meant: %d %s", w.Code, w.Body)
	}
	if w := askClosed(t, h, http.MethodGet, meant+"a", "", ""); w.Code != http.StatusUnauthorized {
		t.Errorf("without the token: %d", w.Code)
	}
	if w := askClosed(t, Handler(Config{Backend: newFake(), Token: testToken}), http.MethodPost, "/api/v1/network/invitations", testToken, body); w.Code != http.StatusNotFound {
		t.Errorf("on an open network: %d", w.Code)
	}
}
