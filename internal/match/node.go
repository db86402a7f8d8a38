package match

import (
	"bytes"
	"iter"
	"slices"
	"strings"
)

// Op is what a Node does with its operands.
type Op uint8

// The operators. NOT stands only at terms: Parse moves it inwards.
const (
	Term Op = iota // a word or a phrase, perhaps negated
	And            // every child
	Or             // at least one child
)

// Node is one node of an expression in canonical form: children of a node are
// sorted, without duplicates, at least two, and never of the node's own
// operator. Nodes never change and are safe for concurrent use.
type Node struct {
	op      Op
	negated bool
	pattern []byte // of a term: its bytes in a Text
	rare    int    // the place of the one in pattern that a Text has least often
	kids    []*Node
}

// Op returns the operator.
func (n *Node) Op() Op { return n.op }

// Negated reports whether a term must be absent. It is false for And and Or.
func (n *Node) Negated() bool { return n.negated }

// Children yields the operands of And and Or in canonical order.
func (n *Node) Children() iter.Seq[*Node] { return slices.Values(n.kids) }

// Words yields the folded words of a term: several where it is a phrase.
func (n *Node) Words() iter.Seq[string] { return strings.FieldsSeq(string(n.pattern)) }

// Whole reports whether a term's words all stand in a Text exactly as they are.
// It is false where the term begins or ends with a single character of a script
// without spaces, which is found inside the pairs that a Text holds; an index
// by word cannot look such a character up.
func (n *Node) Whole() bool {
	return len(n.pattern) > 0 && n.pattern[0] == ' ' && n.pattern[len(n.pattern)-1] == ' '
}

// match evaluates n. It allocates nothing; its depth is bounded by Parse.
func (n *Node) match(t Text) bool {
	switch n.op {
	case Term:
		return contains(t, n.pattern, n.rare) != n.negated
	case And:
		for _, kid := range n.kids {
			if !kid.match(t) {
				return false
			}
		}
		return true
	default:
		for _, kid := range n.kids {
			if kid.match(t) {
				return true
			}
		}
		return false
	}
}

// contains reports whether pattern, whose rarest byte stands at rare, is in t.
// bytes.Contains looks for the first byte, which mostly is the blank: it stands
// everywhere.
func contains(t, pattern []byte, rare int) bool {
	for from := rare; ; from++ {
		if from >= len(t) {
			return false
		}
		i := bytes.IndexByte(t[from:], pattern[rare])
		if i < 0 {
			return false
		}
		from += i
		if bytes.HasPrefix(t[from-rare:], pattern) {
			return true
		}
	}
}

// common lists what texts are made of, the commonest first; the rest is rarer.
const common = " eaisntrolducmpgvhfbyqkxwjz"

// rarest returns the place of the byte of pattern that is least common.
func rarest(pattern []byte) int {
	best, rank := 0, -1
	for i, c := range pattern {
		r := strings.IndexByte(common, c)
		switch {
		case c >= 0xC0: // begins a character: whole scripts share it
			r = 1
		case r < 0:
			r = len(common)
		}
		if r > rank {
			best, rank = i, r
		}
	}
	return best
}

// newTerm makes the term for at least one folded word. Spaces around the
// pattern make it whole words; they are left away beside a single character of
// a script without spaces, which a Text holds as a half of pairs.
func newTerm(words []string) *Node {
	pattern := strings.Join(words, " ")
	if !IsUnit(words[0]) {
		pattern = " " + pattern
	}
	if !IsUnit(words[len(words)-1]) {
		pattern += " "
	}
	return &Node{op: Term, pattern: []byte(pattern), rare: rarest([]byte(pattern))}
}

// negate returns NOT n, moved inwards to the terms by De Morgan's laws, so that
// equal interests get equal forms and only terms are ever negated.
func negate(n *Node) *Node {
	if n.op == Term {
		return &Node{op: Term, pattern: n.pattern, rare: n.rare, negated: !n.negated}
	}
	kids := make([]*Node, len(n.kids))
	for i, kid := range n.kids {
		kids[i] = negate(kid)
	}
	if n.op == And {
		return join(Or, kids)
	}
	return join(And, kids)
}

// join combines kids under op in canonical form.
func join(op Op, kids []*Node) *Node {
	var flat []*Node
	for _, kid := range kids {
		if kid.op == op {
			flat = append(flat, kid.kids...)
		} else {
			flat = append(flat, kid)
		}
	}
	flat = sorted(flat)
	if len(flat) == 1 {
		return flat[0]
	}
	return &Node{op: op, kids: flat}
}

// sorted returns nodes in canonical order without duplicates: what must be
// there first, what must not be there last, by form within each.
func sorted(nodes []*Node) []*Node {
	type keyed struct {
		form string
		node *Node
	}
	all := make([]keyed, len(nodes))
	for i, n := range nodes {
		all[i] = keyed{form(n), n}
	}
	slices.SortFunc(all, func(a, b keyed) int {
		if a.node.negated != b.node.negated {
			if a.node.negated {
				return 1
			}
			return -1
		}
		return strings.Compare(a.form, b.form)
	})
	all = slices.CompactFunc(all, func(a, b keyed) bool { return a.form == b.form })
	out := make([]*Node, len(all))
	for i, k := range all {
		out[i] = k.node
	}
	return out
}
