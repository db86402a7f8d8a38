package check

import (
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/feedring/feedring/internal/origin/decode"
)

func (p *page) redirects() {
	lasting, down := true, false
	for _, h := range p.Hops {
		if h.Status != http.StatusMovedPermanently && h.Status != http.StatusPermanentRedirect {
			lasting = false
		}
		down = down || strings.HasPrefix(h.From, "https:") && strings.HasPrefix(h.To, "http:")
	}
	led := plural(len(p.Hops), "redirect") + " to " + p.Seen.Location
	switch {
	case len(p.Hops) == 0:
		p.ok("redirects", "none")
	case down:
		p.add("redirects", Fail, "redirect to https, or not at all: readers refuse to go back to http", "%s, over http on the way", led)
	case lasting:
		p.add("redirects", Warn, "name the last address wherever readers find the feed: each poll pays for every redirect", "%s, for good", led)
	default:
		p.add("redirects", Note, "where it is for good, answer 301 or 308: then readers remember it", "%s, for now", led)
	}
}

func (p *page) https() {
	if strings.HasPrefix(p.Seen.Location, "https:") {
		p.ok("https", "yes")
		return
	}
	p.add("https", Warn, "serve it by https and redirect there: on the way anybody can read and change it", "no: it came by http")
}

var rightTypes = map[string][]string{
	"rss":  {"application/rss+xml", "application/rdf+xml", "application/xml", "text/xml"},
	"atom": {"application/atom+xml", "application/xml", "text/xml"},
	"json": {"application/feed+json", "application/json"},
}

func (p *page) contentType() {
	header := p.First.Header.Get("Content-Type")
	kind, _, _ := mime.ParseMediaType(header)
	right := rightTypes[p.feed.FeedType]
	advice := "send Content-Type: " + right[0]
	if !p.isJSON {
		advice += "; charset=utf-8"
	}
	for i, known := range right {
		if kind != known {
			continue
		}
		if i == 0 || known == "application/rdf+xml" {
			p.ok("content-type", "%s", kind)
		} else {
			p.add("content-type", Note, advice+": then programs know a feed from any other document", "%s is right, and says little", kind)
		}
		return
	}
	if header == "" {
		p.add("content-type", Fail, advice, "none: readers have to guess")
		return
	}
	p.add("content-type", Fail, advice, "%s, and it is %s: browsers and strict readers do not take it for a feed", short(header), p.Format)
}

// charset compares what is said of the encoding with what it is.
func (p *page) charset() {
	_, params, _ := mime.ParseMediaType(p.First.Header.Get("Content-Type"))
	told := strings.ToLower(params["charset"])
	is := decode.Charset(p.First.Body, p.First.Header.Get("Content-Type"))
	switch {
	case is == decode.UTF8 && !utf8.Valid(p.First.Body):
		p.add("charset", Fail, "find what writes other bytes into it: pasted text, or a title that is cut within a character", "UTF-8 with bytes that are none")
	case is == "":
		p.add("charset", Note, "write UTF-8: it is smaller, and every reader knows it", "UTF-16 or UTF-32, by its first bytes")
	case p.isJSON && is == decode.UTF8:
		p.ok("charset", "UTF-8, as all JSON")
	case told != "" && !sameCharset(told, is) && !ascii(p.First.Body):
		p.add("charset", Fail, "say charset="+is+" in Content-Type, or leave it out there: it counts more than the document's own declaration",
			"the header says %s, the text is %s", short(told), is)
	case is != decode.UTF8:
		p.add("charset", Warn, "write UTF-8, and say so in the header and the first line", "%s: not every reader knows it", is)
	case told == "" && strings.HasPrefix(p.First.Header.Get("Content-Type"), "text/"):
		p.add("charset", Note, "add ; charset=utf-8: of text/… some programs believe that it is US-ASCII or Latin 1", "UTF-8, and the header does not say so")
	default:
		p.ok("charset", "UTF-8")
	}
}

func sameCharset(told, is string) bool {
	flat := strings.NewReplacer("-", "", "_", "", " ", "")
	return flat.Replace(told) == flat.Replace(is) || is == "windows-1252" && (told == "iso-8859-1" || told == "latin1")
}

func ascii(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func (p *page) compression() {
	coding := strings.ToLower(p.First.Header.Get("Content-Encoding"))
	size := len(p.First.Body)
	switch {
	case coding != "" && coding != "identity":
		detail := "%s: %s instead of %s"
		if !strings.Contains(strings.ToLower(strings.Join(p.First.Header.Values("Vary"), ",")), "accept-encoding") {
			p.add("compression", Note, "send Vary: Accept-Encoding, or a cache may give compressed bytes to who cannot read them",
				detail+", without Vary", coding, amount(p.First.Wire), amount(size))
			return
		}
		p.ok("compression", detail, coding, amount(p.First.Wire), amount(size))
	case size < 1<<10:
		p.ok("compression", "none, and not needed for %s", amount(size))
	case size < 16<<10:
		p.add("compression", Warn, "turn gzip or brotli on for feeds' types at the web server (nginx: gzip_types application/rss+xml …)", "none: each poll costs %s", amount(size))
	default:
		p.add("compression", Fail, "turn gzip or brotli on for feeds' types at the web server (nginx: gzip_types application/rss+xml …): a fifth of it is left", "none: each poll costs %s", amount(size))
	}
}

func (p *page) cookies() {
	if p.First.Header.Get("Set-Cookie") != "" {
		p.add("cookies", Warn, "set none for feeds: caches keep no answer that sets one, and no reader sends it back", "the answer sets a cookie")
	}
}
