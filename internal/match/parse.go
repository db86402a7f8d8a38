package match

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/feedring/feedring"
)

// Limits of an expression, beside feedring.MaxExpression.
const (
	MaxDepth = 64  // parentheses inside each other
	MaxTerms = 256 // words and phrases
)

// Parse reads a keyword expression. White space alone is the empty expression,
// which matches everything. The error is always a *SyntaxError.
func Parse(s string) (*Expr, error) {
	p := &parser{lex: lexer{expr: s}}
	if len(s) > feedring.MaxExpression {
		p.lex.expr = clip(s, feedring.MaxExpression)
		return nil, p.lex.fail(len(p.lex.expr), tooLong(len(s)))
	}
	// What is sent to other peers must be text.
	if at := feedring.NotUTF8(s); at >= 0 {
		return nil, p.lex.fail(at, "this is no UTF-8 text")
	}
	root, err := p.parse()
	if err != nil {
		return nil, err
	}
	e := newExpr(root)
	// Scripts written without spaces grow when they are split. What is stored
	// and sent is the canonical form, so the limit must hold for it as well.
	if len(e.canonical) > feedring.MaxExpression {
		return nil, p.lex.fail(len(s), tooLong(len(e.canonical))+" once split into words")
	}
	return e, nil
}

func tooLong(n int) string {
	return fmt.Sprintf("the expression has %d bytes and at most %d are allowed", n, feedring.MaxExpression)
}

// clip cuts s to at most n bytes, between characters.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// parser descends one function for each level of binding. It holds one token
// of lookahead and the one before it, which errors name.
type parser struct {
	lex    lexer
	tok    token
	before token
	depth  int
	terms  int
}

func (p *parser) fail(at int, msg string) error { return p.lex.fail(at, msg) }

// advance moves to the next token.
func (p *parser) advance() error {
	tok, err := p.lex.next()
	p.before, p.tok = p.tok, tok
	return err
}

func (p *parser) parse() (*Node, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.tok.kind == tokenEnd {
		if strings.TrimSpace(p.lex.expr) == "" {
			return nil, nil
		}
		return nil, p.fail(0, "no letter or digit to look for")
	}
	root, err := p.or()
	if err != nil {
		return nil, err
	}
	if p.tok.kind != tokenEnd { // or() stops only here and at a ")"
		return nil, p.fail(p.tok.at, `")" closes nothing`)
	}
	return root, nil
}

func (p *parser) or() (*Node, error) {
	first, err := p.and()
	if err != nil {
		return nil, err
	}
	kids := []*Node{first}
	for p.tok.kind == tokenOr {
		if err := p.advance(); err != nil {
			return nil, err
		}
		next, err := p.and()
		if err != nil {
			return nil, err
		}
		kids = append(kids, next)
	}
	return join(Or, kids), nil
}

func (p *parser) and() (*Node, error) {
	first, err := p.not()
	if err != nil {
		return nil, err
	}
	kids := []*Node{first}
	for p.tok.kind == tokenAnd || p.startsOperand() {
		if p.tok.kind == tokenAnd {
			if err := p.advance(); err != nil {
				return nil, err
			}
		}
		next, err := p.not()
		if err != nil {
			return nil, err
		}
		kids = append(kids, next)
	}
	return join(And, kids), nil
}

func (p *parser) startsOperand() bool {
	return p.tok.kind == tokenTerm || p.tok.kind == tokenOpen || p.tok.kind == tokenNot
}

// not counts the operators in a loop, so that a long row of them needs no
// stack.
func (p *parser) not() (*Node, error) {
	negated := false
	for p.tok.kind == tokenNot {
		negated = !negated
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	n, err := p.operand()
	if err == nil && negated {
		n = negate(n)
	}
	return n, err
}

func (p *parser) operand() (*Node, error) {
	switch p.tok.kind {
	case tokenTerm:
		return p.term()
	case tokenOpen:
		return p.group()
	default:
		return nil, p.missing()
	}
}

func (p *parser) term() (*Node, error) {
	if p.terms++; p.terms > MaxTerms {
		return nil, p.fail(p.tok.at, fmt.Sprintf("more than %d words and phrases", MaxTerms))
	}
	return newTerm(p.tok.words), p.advance()
}

func (p *parser) group() (*Node, error) {
	open := p.tok.at
	if p.depth++; p.depth > MaxDepth {
		return nil, p.fail(open, fmt.Sprintf("more than %d parentheses inside each other", MaxDepth))
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	n, err := p.or()
	if err != nil {
		return nil, err
	}
	if p.tok.kind != tokenClose {
		return nil, p.fail(open, `"(" is never closed`)
	}
	p.depth--
	return n, p.advance()
}

// missing is the error for a token that stands where an operand must stand.
func (p *parser) missing() error {
	first := p.before.kind == tokenEnd // nothing was read yet
	switch {
	case p.tok.kind == tokenClose && p.before.kind == tokenOpen:
		return p.fail(p.tok.at, "nothing stands between the parentheses")
	case p.tok.kind == tokenClose && first:
		return p.fail(p.tok.at, `")" closes nothing`)
	case first:
		return p.fail(p.tok.at, "a word is missing before "+p.tok.name())
	case p.tok.kind == tokenEnd:
		return p.fail(p.tok.at, "a word is missing after "+p.before.name())
	default:
		return p.fail(p.tok.at, fmt.Sprintf("a word is missing between %s and %s", p.before.name(), p.tok.name()))
	}
}
