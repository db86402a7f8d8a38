package document

// jsonScan walks over the brackets and strings of a JSON document.
type jsonScan struct {
	text   []byte
	depth  int
	items  int
	values int
}

func (s *jsonScan) run() error {
	for at := 0; at < len(s.text); at++ {
		var err error
		switch s.text[at] {
		case '"':
			at, err = s.skipString(at)
		case '{', '[':
			err = s.openBracket(s.text[at])
		case '}', ']':
			s.depth = max(0, s.depth-1)
		case ',', ':':
			if s.values++; s.values > maxPieces {
				err = refuse(KindTooLarge, "the document has more than %d values", maxPieces)
			}
		}
		if err != nil {
			return err
		}
	}
	if s.depth > 0 {
		return refuse(KindTruncated, "the document is truncated at byte %d", len(s.text))
	}
	return nil
}

func (s *jsonScan) openBracket(c byte) error {
	if c == '{' && s.depth == 2 { // an object of an array of the feed's own
		if s.items++; s.items > MaxItems {
			return refuse(KindTooLarge, "the feed has more than %d entries", MaxItems)
		}
	}
	if s.depth++; s.depth > maxDepth {
		return refuse(KindTooLarge, "the document nests more than %d values", maxDepth)
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
	return len(s.text), refuse(KindTruncated, "the document is truncated at byte %d, inside a string", len(s.text))
}
