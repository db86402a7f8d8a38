package htmltext

import (
	"net/url"
	"strings"

	xhtml "golang.org/x/net/html"
)

// Absolute makes the links and images of an HTML fragment absolute, and
// leaves every other byte of it alone.
func Absolute(base *url.URL, fragment string) string {
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
