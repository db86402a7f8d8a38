package web

import (
	"net/http"
	"strings"
	"testing"
)

// TestAddingASite: the address may be a page's, whose feed is added in its place.
func TestAddingASite(t *testing.T) {
	for body, want := range map[string]struct {
		code int
		says []string
	}{
		`{"url":"https://site.example/"}`:                     {http.StatusCreated, []string{`"url":"https://site.example/feed.xml"`, `"site":"https://site.example/"`, `"provider":"site.example"`}},
		`{"url":"https://site.example/","provider":"p.name"}`: {http.StatusCreated, []string{`"provider":"p.name"`}},
		`{"url":"https://away.example/"}`:                     {http.StatusCreated, []string{`"url":"https://away.example/"`, `"note":"busy"`}},
		`{"url":"https://none.example/"}`: {http.StatusUnprocessableEntity, []string{
			`"detail":"https://none.example/ was not added: it names none: correct the address","force":"send \"force\": true to add it all the same"}`,
		}},
		`{"url":"https://none.example/","force":true}`:   {http.StatusCreated, []string{`"url":"https://none.example/"`, `"note":"it names none: it is fetched again"`}},
		`{"url":"https://away.example/","weight":0}`:     {http.StatusBadRequest, []string{`weight 0: write a number from 1/16`}},
		`{"url":"https://away.example/","weight":-1}`:    {http.StatusBadRequest, []string{`weight -1: write a number from 1/16`}},
		`{"url":"https://away.example/","weight":"NaN"}`: {http.StatusBadRequest, nil},
		`{"url":"https://away.example/","weight":1e999}`: {http.StatusBadRequest, nil},
		`{"url":"https://two.example/"}`: {http.StatusConflict, []string{
			`https://two.example/ names 2 feeds: add the one that is meant: https://two.example/a (A), https://two.example/b"`,
			`"feeds":[{"url":"https://two.example/a","title":"A"},{"url":"https://two.example/b"}]`,
		}},
	} {
		w := call(t, testSite(newFake(), false), "POST", "/api/v1/feeds", body, withToken)
		got := w.Body.String()
		if w.Code != want.code {
			t.Errorf("%s: %d %s", body, w.Code, got)
		}
		for _, part := range want.says {
			if !strings.Contains(got, part) {
				t.Errorf("%s: %s lacks %s", body, got, part)
			}
		}
	}
}
