package match

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

type tokenKind uint8

const (
	tokenEnd tokenKind = iota
	tokenTerm
	tokenOpen
	tokenClose
	tokenAnd
	tokenOr
	tokenNot
)

type token struct {
	kind  tokenKind
	at    int      // bytes from the start of the expression
	words []string // of a tokenTerm, at least one
}

// name is how an error calls t.
func (t token) name() string {
	switch t.kind {
	case tokenOpen:
		return `"("`
	case tokenClose:
		return `")"`
	case tokenAnd:
		return "AND"
	case tokenOr:
		return "OR"
	case tokenNot:
		return "NOT"
	default:
		return "the end"
	}
}

type lexer struct {
	expr string
	at   int
}

func (l *lexer) fail(at int, msg string) error {
	return &SyntaxError{Offset: at, Expr: l.expr, Msg: msg}
}

// next returns the next token. Bare pieces without a letter or a digit are
// passed over, so that a dash or an ampersand in a pasted title does no harm.
func (l *lexer) next() (token, error) {
	for {
		l.skipSpace()
		at := l.at
		if at == len(l.expr) {
			return token{kind: tokenEnd, at: at}, nil
		}
		r, size := utf8.DecodeRuneInString(l.expr[at:])
		switch {
		case isOpen(r):
			l.at += size
			return token{kind: tokenOpen, at: at}, nil
		case isClose(r):
			l.at += size
			return token{kind: tokenClose, at: at}, nil
		case isQuote(r):
			l.at += size
			return l.phrase(at)
		case isMinus(r) && l.begins(at):
			switch negated, err := l.negates(at + size); {
			case err != nil:
				return token{}, err
			case negated:
				l.at += size
				return token{kind: tokenNot, at: at}, nil
			}
		}
		if t := l.bare(); t.kind != tokenTerm || len(t.words) > 0 {
			return t, nil
		}
	}
}

// begins reports whether a piece begins at: a hyphen within a word, or right
// after a phrase, belongs to what stands before it.
func (l *lexer) begins(at int) bool {
	r, size := utf8.DecodeLastRuneInString(l.expr[:at])
	return size == 0 || unicode.IsSpace(r) || isOpen(r)
}

// negates reports whether what follows the hyphen before at is a word, a phrase
// or a group. Two hyphens are refused: they look like a flag that was meant for
// the program.
func (l *lexer) negates(at int) (bool, error) {
	r, size := utf8.DecodeRuneInString(l.expr[at:])
	if isOpen(r) || isQuote(r) {
		return true, nil
	}
	piece := l.piece(at)
	if len(Fold(piece)) == 0 {
		return false, nil
	}
	if isMinus(r) {
		return false, l.fail(at+size-1, "two hyphens before a word: what must not be there is -word with one, or NOT word")
	}
	return true, nil
}

// piece is what stands from at on to the next space, parenthesis or quote.
func (l *lexer) piece(at int) string {
	body := l.expr[at:]
	if end := strings.IndexFunc(body, ends); end >= 0 {
		return body[:end]
	}
	return body
}

func ends(r rune) bool { return unicode.IsSpace(r) || isOpen(r) || isClose(r) || isQuote(r) }

func (l *lexer) skipSpace() {
	rest := strings.TrimLeftFunc(l.expr[l.at:], unicode.IsSpace)
	l.at = len(l.expr) - len(rest)
}

// phrase reads up to the closing quote; the opening one stood at start.
func (l *lexer) phrase(start int) (token, error) {
	body := l.expr[l.at:]
	end := strings.IndexFunc(body, isQuote)
	if end < 0 {
		return token{}, l.fail(start, "the quote is never closed")
	}
	_, size := utf8.DecodeRuneInString(body[end:])
	l.at += end + size
	words := Fold(body[:end])
	if len(words) == 0 {
		return token{}, l.fail(start, "the phrase has no letter or digit to look for")
	}
	return token{kind: tokenTerm, at: start, words: words}, nil
}

// bare reads an operator or a term that is not quoted.
func (l *lexer) bare() token {
	start, piece := l.at, l.piece(l.at)
	l.at += len(piece)
	switch piece {
	case "AND":
		return token{kind: tokenAnd, at: start}
	case "OR":
		return token{kind: tokenOr, at: start}
	case "NOT":
		return token{kind: tokenNot, at: start}
	}
	return token{kind: tokenTerm, at: start, words: Fold(piece)}
}

// Keyboards of telephones and of East Asia write their own quotes and
// parentheses; nobody means a different thing by them.

func isOpen(r rune) bool { return r == '(' || r == '（' }

func isClose(r rune) bool { return r == ')' || r == '）' }

// isMinus knows the minus sign, too. Dashes are none: they stand in titles.
func isMinus(r rune) bool { return r == '-' || r == '−' || r == '－' }

func isQuote(r rune) bool {
	switch r {
	case '"', '“', '”', '„', '‟', '«', '»', '＂':
		return true
	}
	return false
}
