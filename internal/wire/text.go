package wire

import (
	"strings"
	"unicode/utf8"
)

// cutText returns s as valid UTF-8 of at most most bytes.
func cutText(s string, most int) string {
	if len(s) > most {
		for most > 0 && !utf8.RuneStart(s[most]) {
			most--
		}
		s = s[:most]
	}
	if utf8.ValidString(s) {
		return s
	}
	// The sign for what cannot be read takes three bytes, so none is used.
	return strings.ToValidUTF8(s, "")
}

// cutHTML is cutText that does not leave half a tag.
func cutHTML(s string, most int) string {
	if len(s) <= most {
		return cutText(s, most)
	}
	s = cutText(s, most)
	if open := strings.LastIndexByte(s, '<'); open > strings.LastIndexByte(s, '>') {
		s = s[:open]
	}
	return s
}
