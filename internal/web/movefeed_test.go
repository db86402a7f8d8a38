package web

import (
	"strings"
	"testing"
)

func TestMovingAFeed(t *testing.T) {
	const from = `"from":"https://a.example/feed"`
	for body, want := range map[string]struct {
		code int
		says string
	}{
		`{` + from + `,"to":"https://b.example/rss"}`:                   {200, `"url":"https://a.example/feed","fetched":"https://b.example/rss"`},
		`{` + from + `,"to":"https://b.example/x"}`:                     {200, `"note":"not there yet"`},
		`{` + from + `,"to":"https://b.example/rss","force":true}`:      {200, `"fetched":"https://b.example/rss"`},
		`{` + from + `,"to":"https://secret.example/feed"}`:             {409, "already"},
		`{"from":"https://none.example/","to":"https://b.example/rss"}`: {404, "unknown"},
		`{` + from + `}`: {400, "to: "},
		`{"from":"ftp://a.example/","to":"https://b.example/rss"}`: {400, "from: "},
		`{"url":"https://a.example/feed"}`:                         {400, `such as {\"from\"`},
	} {
		w := call(t, testSite(newFake(), false), "POST", "/api/v1/feeds/move", body, withToken)
		if got := w.Body.String(); w.Code != want.code || !strings.Contains(got, want.says) {
			t.Errorf("%s: %d %s", body, w.Code, got)
		}
	}
	if w := call(t, testSite(newFake(), false), "POST", "/api/v1/feeds/move", `{`+from+`,"to":"https://b.example/rss"}`); w.Code != 401 {
		t.Errorf("without the token: %d", w.Code)
	}
}
