package stem

import (
	"bytes"

	"github.com/feedring/feedring/internal/match"
)

// maxKept bounds the stems that a Matcher remembers for one language.
const maxKept = 1 << 16

// Matcher matches texts of any language against one expression, whose words are
// met by other forms of them. It remembers stems, and so is for one goroutine.
type Matcher struct {
	expr  *match.Expr
	parts map[string]*part // by language; a Stemmer's
	text  match.Text       // of the last match
}

// part is an expression in one language.
type part struct {
	stemmer Stemmer
	expr    *match.Expr
	first   [256]bool         // bytes that its words begin with
	stems   map[string]string // of words that begin so
}

// NewMatcher makes the matcher of an expression.
func NewMatcher(e *match.Expr) *Matcher { return &Matcher{expr: e, parts: make(map[string]*part)} }

// Match reports whether a text in a language, given as feeds do, meets the
// expression. In a language that is not known, words are met as they are.
func (m *Matcher) Match(language string, t match.Text) bool {
	stemmer, known := For(language)
	if !known || m.expr.All() {
		return m.expr.Match(t)
	}
	p := m.parts[stemmer.language]
	if p == nil {
		p = newPart(stemmer, m.expr)
		m.parts[stemmer.language] = p
	}
	m.text = p.append(m.text[:0], t)
	return p.expr.Match(m.text)
}

func newPart(s Stemmer, e *match.Expr) *part {
	p := &part{stemmer: s, expr: s.Expr(e), stems: make(map[string]string)}
	for word := range bytes.FieldsFuncSeq([]byte(p.expr.String()), func(r rune) bool { return r == ' ' || r == '"' || r == '(' || r == ')' }) {
		p.first[word[0]] = true // of the operators, too, which costs little
	}
	return p
}

// append is Stemmer.Text, but for words that no word of the expression can be
// the stem of: a stem begins as its word does, so those stay as they are.
func (p *part) append(out, t match.Text) match.Text {
	copied := 0
	for at := 0; at < len(t); {
		if t[at] == ' ' || t[at] == '\n' {
			at++
			continue
		}
		end := bytes.IndexByte(t[at:], ' ') + at // a blank follows each word
		if end < at {
			end = len(t)
		}
		if p.first[t[at]] {
			out = append(out, t[copied:at]...)
			out = append(out, p.stem(t[at:end])...)
			copied = end
		}
		at = end
	}
	return append(out, t[copied:]...)
}

func (p *part) stem(word []byte) string {
	if s, ok := p.stems[string(word)]; ok {
		return s
	}
	if len(p.stems) == maxKept {
		clear(p.stems)
	}
	s := string(word)
	p.stems[s] = p.stemmer.Word(s)
	return p.stems[s]
}
