package document

import (
	"net/url"
	"strings"

	xhtml "golang.org/x/net/html"
)

const maxLink = 4 << 10 // bytes; longer ones are left out

// lineBreaks are not part of an address that was wrapped; browsers drop them.
var lineBreaks = strings.NewReplacer("\n", "", "\r", "", "\t", "")

// absolute resolves a link against base. It returns "" for what is not http or
// https.
func absolute(base *url.URL, link string) string {
	link = lineBreaks.Replace(strings.TrimSpace(link))
	if link == "" || len(link) > maxLink {
		return ""
	}
	u, err := url.Parse(link)
	if err != nil {
		return ""
	}
	if base != nil && !u.IsAbs() {
		u = base.ResolveReference(u)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return ""
	}
	return u.String()
}

// baseOf is what relative links of a feed are relative to: its site's address,
// else its own.
func baseOf(location, link string) *url.URL {
	document, err := url.Parse(location)
	if err != nil {
		return nil
	}
	if site := absolute(document, link); site != "" {
		if u, err := url.Parse(site); err == nil {
			return u
		}
	}
	return document
}

// absoluteHTML makes the links and images of an HTML fragment absolute, and
// leaves every other byte of it alone.
func absoluteHTML(base *url.URL, fragment string) string {
	if base == nil || !strings.Contains(fragment, "=") {
		return fragment
	}
	var out strings.Builder
	z := xhtml.NewTokenizer(strings.NewReader(fragment))
	for {
		switch z.Next() {
		case xhtml.ErrorToken:
			out.Write(z.Raw())
			return out.String()
		case xhtml.StartTagToken, xhtml.SelfClosingTagToken:
			raw := string(z.Raw()) // Token reads it to its end
			if token := z.Token(); resolveAttrs(base, token.Attr) {
				raw = token.String()
			}
			out.WriteString(raw)
		default:
			out.Write(z.Raw())
		}
	}
}

func resolveAttrs(base *url.URL, attrs []xhtml.Attribute) (changed bool) {
	for i, a := range attrs {
		if a.Key != "href" && a.Key != "src" && a.Key != "poster" || a.Val == "" || a.Val[0] == '#' {
			continue
		}
		if u, err := url.Parse(strings.TrimSpace(a.Val)); err == nil && !u.IsAbs() {
			attrs[i].Val = base.ResolveReference(u).String()
			changed = true
		}
	}
	return changed
}
