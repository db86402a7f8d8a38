package repair

import (
	"bytes"

	"github.com/feedring/feedring/internal/origin/failure"
)

// jsonScan walks over the brackets and strings of a JSON document.
type jsonScan struct {
	text   []byte
	depth  int
	items  int // objects of the list of entries
	others int // and of the feed's other lists
	values int

	last, key []byte // at the feed's own depth: the last string, and the last that was a key
	inItems   bool   // the list that is open there is that of the entries
}

func (s *jsonScan) run() error {
	for at := 0; at < len(s.text); at++ {
		var err error
		switch s.text[at] {
		case '"':
			begin := at + 1
			if at, err = s.skipString(at); err == nil && s.depth == 1 {
				s.last = s.text[begin:at]
			}
		case '{', '[':
			err = s.openBracket(s.text[at])
		case '}', ']':
			s.depth = max(0, s.depth-1)
		case ',', ':':
			if s.depth == 1 && s.text[at] == ':' {
				s.key = s.last
			}
			if s.values++; s.values > maxPieces {
				err = failure.New(failure.KindTooLarge, "the document has more than %d values", maxPieces)
			}
		}
		if err != nil {
			return err
		}
	}
	if s.depth > 0 {
		return failure.New(failure.KindTruncated, "the document is truncated at byte %d", len(s.text))
	}
	return nil
}

func (s *jsonScan) openBracket(c byte) error {
	switch {
	case c == '[' && s.depth == 1:
		s.inItems = bytes.EqualFold(s.key, []byte("items"))
	case c == '{' && s.depth == 2 && s.inItems:
		s.items++
	case c == '{' && s.depth == 2: // of another list of the feed's own, or of entries by an escaped name
		s.others++
	}
	if s.items > MaxItems || s.others > MaxItems {
		return tooManyItems()
	}
	if s.depth++; s.depth > maxDepth {
		return failure.New(failure.KindTooLarge, "the document nests more than %d values", maxDepth)
	}
	return nil
}

// skipString returns the place of the closing quote.
func (s *jsonScan) skipString(at int) (int, error) {
	for end := at + 1; end < len(s.text); end++ {
		switch s.text[end] {
		case '\\':
			end++
		case '"':
			return end, nil
		}
		if end-at > maxToken {
			return end, tooLong("string")
		}
	}
	return len(s.text), failure.New(failure.KindTruncated, "the document is truncated at byte %d, inside a string", len(s.text))
}
