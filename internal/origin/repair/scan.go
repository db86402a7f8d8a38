package repair

import (
	"bytes"

	"github.com/feedring/feedring/internal/origin/failure"
	"github.com/feedring/feedring/internal/origin/htmltext"
)

// CheckLimits refuses a UTF-8 document, with a *failure.Error, that would cost a parser too much. It
// reads each byte once, allocates nothing that grows, and judges nothing else:
// what is wrong XML or JSON is for the parser to say.
func CheckLimits(text []byte) error {
	if trimmed := bytes.TrimLeft(text, " \t\r\n"); len(trimmed) > 0 && trimmed[0] == '{' {
		return (&jsonScan{text: text}).run()
	}
	return (&xmlScan{text: text}).run()
}

// closeRoot adds the ">" that the last tag of a document lacks, where it is the
// root's, which begins at a place: then nothing of the feed is missing.
func closeRoot(text []byte, at int) []byte {
	if text[at] != '<' {
		return text
	}
	tail := bytes.TrimRight(text, " \t\r\n")
	name := TagName(text[at+1:])
	if before, ok := bytes.CutSuffix(tail, name); !ok || len(name) == 0 || !bytes.HasSuffix(before, []byte("</")) {
		return text
	}
	return append(tail[:len(tail):len(tail)], '>')
}

// xmlScan walks over the tags of a document as a forgiving parser would.
type xmlScan struct {
	text   []byte
	at     int
	open   [maxDepth + 1][]byte // names of the open elements
	scope  [maxDepth + 1]int    // namespaces declared there and around it
	texts  [maxDepth + 1]int    // bytes of the text of each so far
	depth  int
	items  int
	tags   int   // comments and the like included
	parts  int   // elements and attributes
	work   int64 // of 64 bits everywhere: maxWork is more than an int may hold
	rooted bool
}

func (s *xmlScan) run() error {
	for s.at < len(s.text) {
		next := bytes.IndexByte(s.text[s.at:], '<')
		if next < 0 {
			next = len(s.text) - s.at
		}
		if next > maxToken {
			return tooLong("text")
		}
		s.gather(next)
		if s.at += next; s.at >= len(s.text) {
			break
		}
		if err := s.markup(); err != nil {
			return err
		}
	}
	if s.rooted && s.depth > 0 {
		return failure.New(failure.KindTruncated, "the document is truncated at byte %d, inside <%s>", len(s.text), htmltext.Clip(string(s.open[s.depth-1])))
	}
	return nil
}

// gather counts what it takes to put a text together of all pieces that tags and
// comments part.
func (s *xmlScan) gather(piece int) {
	if piece > 0 {
		s.texts[s.depth] += piece
		s.work += int64(s.texts[s.depth])
	}
}

// markup reads what begins at "<".
func (s *xmlScan) markup() error {
	if s.tags++; s.tags > maxPieces {
		return failure.New(failure.KindTooLarge, "the document has more than %d tags", maxPieces)
	}
	if s.work > maxWork {
		return failure.New(failure.KindTooLarge, "the document takes too long to read, by its namespaces, its dates or the pieces of its texts")
	}
	rest := s.text[s.at:]
	switch {
	case bytes.HasPrefix(rest, []byte("<!--")):
		return s.skip(4, "-->", "comment")
	case bytes.HasPrefix(rest, []byte("<![CDATA[")):
		return s.skip(9, "]]>", "CDATA section")
	case bytes.HasPrefix(rest, []byte("<?")):
		return s.skip(2, "?>", "processing instruction")
	case bytes.HasPrefix(rest, []byte("<!")):
		return s.directive()
	case bytes.HasPrefix(rest, []byte("</")):
		return s.endTag()
	}
	return s.startTag()
}

func (s *xmlScan) skip(head int, end, what string) error {
	length := bytes.Index(s.text[s.at+head:], []byte(end))
	if length < 0 {
		return failure.New(failure.KindTruncated, "the document is truncated at byte %d, inside a %s", len(s.text), what)
	}
	if length > maxToken {
		return tooLong(what)
	}
	if end == "]]>" {
		s.gather(length)
	}
	s.at += head + length + len(end)
	return nil
}

