package document

import (
	"iter"
	"net/http"
	"net/url"
	"strings"

	"github.com/feedring/feedring/internal/origin/htmltext"
)

// NoMirrorsLink is the target of a feed's rel="feedring" by which it says that it
// shall not be mirrored. It stands beside the one that names a peer.
const NoMirrorsLink = "feedring:no"

// named takes a link of the feed itself in, by its rel.
func (d *Document) named(location *url.URL, rel, href string) {
	switch rel {
	case "feedring":
		if strings.EqualFold(strings.TrimSpace(href), NoMirrorsLink) {
			d.NoMirrors = true
			return
		}
		d.Feedring = htmltext.Cut(href, maxLink)
	case "hub":
		if d.Hub == "" {
			d.Hub = absolute(location, href)
		}
	case "self":
		d.Self = absolute(location, href)
	}
}

// fromHeader takes the links of an answer's header in, which come before those
// of the document (WebSub, section 4).
func (d *Document) fromHeader(location *url.URL, h http.Header) {
	hub, self := linked(h, "hub"), linked(h, "self")
	if hub = absolute(location, hub); hub != "" {
		d.Hub = hub
	}
	if self = absolute(location, self); self != "" {
		d.Self = self
	}
}

// Linked lists the targets of Link headers (RFC 8288), each with its parameters
// as they are written.
func Linked(h http.Header) iter.Seq2[string, string] {
	return func(yield func(target, parameters string) bool) {
		for _, line := range h.Values("Link") {
			for len(line) > 0 {
				var target, parameters string
				var ok bool
				if _, line, ok = strings.Cut(line, "<"); !ok {
					break
				}
				if target, line, ok = strings.Cut(line, ">"); !ok {
					break
				}
				if parameters, line = untilComma(line); !yield(target, parameters) {
					return
				}
			}
		}
	}
}

// linked returns the first target with a rel.
func linked(h http.Header, rel string) string {
	for target, parameters := range Linked(h) {
		if hasRel(parameters, rel) {
			return target
		}
	}
	return ""
}

// untilComma cuts at the first comma outside of quotes.
func untilComma(s string) (before, after string) {
	quoted := false
	for i := range len(s) {
		switch {
		case s[i] == '"':
			quoted = !quoted
		case s[i] == ',' && !quoted:
			return s[:i], s[i+1:]
		}
	}
	return s, ""
}

func hasRel(parameters, rel string) bool {
	for p := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(p), "=")
		if !strings.EqualFold(strings.TrimSpace(name), "rel") {
			continue
		}
		for word := range strings.FieldsSeq(strings.Trim(strings.TrimSpace(value), `"`)) {
			if strings.EqualFold(word, rel) {
				return true
			}
		}
	}
	return false
}
