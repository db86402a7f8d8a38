package match

import (
	"strings"

	"golang.org/x/net/html"
)

// maxHTML is how much of a document is read, in bytes: more than any entry has.
const maxHTML = 1 << 20

// PlainText returns the text of an HTML fragment as a reader sees it: entities
// decoded, scripts and styles left out, a space where an element breaks the
// line. Elements within a line join what they touch: H<sub>2</sub>O is H2O.
func PlainText(s string) string {
	s = clip(s, maxHTML)
	if strings.IndexByte(s, '<') < 0 && strings.IndexByte(s, '&') < 0 {
		return s
	}
	z := html.NewTokenizer(strings.NewReader(s))
	var b strings.Builder
	hidden := false
	for {
		switch kind := z.Next(); kind {
		case html.ErrorToken: // the end; the reader itself cannot fail
			return b.String()
		case html.TextToken:
			if !hidden {
				b.Write(z.Text())
			}
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			name, _ := z.TagName()
			hidden = kind == html.StartTagToken && isHidden(string(name))
			if !isInline(string(name)) {
				b.WriteByte(' ')
			}
		}
	}
}

// isHidden names the elements whose text is not shown. To the tokenizer that
// text is one token, so what follows it is shown again.
func isHidden(name string) bool {
	switch name {
	case "script", "style", "noscript", "iframe", "noembed", "noframes":
		return true
	}
	return false
}

func isInline(name string) bool {
	switch name {
	case "a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "del", "dfn", "em", "font", "i", "ins", "kbd",
		"mark", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "tt", "u", "var", "wbr":
		return true
	}
	return false
}

// hasMarkup reports whether a text that should be plain has tags after all. A
// lone "<", as in x < y, is none.
func hasMarkup(s string) bool {
	for i := range len(s) - 1 {
		if s[i] != '<' {
			continue
		}
		c := s[i+1] | 0x20 // letters in lower case; '/' stays
		if 'a' <= c && c <= 'z' || c == '/' || s[i+1] == '!' {
			return strings.IndexByte(s[i:], '>') > 0
		}
	}
	return false
}
