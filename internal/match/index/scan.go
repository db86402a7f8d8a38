package index

import (
	"unicode/utf8"

	"github.com/feedring/feedring/internal/match"
)

// scan reads the tokens of an entry.
type scan struct {
	text   []byte // the entry's, then what is not a word of it, then pad bytes
	tokens []token
	ends   []int // of what is not a word
}

// read fills tokens, with repetitions. Single characters of scripts without
// spaces are among them only if somebody asks for any.
func (s *scan) read(d *Doc, withUnits bool) {
	end := len(d.Text)
	s.spell(d, withUnits)
	s.tokens = s.tokens[:0]
	for i := 1; i < end; {
		to := wordEnd(s.text, i)
		if s.text[i] != '\n' {
			s.tokens = append(s.tokens, tokenAt(s.text, i, to-i))
		}
		i = to + 1
	}
	from := end
	for _, end := range s.ends {
		s.tokens = append(s.tokens, tokenAt(s.text, from, end-from))
		from = end
	}
}

// spell fills text and ends.
func (s *scan) spell(d *Doc, withUnits bool) {
	s.text, s.ends = append(s.text[:0], d.Text...), s.ends[:0]
	if d.Theme != "" {
		s.mark(markTheme, string(d.Theme))
	}
	runs(d.Provider, func(run string) { s.mark(markProvider, run) })
	if withUnits {
		for text := d.Text; len(text) > 0; {
			r, size := utf8.DecodeRune(text)
			if match.IsSpaceless(r) {
				s.mark(markUnit, string(text[:size]))
			}
			text = text[size:]
		}
	}
	s.text = append(s.text, padding...)
}

func (s *scan) mark(mark byte, b string) {
	s.text = append(append(s.text, mark), b...)
	s.ends = append(s.ends, len(s.text))
}
