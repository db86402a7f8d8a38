package repair

import (
	"bytes"
	"encoding/base64"
	"regexp"
	"strings"
	"sync"

	"github.com/feedring/feedring/internal/origin/htmltext"
)

var (
	inBase64 = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\smode\s*=\s*["']base64["']`)
	})
	ofText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\stype\s*=\s*["'](?:text/|x?html["'])`)
	})
)

// mayBeLiteral is cheap, and true of all that literal changes.
func mayBeLiteral(text []byte) bool {
	has := func(s string) bool { return bytes.Contains(text, []byte(s)) }
	return has(`"base64"`) || has(`'base64'`) || has("www.w3.org/1999/xhtml") && has("body")
}

// literal writes the texts that the parser would not read as they are meant, in a
// feed whose root begins at a place, as CDATA: of an item's body its markup, which
// the parser keeps without its order, and what is in base64 by Atom 0.3's mode
// though its type is one of text. The text is within the limits already.
func literal(text []byte, at int) []byte {
	if text[at] != '<' || !mayBeLiteral(text[at:]) {
		return text
	}
	s := &xmlScan{text: text, at: at}
	var out []byte
	from := 0
	for s.next() {
		tag, depth := s.at, s.depth
		if s.markup() != nil {
			return text
		}
		if s.depth <= depth {
			continue
		}
		read := s.literalOf(text[tag:s.at])
		if read == nil {
			continue
		}
		begin := s.at
		end := s.close(depth)
		if end < 0 {
			break
		}
		if meant, ok := read(text[begin:end]); ok && len(meant) <= maxToken {
			out = append(append(out, text[from:begin]...), cdata(meant)...)
			from = end
		}
	}
	if from == 0 {
		return text
	}
	return append(out, text[from:]...)
}

// next goes to the next "<".
func (s *xmlScan) next() bool {
	length := bytes.IndexByte(s.text[s.at:], '<')
	s.at += max(length, 0)
	return length >= 0
}

// close goes behind the end of the element that was opened at a depth, and tells
// where what is inside ends; -1: it does not, or by the end of another.
func (s *xmlScan) close(depth int) int {
	name := s.open[depth]
	for s.next() {
		end := s.at
		if s.markup() != nil {
			break
		}
		if s.depth <= depth {
			if s.depth == depth && bytes.Equal(TagName(s.text[end+2:s.at]), name) {
				return end
			}
			break
		}
	}
	return -1
}

// literalOf is how to read the text of the element that was just opened by a
// tag; nil: as any.
func (s *xmlScan) literalOf(tag []byte) func(inner []byte) (string, bool) {
	local := func(name []byte) string { return string(name[bytes.IndexByte(name, ':')+1:]) }
	switch {
	case s.depth >= 2 && local(s.open[s.depth-1]) == "body" && local(s.open[s.depth-2]) == "item":
		return func(inner []byte) (string, bool) {
			return string(inner), bytes.IndexByte(inner, '<') >= 0 && !bytes.Contains(inner, []byte("<![CDATA["))
		}
	case bytes.Contains(tag, []byte("base64")) && inBase64().Match(tag) && ofText().Match(tag):
		return decodeBase64
	}
	return nil
}

func decodeBase64(inner []byte) (string, bool) {
	packed := strings.TrimRight(strings.Join(strings.Fields(string(inner)), ""), "=")
	text, err := base64.RawStdEncoding.DecodeString(packed)
	return htmltext.Clean(string(text)), err == nil
}
