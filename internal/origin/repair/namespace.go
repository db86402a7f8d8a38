package repair

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
)

const (
	atom10 = "http://www.w3.org/2005/Atom"
	atom03 = "http://purl.org/atom/ns#"
)

var declares = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\sxmlns(?::([\w.-]+))?\s*=\s*("[^"<]*"|'[^'<]*')`)
})

// mendAtom gives a feed whose root begins at a place Atom's namespace, where it
// has another: with https, in small letters, with a slash or of a draft. The
// parser finds no entry in such a feed.
func mendAtom(text []byte, at int) []byte {
	name := string(TagName(text[at+1:]))
	prefix, local, ok := strings.Cut(name, ":")
	if !ok {
		prefix, local = "", name
	}
	if text[at] != '<' || !strings.EqualFold(local, "feed") {
		return text
	}
	end, _, _ := (&xmlScan{text: text}).tagEnd(at + 1 + len(name))
	if end < 0 {
		return text
	}
	tag := text[at:end]
	for _, m := range declares().FindAllSubmatch(tag, maxAttrs) {
		space := strings.TrimSpace(string(m[2][1 : len(m[2])-1]))
		if string(m[1]) != prefix || space == "" || space == atom10 || space == atom03 {
			continue
		}
		right := atom10
		if bytes.Contains(tag, []byte(`version="0.3"`)) || bytes.Contains(tag, []byte(`version='0.3'`)) {
			right = atom03
		}
		mended := bytes.Replace(m[0], m[2], []byte(`"`+right+`"`), 1)
		return bytes.Replace(text, m[0], mended, -1) // entries may say it again
	}
	return text
}
