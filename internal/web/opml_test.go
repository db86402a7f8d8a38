package web

import (
	"net/http"
	"strings"
	"testing"
)

func TestOPML(t *testing.T) {
	f := newFake()
	h := testSite(f, true)
	list := `<opml><body>
		<outline text="Tech News"><outline xmlUrl="https://a.example/f"/></outline>
		<outline text="???"><outline xmlUrl="https://b.example/f"/></outline>
		<outline text="C" xmlUrl="https://c.example/f" provider="Other.example" share="title"/>
		<outline xmlUrl="ftp://d.example/"/>
		<outline xmlUrl="https://ann:hunter2@e.example/f"/>
	</body></opml>`
	post := func(target, body string) (int, string) {
		t.Helper()
		w := call(t, h, http.MethodPost, target, body)
		return w.Code, w.Body.String()
	}
	for _, c := range []struct {
		target, body string
		status       int
		want         []string
	}{
		{"/api/v1/opml?theme=a+b", list, 400, []string{"only letters"}},
		{"/api/v1/opml?folders=yes", list, 400, []string{"write true or false"}},
		{"/api/v1/opml", "<html/>", 422, []string{"no OPML"}},
		{"/api/v1/opml", "<opml/>", 422, []string{"names no feed"}},
		{"/api/v1/opml", strings.Repeat(" ", 5<<20), 413, []string{"larger than 4 MiB: split it"}},
		{"/api/v1/opml?folders=true&theme=sport", list, 200, []string{
			`{"url":"https://a.example/f","theme":"tech-news","added":true}`, `the folder \"???\" names no theme`,
			`{"url":"https://c.example/f","theme":"sport","added":true}`, "only http and https",
			`{"url":"https://…@e.example/f","added":false,"error":"feed address \"https://…@e.example/f\" carries a user name or password`}},
		{"/api/v1/opml?force=x", list, 400, []string{"write true or false"}},
		{"/api/v1/opml", `<opml><outline xmlUrl="https://none.example/"/><outline xmlUrl="https://away.example/"/><outline xmlUrl="https://later.example/"/><outline xmlUrl="https://site.example/"/><outline xmlUrl="https://two.example/"/></opml>`, 200, []string{
			`{"url":"https://none.example/","added":false,"error":"it names none","no_feed":true}`,
			`{"url":"https://away.example/","added":true,"warning":"busy"}`,
			`{"url":"https://later.example/","added":true,"unchecked":true}`,
			`{"url":"https://site.example/feed.xml","site":"https://site.example/","added":true}`,
			`{"url":"https://two.example/","added":false,"error":"https://two.example/ names 2 feeds`,
		}},
		{"/api/v1/opml?force=true", `<opml><outline xmlUrl="https://none.example/"/></opml>`, 200, []string{`{"url":"https://none.example/","added":true}`}},
		{"/api/v1/opml", list, 200, []string{"already published in tech-news", `{"url":"https://b.example/f","added":true}`}},
	} {
		status, answer := post(c.target, c.body)
		if status != c.status {
			t.Errorf("%s: %d %s", c.target, status, answer)
		}
		if strings.Contains(answer, "hunter2") {
			t.Errorf("%s: a password is shown: %s", c.target, answer)
		}
		for _, want := range c.want {
			if !strings.Contains(answer, want) {
				t.Errorf("%s: no %s in %s", c.target, want, answer)
			}
		}
	}
	w := call(t, h, http.MethodGet, "/api/v1/opml", "")
	out := w.Body.String()
	for _, want := range []string{`<outline text="tech-news">`, `title="C" xmlUrl="https://c.example/f"`, `fr:provider="other.example"`, `fr:share="title"`} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s in %s", want, out)
		}
	}
	if status, _ := post("/api/v1/opml?folders=true", out); status != 200 || w.Header().Get("Content-Type") != "text/x-opml; charset=utf-8" {
		t.Errorf("%d, %v", status, w.Header())
	}
	open := testSite(f, false)
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		if w := call(t, open, method, "/api/v1/opml", ""); w.Code != http.StatusUnauthorized {
			t.Errorf("%s without a token: %d", method, w.Code)
		}
	}
}
