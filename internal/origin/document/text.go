package document

import (
	"fmt"
	"html"
	"strings"
	"unicode/utf8"

	xhtml "golang.org/x/net/html"
)

// plain returns the text of an HTML fragment: no tags, no scripts, entities
// decoded, white space folded.
func plain(fragment string) string {
	if !strings.ContainsAny(fragment, "<&") {
		return fold(fragment)
	}
	var out strings.Builder
	z := xhtml.NewTokenizer(strings.NewReader(fragment))
	hidden := false
	for {
		switch z.Next() {
		case xhtml.ErrorToken:
			return fold(out.String())
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
func hasMarkup(s string) bool {
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
func textToHTML(s string) string {
	return strings.ReplaceAll(html.EscapeString(strings.TrimSpace(s)), "\n", "<br>\n")
}

// overrides show a line in another order than it is written. Prose of no language
// needs them, as that of some does the marks, embeddings and isolates.
var overrides = strings.NewReplacer("\u202d", "", "\u202e", "")

// fold joins the words of s, a text of one line, by single spaces.
func fold(s string) string {
	return strings.Join(strings.Fields(overrides.Replace(clean(s))), " ")
}

// clean leaves out the control characters that Convert could not see, because
// escapes of JSON or references of HTML stood for them.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if !legal(r) || r >= 0x7f && r < 0xa0 && r != '\u0085' { // XML discourages these, but for the line's end
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// cut returns at most limit bytes of s, whole characters only.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// cutWords is cut at the end of a word, with a mark that something is missing.
func cutWords(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	s = cut(s, limit-len("…"))
	if space := strings.LastIndexByte(s, ' '); space > len(s)/2 {
		s = s[:space]
	}
	return s + "…"
}

// cutHTML is cut outside of a tag and of an entity.
func cutHTML(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	s = cut(s, limit)
	if open := strings.LastIndexByte(s, '<'); open > strings.LastIndexByte(s, '>') {
		s = s[:open]
	}
	if amp := strings.LastIndexByte(s, '&'); amp >= len(s)-10 && amp > strings.LastIndexByte(s, ';') {
		s = s[:amp]
	}
	return s
}

func clip(s string) string { return cutWords(fold(cut(s, 400)), 80) }

// OneLine makes s, part of which a stranger wrote, one short line for people.
func OneLine(s string) string { return cutWords(fold(s), 300) }

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
