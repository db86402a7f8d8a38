package index

import (
	"slices"
	"unicode/utf8"

	"github.com/feedring/feedring/internal/match"
)

// A branch is tokens that an entry must all have. phrase says that some of them
// stand beside each other, and so are rarer than each by itself.
type branch struct {
	tokens []string // marked; see speller
	phrase bool
}

// broad reports whether nearly every entry has all of b.
func (b *branch) broad() bool {
	return !b.phrase && !slices.ContainsFunc(b.tokens, func(t string) bool { return !match.IsStop(t) })
}

// cover returns branches of which every text that matches n satisfies one. It
// is nil where there is no such list: n matches texts that have nothing of it.
func cover(n *match.Node) []branch {
	switch n.Op() {
	case match.Term:
		return coverTerm(n)
	case match.And:
		return coverAnd(n)
	}
	var all []branch
	for kid := range n.Children() {
		more := cover(kid)
		if more == nil {
			return nil
		}
		all = append(all, more...)
	}
	return all
}

func coverTerm(n *match.Node) []branch {
	if n.Negated() {
		return nil
	}
	var b branch
	var units []string
	words := 0
	for word := range n.Words() {
		words++
		if n.Whole() || !match.IsUnit(word) {
			b.tokens = append(b.tokens, word)
		} else {
			first, _ := utf8.DecodeRuneInString(word)
			units = append(units, string(rune(markUnit))+string(first))
		}
	}
	if len(b.tokens) == 0 {
		b.tokens = units
	}
	b.phrase = words > 1
	return []branch{b}
}

// coverAnd joins the operands with one branch into one. Where that says little,
// the shortest list of another operand is added to it.
func coverAnd(n *match.Node) []branch {
	var base branch
	var lists [][]branch
	for kid := range n.Children() {
		switch c := cover(kid); len(c) {
		case 0:
		case 1:
			base.tokens = append(base.tokens, c[0].tokens...)
			base.phrase = base.phrase || c[0].phrase
		default:
			lists = append(lists, c)
		}
	}
	if len(base.tokens) > 0 && !base.broad() {
		return []branch{base}
	}
	if len(lists) == 0 {
		if len(base.tokens) == 0 {
			return nil
		}
		return []branch{base}
	}
	least := slices.MinFunc(lists, func(a, b []branch) int { return len(a) - len(b) })
	for i := range least {
		least[i].tokens = slices.Concat(base.tokens, least[i].tokens)
	}
	return least
}
