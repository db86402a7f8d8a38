package discover

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

func links(body string, header ...string) []Link {
	h := http.Header{}
	for _, line := range header {
		h.Add("Link", line)
	}
	return Page{Location: "https://site.example/dir/page", Header: h, Body: []byte(body)}.Links()
}

func addresses(links []Link) (all []string) {
	for _, l := range links {
		all = append(all, l.URL)
	}
	return all
}

const rss, atom = ` type="application/rss+xml"`, ` type="application/atom+xml"`

func TestLinks(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		want []string
	}{
		"absolute":             {`<link rel="alternate"` + rss + ` href="https://other.example/feed">`, []string{"https://other.example/feed"}},
		"relative":             {`<link rel=alternate` + atom + ` href=feed.xml>`, []string{"https://site.example/dir/feed.xml"}},
		"a host":               {`<link rel="alternate"` + rss + ` href="//feeds.example/x">`, []string{"https://feeds.example/x"}},
		"a base":               {`<base href="/blog/"><base href="/no/"><link rel="alternate"` + rss + ` href="feed">`, []string{"https://site.example/blog/feed"}},
		"references":           {`<link rel="alternate"` + rss + ` href="/f?a=1&amp;b=2">`, []string{"https://site.example/f?a=1&b=2"}},
		"capitals":             {`<LINK REL="ALTERNATE" TYPE="Application/RSS+XML; charset=utf-8" HREF="/f">`, []string{"https://site.example/f"}},
		"an older way":         {`<link rel="feed" href="/f">`, []string{"https://site.example/f"}},
		"in the body":          {`<body><p>x</p><link rel="alternate"` + rss + ` href="/f"/></body>`, []string{"https://site.example/f"}},
		"twice":                {strings.Repeat(`<link rel="alternate"`+rss+` href="/f">`, 2), []string{"https://site.example/f"}},
		"a language":           {`<link rel="alternate" hreflang="de" href="/de">`, nil},
		"an API":               {`<link rel="alternate" type="application/json" href="/wp-json">`, nil},
		"oEmbed":               {`<link rel="alternate" type="application/json+oembed" href="/o">`, nil},
		"a style":              {`<link rel="stylesheet"` + rss + ` href="/s">`, nil},
		"a comment":            {`<!-- <link rel="alternate"` + rss + ` href="/f"> -->`, nil},
		"in a script":          {`<script>"<link rel='alternate'` + rss + ` href='/f'>"</script>`, nil},
		"no web":               {`<link rel="alternate"` + rss + ` href="javascript:x"><link rel="alternate"` + rss + ` href="file:///etc/passwd">`, nil},
		"nothing":              {`<link rel="alternate"` + rss + ` href="">`, nil},
		"very long":            {`<link rel="alternate"` + rss + ` href="/` + strings.Repeat("x", 10_000) + `">`, nil},
		"behind the last byte": {strings.Repeat(" ", maxPage) + `<link rel="alternate"` + rss + ` href="/f">`, nil},
	} {
		if got := addresses(links(c.body)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestLinksOfTheHeader(t *testing.T) {
	got := links(`<link rel="alternate"`+atom+` href="/b">`,
		`</style>; rel=preload; as=style, </a>; rel="alternate"; type="application/rss+xml"; title="A, the feed"`, `</hub>; rel=hub`)
	if !slices.Equal(addresses(got), []string{"https://site.example/a", "https://site.example/b"}) || got[0].Title != "A, the feed" {
		t.Errorf("%+v", got)
	}
}

func TestLinksAreBounded(t *testing.T) {
	var page strings.Builder
	for i := range 2_000 {
		fmt.Fprintf(&page, `<link rel="alternate"%s href="/%d" title="%s">`, rss, i, strings.Repeat("é\x1b", 300))
	}
	got := links(page.String())
	if len(got) != maxLinks || len([]rune(got[0].Title)) != maxTitle || strings.Contains(got[0].Title, "\x1b") {
		t.Errorf("%d links, %q", len(got), got[0].Title)
	}
}

func TestChoice(t *testing.T) {
	link := func(url, title, kind string) Link {
		return Link{"https://s.example/" + url, title, "application/" + kind}
	}
	for name, c := range map[string]struct {
		links []Link
		want  []string
	}{
		"none":      {nil, nil},
		"one":       {[]Link{link("a", "", "rss+xml")}, []string{"https://s.example/a"}},
		"WordPress": {[]Link{link("feed/", "Site » Feed", "rss+xml"), link("comments/feed/", "Site » Comments Feed", "rss+xml")}, []string{"https://s.example/feed/"}},
		"twins":     {[]Link{link("r", "Site (RSS 2.0)", "rss+xml"), link("a", "Site (Atom 1.0)", "atom+xml"), link("j", "Site JSON Feed", "feed+json")}, []string{"https://s.example/a"}},
		"no titles": {[]Link{link("r", "", "rss+xml"), link("a", "", "atom+xml")}, []string{"https://s.example/a"}},
		"two":       {[]Link{link("news", "News", "rss+xml"), link("sport", "Sport", "rss+xml")}, []string{"https://s.example/news", "https://s.example/sport"}},
		"two formats of two": {
			[]Link{link("news", "News", "rss+xml"), link("sport", "Sport", "rss+xml"), link("n", "News", "atom+xml")},
			[]string{"https://s.example/n", "https://s.example/sport"},
		},
		"only comments": {[]Link{link("c", "Comments on: x", "rss+xml")}, []string{"https://s.example/c"}},
	} {
		if got := addresses(Main(c.links)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
