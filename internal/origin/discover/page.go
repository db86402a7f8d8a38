package discover

import (
	"bytes"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/origin/decode"
	"github.com/feedring/feedring/internal/origin/document"
	"github.com/feedring/feedring/internal/origin/htmltext"
)

// Limits of a page: what is behind them is not looked at.
const (
	maxPage  = 1 << 20 // bytes
	maxLinks = 32
	maxTitle = 120 // characters
)

// Link is a feed that a page names.
type Link struct {
	URL   string `json:"url"`
	Title string `json:"title,omitempty"` // one line; empty: none is told
	Type  string `json:"-"`               // without parameters, in lower case
}

// Page is what came for a site's address.
type Page struct {
	Location string // where it came from, redirects followed
	Header   http.Header
	Body     []byte // decompressed
}

// types are those of feeds. That of all JSON is none: sites name their API by it.
var types = []string{
	"application/atom+xml", "application/rss+xml", "application/feed+json", "application/rdf+xml", "text/rss", "text/rss+xml", "text/atom+xml",
}

// Links lists the feeds that a page names, in its order, each address once.
func (p Page) Links() []Link {
	f := finder{}
	f.base, _ = url.Parse(p.Location)
	for target, parameters := range document.Linked(p.Header) {
		f.take(target, parameter(parameters, "rel"), parameter(parameters, "type"), parameter(parameters, "title"))
	}
	text, err := decode.Convert(p.Body[:min(len(p.Body), maxPage)], p.Header.Get("Content-Type"))
	if err == nil {
		f.read(text)
	}
	return f.links
}

// finder gathers links.
type finder struct {
	base  *url.URL
	based bool // by the page's own base
	links []Link
}

func (f *finder) read(text []byte) {
	z := html.NewTokenizer(bytes.NewReader(text))
	for len(f.links) < maxLinks {
		switch z.Next() {
		case html.ErrorToken:
			return
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			if tag := string(name); more && (tag == "link" || tag == "base") {
				f.tag(tag, z)
			}
		}
	}
}

func (f *finder) tag(name string, z *html.Tokenizer) {
	attrs := make(map[string]string)
	for more := true; more; {
		var key, value []byte
		key, value, more = z.TagAttr()
		if _, there := attrs[string(key)]; !there {
			attrs[string(key)] = string(value)
		}
	}
	if name == "link" {
		f.take(attrs["href"], attrs["rel"], attrs["type"], attrs["title"])
		return
	}
	base, err := url.Parse(strings.TrimSpace(attrs["href"]))
	if err == nil && attrs["href"] != "" && !f.based && f.base != nil {
		f.base, f.based = f.base.ResolveReference(base), true
	}
}

// take keeps a link that is one to a feed of the web.
func (f *finder) take(href, rel, kind, title string) {
	rels := strings.Fields(strings.ToLower(rel))
	kind, _, _ = mime.ParseMediaType(kind)
	alternate := slices.Contains(rels, "alternate") && slices.Contains(types, kind)
	if !alternate && !slices.Contains(rels, "feed") || f.base == nil || len(f.links) >= maxLinks {
		return
	}
	target, err := url.Parse(strings.TrimSpace(href))
	if err != nil || href == "" {
		return
	}
	address, err := feedring.ParseFeedURL(f.base.ResolveReference(target).String())
	if err != nil || slices.ContainsFunc(f.links, func(l Link) bool { return l.URL == address }) {
		return
	}
	if runes := []rune(htmltext.OneLine(title)); len(runes) > 0 {
		title = string(runes[:min(len(runes), maxTitle)])
	}
	f.links = append(f.links, Link{URL: address, Title: title, Type: kind})
}

// parameter is a parameter of a Link header; empty where it has none.
func parameter(parameters, name string) string {
	for p := range strings.SplitSeq(parameters, ";") {
		key, value, _ := strings.Cut(p, "=")
		if strings.EqualFold(strings.TrimSpace(key), name) {
			return strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	return ""
}
