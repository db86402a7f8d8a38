package htmltext

import "strings"

// steady leaves out of HTML what is made anew for each answer and no reader
// sees: comments, scripts and styles, and the queries of pictures and sounds, which carry
// signatures that expire.
func Steady(s string) string {
	if !strings.Contains(s, "<") {
		return s
	}
	var out strings.Builder
	out.Grow(len(s))
	for {
		at := strings.IndexByte(s, '<')
		if at < 0 {
			out.WriteString(s)
			return out.String()
		}
		out.WriteString(s[:at])
		s = s[at:]
		switch {
		case strings.HasPrefix(s, "<!--"):
			s = behind(s, "-->")
		case isTag(s, "script"):
			s = behindFold(s, "</script")
		case isTag(s, "style"):
			s = behindFold(s, "</style")
		default:
			end := endOfTag(s)
			tag := s[:end]
			if isTag(s, "img") || isTag(s, "source") || isTag(s, "video") || isTag(s, "audio") {
				tag = withoutQueries(tag)
			}
			out.WriteString(tag)
			s = s[end:]
		}
	}
}

// isTag reports whether s begins with a start tag of a name in lower case.
func isTag(s, name string) bool {
	if len(s) < len(name)+2 || !strings.EqualFold(s[1:1+len(name)], name) {
		return false
	}
	next := s[1+len(name)]
	return next == '>' || next == '/' || next <= ' '
}

// behind is what follows the first mark; nothing where there is none.
func behind(s, mark string) string {
	if at := strings.Index(s, mark); at >= 0 {
		return s[at+len(mark):]
	}
	return ""
}

// behindFold is behind for a mark of ASCII in lower case, whatever the case in s.
func behindFold(s, mark string) string {
	for at := 0; at+len(mark) <= len(s); at++ {
		if s[at] == '<' && strings.EqualFold(s[at:at+len(mark)], mark) {
			return behind(s[at:], ">")
		}
	}
	return ""
}

// endOfTag is where the tag ends that s begins with. A ">" in quotes ends none.
func endOfTag(s string) int {
	quote := byte(0)
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			return i + 1
		}
	}
	return len(s)
}

// withoutQueries cuts the addresses of a tag at their "?".
func withoutQueries(tag string) string {
	var out strings.Builder
	for {
		at := strings.IndexByte(tag, '?')
		if at < 0 {
			out.WriteString(tag)
			return out.String()
		}
		out.WriteString(tag[:at])
		tag = tag[at:]
		if end := strings.IndexAny(tag, " \t\r\n\"'>,"); end >= 0 {
			tag = tag[end:]
		} else {
			tag = ""
		}
	}
}
