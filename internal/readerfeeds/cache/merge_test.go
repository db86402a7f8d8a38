package cache

import (
	"net/http"
	"strings"
	"testing"
)

func TestMerge(t *testing.T) {
	const atom = `<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><title>T</title>`
	const json = `{"version":"https://jsonfeed.org/version/1.1","title":"T","items":[`
	for name, c := range map[string]struct {
		old, part string
		want      string // the ids and titles; empty: it does not fit
	}{
		"RSS":            {rss2("2 b", "1 a"), rss2("3 c"), "3 c,2 b"},
		"a version":      {rss2("2 b", "1 a"), rss2("1 A"), "1 A,2 b"},
		"both":           {rss2("3 c", "2 b", "1 a"), rss2("4 d", "2 B"), "4 d,2 B,3 c"},
		"more than were": {rss2("1 a"), rss2("3 c", "2 b"), "3 c,2 b"},
		"nothing":        {rss2("1 a"), rss2(), "1 a"},
		"other names":    {rss2("1 a"), strings.Replace(rss2("2 b"), "<rss", `<rss xmlns:x="urn:x"`, 1), ""},
		"another format": {rss2("1 a"), atom + `<entry><id>2</id><title>b</title></entry></feed>`, ""},
		"no whole":       {rss2(), rss2("1 a"), ""},
		"broken":         {rss2("1 a"), rss2("2 b") + "<", ""},
		"Atom": {atom + `<updated>2026-01-01T00:00:00Z</updated><entry><id>2</id><title>b</title></entry><entry><id>1</id><title>a</title></entry></feed>`,
			atom + `<updated>2026-01-02T00:00:00Z</updated><entry><id>1</id><title>A</title></entry></feed>`, "1 A,2 b"},
		"JSON":            {json + `{"id":"2","title":"b"},{"id":"1","title":"a"}]}`, json + `{"id":"3","title":"c"}]}`, "3 c,2 b"},
		"JSON, a version": {json + ` {"id":"2","title":"b"} , {"id":"1","title":"a"} ]}`, json + `{"id":"1","title":"A"}]}`, "1 A,2 b"},
	} {
		body, fits := merge(&Fetched{Body: []byte(c.old)}, &Fetched{Body: []byte(c.part)})
		if fits != (c.want != "") {
			t.Errorf("%s: fits %v", name, fits)
			continue
		}
		if got := told(string(body)); fits && got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func rss2(items ...string) string {
	s := `<?xml version="1.0"?><rss version="2.0"><channel><title>T</title>`
	for _, item := range items {
		id, title, _ := strings.Cut(item, " ")
		s += "\n<item><guid>" + id + "</guid><title>" + title + "</title></item>"
	}
	return s + "\n</channel></rss>"
}

// told lists the ids and titles of a document's entries.
func told(body string) string {
	l := layOut([]byte(body), "utf-8")
	var all []string
	for _, s := range l.items {
		item := body[s.from:s.to]
		for _, cut := range [][2]string{{"<guid>", "</guid><title>"}, {"<id>", "</id><title>"}, {`"id":"`, `","title":"`}} {
			if _, rest, ok := strings.Cut(item, cut[0]); ok {
				id, rest, _ := strings.Cut(rest, cut[1])
				all = append(all, id+" "+rest[:1])
			}
		}
	}
	return strings.Join(all, ",")
}

// TestShowPart: pollers get whole documents though the origin gives deltas, and
// deltas of their own.
func TestShowPart(t *testing.T) {
	b := open(t, t.TempDir())
	b.Offer(testFeed, "a.example")
	b.take(rssOf("2", "1"))
	had := b.get().Header().Get("ETag")
	sent := func() http.Header {
		h := http.Header{"If-None-Match": {"x"}, "A-Im": {"feed"}}
		b.Prepare(testFeed, h)
		return h
	}
	if h := sent(); h.Get("A-IM") != "feed" || h.Get("If-None-Match") != "x" {
		t.Errorf("asked with %v", h)
	}
	b.ShowPart(testFeed, Fetched{Body: []byte(rssOf("3")), ContentType: "text/xml", At: b.now})
	if body := b.get().Body.String(); !strings.Contains(body, "<guid>3<") || !strings.Contains(body, "<guid>2<") {
		t.Errorf("served:\n%s", body)
	}
	if w := b.get("If-None-Match", had, "A-IM", "feed"); w.Code != http.StatusIMUsed || strings.Contains(w.Body.String(), "<guid>2<") {
		t.Errorf("%d:\n%s", w.Code, w.Body)
	}
	b.ShowPart(testFeed, Fetched{Body: []byte(`<feed xmlns="http://www.w3.org/2005/Atom"/>`), At: b.now})
	if body := b.get().Body.String(); !strings.Contains(body, "<guid>3<") {
		t.Errorf("what did not fit is served:\n%s", body)
	}
	if h := sent(); h.Get("A-IM") != "" || h.Get("If-None-Match") != "" {
		t.Errorf("what did not fit: asked with %v", h)
	}
	b.take(rssOf("4", "3"))
	if h := sent(); h.Get("A-IM") != "feed" {
		t.Errorf("whole again: asked with %v", h)
	}
}
