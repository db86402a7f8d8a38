package web

import (
	"net/http"
	"strings"
	"testing"
)

func TestBlocks(t *testing.T) {
	h := testSite(newFake(), false)
	for _, step := range []struct {
		method, target, body string
		want                 int
		says                 string
	}{
		{"POST", "/api/v1/blocks", `{"block":"spam.example","reason":"advertisements"}`, http.StatusCreated, `"block":"spam.example"`},
		{"POST", "/api/v1/blocks", `{"block":"spam.example","for":"30d"}`, http.StatusOK, `"until":"`},
		{"POST", "/api/v1/blocks", `{"block":"spam"}`, http.StatusBadRequest, "or a domain such as spam.example"},
		{"POST", "/api/v1/blocks", `{"block":"https://spam.example/"}`, http.StatusBadRequest, "name its domain alone"},
		{"POST", "/api/v1/blocks", `{"block":"1.2.3.4/2"}`, http.StatusBadRequest, "at most a /8"},
		{"POST", "/api/v1/blocks", `{"block":"spam.example","for":"never"}`, http.StatusBadRequest, "30d or 12h"},
		{"POST", "/api/v1/blocks", `{"block":"spam.example","for":"-1d"}`, http.StatusBadRequest, "30d or 12h"},
		{"POST", "/api/v1/blocks", `{"block":"spam.example","reason":"` + strings.Repeat("x", maxReason+1) + `"}`, http.StatusBadRequest, "shorten it"},
		{"GET", "/api/v1/blocks", "", http.StatusOK, `"reason":"advertisements"`},
		{"DELETE", "/api/v1/blocks?block=other.example", "", http.StatusNotFound, "is not blocked"},
		{"DELETE", "/api/v1/blocks?block=spam.example", "", http.StatusNoContent, ""},
		{"DELETE", "/api/v1/blocks?block=listed.example", "", http.StatusOK, `"allowed":true`},
		{"POST", "/api/v1/blocklists", `{"list":"https://example.org/blocks.json"}`, http.StatusCreated, `"lines":3`},
		{"POST", "/api/v1/blocklists", `{"list":"http://127.0.0.1/"}`, http.StatusBadRequest, "the command block export"},
		{"GET", "/api/v1/blocklists", "", http.StatusOK, `"list":"https://example.org/blocks.json"`},
		{"DELETE", "/api/v1/blocklists?list=https://example.org/blocks.json", "", http.StatusNoContent, ""},
		{"DELETE", "/api/v1/blocklists?list=https://example.net/", "", http.StatusNotFound, "is not followed"},
		{"GET", "/api/v1/entries/0123", "", http.StatusOK, "[]"},
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
