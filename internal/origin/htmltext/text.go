// Package htmltext reads and cuts text and fragments of HTML that strangers wrote.
package htmltext

import (
	"html"
	"strings"
	"unicode/utf8"

	xhtml "golang.org/x/net/html"
)

// plain returns the text of an HTML fragment: no tags, no scripts, entities
// decoded, white space folded.
func Plain(fragment string) string {
	if !strings.ContainsAny(fragment, "<&") {
		return Fold(fragment)
	}
	var out strings.Builder
	z := xhtml.NewTokenizer(strings.NewReader(fragment))
	hidden := false
	for {
		switch z.Next() {
		case xhtml.ErrorToken:
			return Fold(out.String())
		case xhtml.TextToken:
			if !hidden {
				out.Write(z.Text())
			}
		case xhtml.StartTagToken, xhtml.SelfClosingTagToken, xhtml.EndTagToken:
			start := z.Raw()[1] != '/'
			name, _ := z.TagName()
			hidden = start && (string(name) == "script" || string(name) == "style")
			if !inline[string(name)] {
				out.WriteByte(' ')
			}
		}
	}
}

// inline are the elements that part no words.
var inline = map[string]bool{
	"a": true, "abbr": true, "b": true, "big": true, "cite": true, "code": true, "em": true, "font": true,
	"i": true, "ins": true, "del": true, "mark": true, "q": true, "s": true, "small": true, "span": true,
	"strong": true, "sub": true, "sup": true, "tt": true, "u": true, "wbr": true,
}

// hasMarkup reports whether s is HTML and not just text with entities.
func HasMarkup(s string) bool {
	for at := strings.IndexByte(s, '<'); at >= 0 && at+1 < len(s); {
		if c := s[at+1]; c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '/' || c == '!' {
			return true
		}
		next := strings.IndexByte(s[at+1:], '<')
		if next < 0 {
			return false
		}
		at += 1 + next
	}
	return false
}

// textToHTML makes HTML that shows s as it is written.
func FromText(s string) string {
	return strings.ReplaceAll(html.EscapeString(strings.TrimSpace(s)), "\n", "<br>\n")
}

// overrides show a line in another order than it is written. Prose of no language
// needs them, as that of some does the marks, embeddings and isolates.
var overrides = strings.NewReplacer("\u202d", "", "\u202e", "")

// fold joins the words of s, a text of one line, by single spaces.
func Fold(s string) string {
	return strings.Join(strings.Fields(overrides.Replace(Clean(s))), " ")
}

// clean leaves out the control characters that Convert could not see, because
// escapes of JSON or references of HTML stood for them.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		if !Legal(r) || r >= 0x7f && r < 0xa0 && r != '\u0085' { // XML discourages these, but for the line's end
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// cut returns at most limit bytes of s, whole characters only.
func Cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// cutWords is cut at the end of a word, with a mark that something is missing.
func CutWords(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	s = Cut(s, limit-len("…"))
	if space := strings.LastIndexByte(s, ' '); space > len(s)/2 {
		s = s[:space]
	}
	return s + "…"
}

// cutHTML is cut outside of a tag and of an entity.
func CutHTML(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	s = Cut(s, limit)
	if open := strings.LastIndexByte(s, '<'); open > strings.LastIndexByte(s, '>') {
		s = s[:open]
	}
	if amp := strings.LastIndexByte(s, '&'); amp >= len(s)-10 && amp > strings.LastIndexByte(s, ';') {
		s = s[:amp]
	}
	return s
}

// Clip makes s, part of which a stranger wrote, a piece of one line for an error:
// at most 80 bytes, cut at a word.
func Clip(s string) string { return CutWords(Fold(Cut(s, 400)), 80) }

// OneLine makes s, part of which a stranger wrote, one short line for people.
func OneLine(s string) string { return CutWords(Fold(s), 300) }

// Legal reports whether XML 1.0 allows a character. JSON forbids the same ones
// where they stand bare.
func Legal(r rune) bool {
	return r >= ' ' && r != 0xfffe && r != 0xffff || r == '\t' || r == '\n' || r == '\r'
}
