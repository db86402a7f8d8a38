package index

import (
	"strings"
	"unicode/utf8"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/match"
)

// scan finds the tokens of an entry, or of an interest.
type scan struct {
	text   []byte // words, then what is none, then pad bytes
	ends   []int  // of what is none
	tokens []token
}

// read fills tokens with those of an entry, with repetitions. Single characters
// of scripts without spaces are among them only if somebody asks for any.
func (s *scan) read(d *Doc, withUnits bool) {
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
	s.cut(len(d.Text))
}

// words begins the tokens of an interest with its words.
func (s *scan) words(words string) {
	s.text, s.ends = append(s.text[:0], words...), s.ends[:0]
}

// names adds the theme and the provider that an interest asks, if it does.
func (s *scan) names(theme feedring.Theme, provider string) {
	if theme != "" {
		s.mark(markTheme, string(theme))
	}
	if provider != "" {
		s.mark(markProvider, strings.ToLower(provider))
	}
}

// mark adds a token that is not a word.
func (s *scan) mark(mark byte, b string) {
	s.text = append(append(s.text, mark), b...)
	s.ends = append(s.ends, len(s.text))
}

// cut makes tokens of text, whose words end at end.
func (s *scan) cut(end int) {
	s.text = append(s.text, padding...)
	s.tokens = s.tokens[:0]
	for i := 0; i < end; {
		to := min(wordEnd(s.text, i), end)
		if c := s.text[i]; c != ' ' && c != '\n' {
			s.tokens = append(s.tokens, tokenAt(s.text, i, to-i))
		}
		i = to + 1
	}
	for _, to := range s.ends {
		s.tokens = append(s.tokens, tokenAt(s.text, end, to-end))
		end = to
	}
}
