package cache

import (
	"bytes"
	"encoding/json"
	"html"
	"slices"
	"strings"
)

// linked returns body with links to hub and self, as far as it has no such, and
// whether both are in it then. An empty link is not wanted.
func (l *layout) linked(body []byte, charset, hub, self string) ([]byte, bool) {
	if l.self != "" {
		self = ""
	}
	if slices.Contains(l.hubs, hub) {
		hub = ""
	}
	switch {
	case hub == "" && self == "":
		return body, true
	case l.insert == 0:
		return body, false
	}
	out := l.addXML(body, hub, self)
	if l.format == jsonFeed {
		out = l.addJSON(body, hub, self)
	}
	// What was written is read again: no document is worse for its links.
	now := layOut(out, charset)
	if len(now.items) != len(l.items) || hub != "" && !slices.Contains(now.hubs, hub) || self != "" && now.self != self {
		return body, false
	}
	return out, true
}

func (l *layout) addXML(body []byte, hub, self string) []byte {
	var b strings.Builder
	for _, link := range [...]struct{ rel, href string }{{"hub", hub}, {"self", self}} {
		if link.href == "" {
			continue
		}
		b.WriteString("<" + l.prefix + "link")
		if !l.bound {
			b.WriteString(` xmlns:atom="` + atomSpace + `"`)
		}
		b.WriteString(` rel="` + link.rel + `" href="` + html.EscapeString(link.href) + `"`)
		if link.rel == "self" {
			b.WriteString(` type="` + mediaTypes[l.format] + `"`)
		}
		b.WriteString("/>")
	}
	return slices.Insert(bytes.Clone(body), l.insert, []byte(b.String())...)
}

func (l *layout) addJSON(body []byte, hub, self string) []byte {
	var front strings.Builder
	if self != "" {
		front.WriteString(`"feed_url":` + quoted(self) + ",")
	}
	object := `{"type":"WebSub","url":` + quoted(hub) + "}"
	if hub != "" && l.hubsAt == 0 {
		front.WriteString(`"hubs":[` + object + "],")
	}
	out := bytes.Clone(body)
	if hub != "" && l.hubsAt > 0 { // behind the front: first, so that the places stay
		if !l.empty {
			object += ","
		}
		out = slices.Insert(out, l.hubsAt, []byte(object)...)
	}
	return slices.Insert(out, l.insert, []byte(front.String())...)
}

func quoted(s string) string {
	text, _ := json.Marshal(s) // a string always can be
	return string(text)
}

// only returns body with those items alone for which keep says so.
func (l *layout) only(body []byte, keep func(i int) bool) []byte {
	var out []byte
	if l.format == jsonFeed {
		var kept [][]byte
		for i, s := range l.items {
			if keep(i) {
				kept = append(kept, body[s.from:s.to])
			}
		}
		out = append(out, body[:l.list.from]...)
		out = append(out, bytes.Join(kept, []byte(","))...)
		return append(out, body[l.list.to:]...)
	}
	at := 0
	for i, s := range l.items {
		if !keep(i) {
			out = append(out, body[at:s.from]...)
			at = s.to
		}
	}
	return append(out, body[at:]...)
}
