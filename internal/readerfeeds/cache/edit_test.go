package cache

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mmcdole/gofeed"

	"github.com/feedring/feedring/internal/origin/decode"
	"github.com/feedring/feedring/internal/origin/document"
)

const (
	testHub  = "https://peer.example/hub"
	testSelf = "https://peer.example/f/a.example/feed?a=1&b=2"
)

func link(body string) (string, bool) {
	charset := decode.Charset([]byte(body), "")
	l := layOut([]byte(body), charset)
	out, ok := l.linked([]byte(body), charset, testHub, testSelf)
	return string(out), ok
}

// TestLinksAreAdded says what is added, and that nothing else is changed.
func TestLinksAreAdded(t *testing.T) {
	const ns = ` xmlns:atom="http://www.w3.org/2005/Atom"`
	const href = `https://peer.example/f/a.example/feed?a=1&amp;b=2`
	for name, tt := range map[string]struct{ before, added, after string }{
		"rss": {
			`<?xml version="1.0" encoding="ISO-8859-1"?><rss version="2.0"><channel>`,
			`<atom:link` + ns + ` rel="hub" href="` + testHub + `"/><atom:link` + ns + ` rel="self" href="` + href + `" type="application/rss+xml"/>`,
			"<title>caf\xe9</title><item><title>1</title></item></channel></rss>\n",
		},
		"rss with the prefix": {
			`<rss version="2.0"` + ns + `><channel >`,
			`<atom:link rel="hub" href="` + testHub + `"/>`,
			`<atom:link rel="self" href="https://a.example/feed"/><item/></channel></rss>`,
		},
		"rss that means something else by the prefix": {
			`<rss version="2.0" xmlns:atom="urn:x"><channel>`,
			`<atom:link` + ns + ` rel="hub" href="` + testHub + `"/><atom:link` + ns + ` rel="self" href="` + href + `" type="application/rss+xml"/>`,
			`<item><atom:link rel="self" href="x"/></item></channel></rss>`,
		},
		"atom": {
			"\xef\xbb\xbf<?xml version='1.0'?>\n<!-- <feed> --><feed\n xmlns='http://www.w3.org/2005/Atom'>",
			`<link rel="hub" href="` + testHub + `"/><link rel="self" href="` + href + `" type="application/atom+xml"/>`,
			`<entry><link rel="hub" href="https://x.example/"/></entry></feed>`,
		},
		"atom with a prefix": {
			`<a:feed xmlns:a="http://www.w3.org/2005/Atom">`,
			`<a:link rel="self" href="` + href + `" type="application/atom+xml"/>`,
			`<a:link rel="hub" href="` + testHub + `"/></a:feed>`,
		},
		"json": {
			` {`, `"feed_url":"https://peer.example/f/a.example/feed?a=1\u0026b=2","hubs":[{"type":"WebSub","url":"` + testHub + `"}],`,
			`"version":"https://jsonfeed.org/version/1.1","items":[{"id":"}],"}]}`,
		},
		"json with hubs": {
			`{"feed_url":"https://a.example/f.json","items":[],"hubs" : [`, `{"type":"WebSub","url":"` + testHub + `"},`,
			` {"type":"WebSub","url":"https://other.example/"}]}`,
		},
		"json with no hubs": {`{"items":[],"feed_url":"x","hubs":[`, `{"type":"WebSub","url":"` + testHub + `"}`, `]}`},
	} {
		got, ok := link(tt.before + tt.after)
		if !ok || got != tt.before+tt.added+tt.after {
			t.Errorf("%s: %t\n%q\nwant\n%q", name, ok, got, tt.before+tt.added+tt.after)
		}
		if again, ok := link(got); !ok || again != got {
			t.Errorf("%s: links are added again:\n%q", name, again)
		}
		if strings.HasPrefix(tt.before, " {") {
			continue
		}
		if _, err := gofeed.NewParser().ParseString(got); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestUnsafeDocumentsStayAsTheyCame: what a strict parser does not take, or
// where bytes may mean something else, is not touched.
func TestUnsafeDocumentsStayAsTheyCame(t *testing.T) {
	for name, body := range map[string]string{
		"truncated":        `<rss><channel><item>`,
		"an entity":        `<!DOCTYPE rss [<!ENTITY x "y">]><rss><channel>&x;</channel></rss>`,
		"crossed":          `<rss><channel><item></channel></item></rss>`,
		"no channel":       `<rss></rss>`,
		"an empty channel": `<rss><channel/></rss>`,
		"two channels":     `<rss><channel></channel><channel></channel></rss>`,
		"rdf":              `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><item/></rdf:RDF>`,
		"atom 0.3":         `<feed version="0.3" xmlns="http://purl.org/atom/ns#"></feed>`,
		"japanese":         "<?xml version='1.0' encoding='iso-2022-jp'?><rss><channel><title>\x1b$B<;\x1b(B</title></channel></rss>",
		"utf-16":           "\xff\xfe<\x00r\x00s\x00s\x00>\x00",
		"html":             `<html><body></body></html>`,
		"json without":     `{"version":"x"}`,
		"json twice":       `{"items":[],"items":[]}`,
		"json cut":         `{"items":[`,
		"json strange":     `{"items":[],"hubs":7}`,
		"json list":        `[]`,
		"nothing":          ``,
	} {
		if got, ok := link(body); ok || got != body {
			t.Errorf("%s: %t %q", name, ok, got)
		}
	}
}

func TestOnlySomeEntries(t *testing.T) {
	for _, tt := range []struct{ body, want string }{
		{`<rss><channel><title/><item>1</item> <item>2</item><item/></channel></rss>`, `<rss><channel><title/> <item>2</item></channel></rss>`},
		{`{"a":1,"items":[{"id":"1"} , {"id":"2"},{"id":"3"}],"b":2}`, `{"a":1,"items":[{"id":"2"}],"b":2}`},
	} {
		l := layOut([]byte(tt.body), decode.UTF8)
		if got := l.only([]byte(tt.body), func(i int) bool { return i == 1 }); string(got) != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}

// TestRealFeedsAreTheSameButForTheirLinks holds what real feeds become against
// what they were, by a parser that is not this room's.
func TestRealFeedsAreTheSameButForTheirLinks(t *testing.T) {
	files, _ := filepath.Glob("../../../shared/feeds/corpus/*")
	if len(files) == 0 {
		t.Skip("no feeds in ../shared/feeds/corpus")
	}
	linked, tried := 0, 0
	for i, name := range files {
		body, err := os.ReadFile(name)
		if err != nil || len(body) > 1<<20 || i%4 != 0 { // enough of them, in a tenth of a minute
			continue
		}
		before, err := document.Parse(document.Source{URL: "https://a.example/"}, body)
		if err != nil {
			continue
		}
		tried++
		charset := decode.Charset(body, "")
		l := layOut(body, charset)
		got, ok := l.linked(body, charset, testHub, testSelf)
		if ok {
			linked++
		}
		after, err := document.Parse(document.Source{URL: "https://a.example/"}, got)
		if err != nil || len(after.Items) != len(before.Items) || after.Title != before.Title {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i := range after.Items {
			if after.Items[i].Hash != before.Items[i].Hash {
				t.Errorf("%s: entry %d differs", name, i)
			}
		}
	}
	if linked < tried*3/4 {
		t.Errorf("only %d of %d were given links", linked, tried)
	}
}

func FuzzLinked(f *testing.F) {
	f.Add([]byte(`<rss><channel><item/></channel></rss>`))
	f.Add([]byte(`<feed xmlns="http://www.w3.org/2005/Atom"><entry/></feed>`))
	f.Add([]byte(`{"items":[{}],"hubs":[]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		charset := decode.Charset(body, "")
		l := layOut(body, charset)
		got, ok := l.linked(body, charset, testHub, testSelf)
		if !ok && string(got) != string(body) {
			t.Fatal("changed, and said that it was not")
		}
		for _, s := range l.items {
			if s.from < 0 || s.to < s.from || s.to > len(body) {
				t.Fatalf("item at %v of %d", s, len(body))
			}
		}
		part := l.only(body, func(int) bool { return false })
		if len(l.items) > 0 && l.format != jsonFeed && xml.Unmarshal(part, new(struct{})) == nil && len(layOut(part, charset).items) != 0 {
			t.Fatalf("items are left in %q", part)
		}
	})
}