func (s *xmlScan) directive() error {
	length := bytes.IndexByte(s.text[s.at:], '>')
	if length < 0 {
		return failure.New(failure.KindTruncated, "the document is truncated at byte %d, inside a declaration", len(s.text))
	}
	if length > maxToken {
		return tooLong("declaration")
	}
	if bytes.IndexByte(s.text[s.at:s.at+length], '[') >= 0 {
		return failure.New(failure.KindMalformed, "the document declares entities of its own (DOCTYPE with an internal subset), which is not read")
	}
	s.at += length + 1
	return nil
}

func (s *xmlScan) endTag() error {
	length := bytes.IndexByte(s.text[s.at:], '>')
	if length < 0 {
		return failure.New(failure.KindTruncated, "the document is truncated at byte %d, inside a tag", len(s.text))
	}
	name := TagName(s.text[s.at+2 : s.at+length])
	s.at += length + 1
	// As the parser does: an end tag closes what was left open inside.
	for i := s.depth - 1; i >= 0; i-- {
		if bytes.Equal(s.open[i], name) {
			if isDate(name) {
				s.work += int64(s.texts[i+1]+dateLength) * dateWork
			}
			s.depth = i
			break
		}
	}
	return nil
}

// isDate reports whether an element is one that the parser tries to read as a
// date, or may be.
func isDate(name []byte) bool {
	switch string(bytes.ToLower(name[bytes.IndexByte(name, ':')+1:])) {
	case "pubdate", "lastbuilddate", "date", "updated", "published", "issued", "modified", "created":
		return true
	}
	return false
}

func (s *xmlScan) startTag() error {
	name := TagName(s.text[s.at+1:])
	if len(name) == 0 { // a bare "<"
		s.at++
		return nil
	}
	end, attrs, prefixes := s.tagEnd(s.at + 1 + len(name))
	switch {
	case end < 0:
		return failure.New(failure.KindTruncated, "the document is truncated at byte %d, inside <%s>", len(s.text), htmltext.Clip(string(name)))
	case end-s.at > maxToken:
		return tooLong("tag")
	case attrs > maxAttrs:
		return failure.New(failure.KindTooLarge, "<%s> has more than %d attributes", htmltext.Clip(string(name)), maxAttrs)
	}
	closed := s.text[end-1] == '/'
	s.at, s.rooted = end+1, true
	if s.parts += 1 + attrs; s.parts > maxParts {
		return failure.New(failure.KindTooLarge, "the document has more than %d elements and attributes", maxParts)
	}
	return s.enter(name, prefixes, closed)
}

// enter takes an element that declares so many namespaces; the parser copies
// those around an element for each.
func (s *xmlScan) enter(name []byte, prefixes int, closed bool) error {
	if s.depth > 0 {
		prefixes += s.scope[s.depth-1]
	}
	s.work += int64(prefixes) * prefixWork
	if isItem(name) {
		if s.items++; s.items > MaxItems {
			return tooManyItems()
		}
	}
	if s.depth >= maxDepth {
		return failure.New(failure.KindTooLarge, "the document nests more than %d elements", maxDepth)
	}
	if !closed {
		s.open[s.depth], s.scope[s.depth] = name, prefixes
		s.depth++
		s.texts[s.depth] = 0
	}
	return nil
}

// tagEnd finds the ">" of a start tag and counts its attributes, those without
// a value too, and how many of them declare namespaces; -1 means that the tag
// does not end.
func (s *xmlScan) tagEnd(at int) (end, attrs, prefixes int) {
	quote, previous := byte(0), byte(' ')
	for ; at < len(s.text); at++ {
		c := s.text[at]
		switch {
		case quote != 0:
			if c == quote {
				quote, c = 0, ' '
			} else {
				continue
			}
		case c == '>':
			return at, attrs, prefixes
		case c == '"' || c == '\'':
			quote = c
		case isSpace(previous) && !isSpace(c) && c != '=' && c != '/':
			attrs++
			if bytes.HasPrefix(s.text[at:], []byte("xmlns")) {
				prefixes++
			}
		}
		previous = c
	}
	return -1, attrs, prefixes
}

// TagName returns the name of an element or entity, prefix included, that b begins
// with; empty where none does.
func TagName(b []byte) []byte {
	for i, c := range b {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= 0x80, c == '_', c == ':':
		case i > 0 && (c >= '0' && c <= '9' || c == '-' || c == '.'):
		default:
			return b[:i]
		}
	}
	return b
}

func tooLong(what string) error {
	return failure.New(failure.KindTooLarge, "a %s is longer than %d MiB", what, maxToken>>20)
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
