package web

import (
	"net/http"
	"strings"
	"testing"
)

func TestJoin(t *testing.T) {
	h := testSite(newFake(), false)
	for _, step := range []struct {
		method, target, body string
		want                 int
		says                 string
	}{
		{"POST", "/api/v1/join", `{"join":"news.example"}`, http.StatusCreated, `{"join":"news.example","reached":[{"peer":"12D3B","addr":"/ip4/192.0.2.1/tcp/1"}],"groups":["news"]}`},
		{"POST", "/api/v1/join", `{"join":"news.example"}`, http.StatusOK, `"known":true`},
		{"POST", "/api/v1/join", `{"join":"away.example"}`, http.StatusCreated, `"reached":[],"groups":[],"error":"nobody answers there"`},
		{"POST", "/api/v1/join", `{"join":"self.example"}`, http.StatusConflict, "this peer itself"},
		{"POST", "/api/v1/join", `{"join":""}`, http.StatusBadRequest, `"detail":"write a domain"`},
		{"POST", "/api/v1/join", `{"domain":"news.example"}`, http.StatusBadRequest, `\"join\"`},
		{"GET", "/api/v1/join", "", http.StatusOK, `{"join":"fixed.example","from_config":true},{"join":"news.example"}`},
		{"DELETE", "/api/v1/join?join=news.example", "", http.StatusNoContent, ""},
		{"DELETE", "/api/v1/join?join=news.example", "", http.StatusNotFound, "does not join through"},
	} {
		got := call(t, h, step.method, step.target, step.body, withToken, "Content-Type: application/json")
		if got.Code != step.want || !strings.Contains(got.Body.String(), step.says) {
			t.Errorf("%s %s %s: %d %s", step.method, step.target, step.body, got.Code, got.Body)
		}
		if got := call(t, h, step.method, step.target, step.body); got.Code != http.StatusUnauthorized {
			t.Errorf("%s %s without the token: %d", step.method, step.target, got.Code)
		}
	}
}
