package document

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/feedring/feedring/internal/origin/decode"
	"github.com/feedring/feedring/internal/origin/failure"
	"github.com/feedring/feedring/internal/origin/htmltext"
	"github.com/feedring/feedring/internal/origin/repair"
	"golang.org/x/net/html"
)

// findFeed returns where the root element of a UTF-8 text begins, or an error
// that says what the text is instead of a feed.
func findFeed(text []byte, header http.Header) (int, error) {
	trimmed := bytes.TrimSpace(text)
	switch {
	case len(trimmed) == 0:
		return 0, failure.New(failure.KindEmpty, "the document is empty")
	case trimmed[0] == '{':
		if !bytes.Contains(trimmed, []byte(`"items"`)) {
			return 0, failure.New(failure.KindNotAFeed, "not a feed: a JSON document without items")
		}
		return 0, nil
	case trimmed[0] != '<':
		return 0, failure.New(failure.KindNotAFeed, "not a feed: text that begins with %q", htmltext.Clip(string(cutBytes(trimmed, 400))))
	}
	name, at := root(text)
	switch local := strings.ToLower(name[strings.IndexByte(name, ':')+1:]); {
	case local == "rss" || local == "rdf" || local == "feed" || local == "channel":
		return at, nil
	case local == "html" || local == "head" || local == "body" || saysHTML(trimmed):
		return 0, &failure.Error{Kind: failure.KindNotAFeed, Detail: "not a feed: " + describePage(trimmed, header), Page: true, Challenge: challenger(trimmed[:min(len(trimmed), 64<<10)], header) != ""}
	case name == "":
		return 0, failure.New(failure.KindTruncated, "the document is truncated at byte %d, before its first element", len(text))
	}
	if what := others[strings.ToLower(name)]; what != "" {
		return 0, failure.New(failure.KindNotAFeed, "not a feed: %s", what)
	}
	return 0, failure.New(failure.KindNotAFeed, "not a feed: an XML document <%s>", htmltext.Clip(name))
}

// saysHTML reports whether a text begins with the declaration of a page.
func saysHTML(text []byte) bool {
	const declaration = "<!doctype"
	if len(text) < len(declaration) || !bytes.EqualFold(text[:len(declaration)], []byte(declaration)) {
		return false
	}
	return bytes.EqualFold(repair.TagName(bytes.TrimLeft(text[len(declaration):], " \t\r\n")), []byte("html"))
}

func cutBytes(b []byte, limit int) []byte { return b[:min(len(b), limit)] }

// root returns the name and place of the first element.
func root(text []byte) (string, int) {
	for at := 0; at < len(text); {
		next := bytes.IndexByte(text[at:], '<')
		if next < 0 {
			break
		}
		at += next
		rest, end := text[at:], ">"
		switch {
		case bytes.HasPrefix(rest, []byte("<!--")):
			end = "-->"
		case bytes.HasPrefix(rest, []byte("<?")):
			end = "?>"
		case bytes.HasPrefix(rest, []byte("<!")):
			if length := bytes.IndexByte(rest, '>'); length > 0 && bytes.IndexByte(rest[:length], '[') >= 0 {
				end = "]>"
			}
		default:
			if name := repair.TagName(rest[1:]); len(name) > 0 {
				return string(name), at
			}
		}
		length := bytes.Index(rest, []byte(end))
		if length < 0 {
			break
		}
		at += length + len(end)
	}
	return "", 0
}

// describePage tells of an HTML page: its title, and whether it is there to
// keep programs out.
func describePage(page []byte, header http.Header) string {
	page = page[:min(len(page), 64<<10)]
	what := "an HTML page"
	if title := pageTitle(page); title != "" {
		what += fmt.Sprintf(" titled %q", title)
	}
	if who := challenger(page, header); who != "" {
		what += "; looks like a challenge page (" + who + ")"
	}
	return what
}

// Challenge describes a page that came with an error status, if it is one made
// to keep programs out; else it returns "".
func Challenge(r io.Reader, header http.Header) string {
	page, err := decode.ReadPrefix(r, header.Get("Content-Encoding"), 64<<10)
	if err != nil || challenger(page, header) == "" {
		return ""
	}
	return describePage(page, header)
}

func pageTitle(page []byte) string {
	z := html.NewTokenizer(bytes.NewReader(page))
	for inTitle := false; ; {
		switch z.Next() {
		case html.ErrorToken:
			return ""
		case html.StartTagToken:
			name, _ := z.TagName()
			inTitle = string(name) == "title"
		case html.TextToken:
			if inTitle {
				return htmltext.Clip(htmltext.Fold(html.UnescapeString(string(z.Raw()))))
			}
		}
	}
}

// challenger names who put up a challenge page.
func challenger(page []byte, header http.Header) string {
	if header.Get("Cf-Mitigated") != "" {
		return "Cloudflare"
	}
	lower := bytes.ToLower(page)
	for _, known := range [...]struct{ mark, who string }{
		{"/cdn-cgi/challenge-platform", "Cloudflare"}, {"cf-chl-", "Cloudflare"}, {"cf_chl_", "Cloudflare"},
		{"attention required! | cloudflare", "Cloudflare"}, {"<title>just a moment...", "Cloudflare"},
		{"ddos-guard", "DDoS-Guard"}, {"_incapsula_", "Imperva"}, {"captcha-delivery.com", "DataDome"},
		{"awswaf", "AWS WAF"}, {"px-captcha", "HUMAN"}, {"/.within.website/", "Anubis"}, {"sgcaptcha", "SiteGround"},
		{"sucuri_cloudproxy", "Sucuri"}, {"checking your browser", "unknown"}, {"captcha", "captcha"},
	} {
		if bytes.Contains(lower, []byte(known.mark)) {
			return known.who
		}
	}
	return ""
}
