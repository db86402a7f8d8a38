package match

import (
	"bytes"
	"slices"
	"strings"
)

// Expr is a parsed keyword expression. It never changes and is safe for
// concurrent use. The zero Expr and nil match everything.
type Expr struct {
	root        *Node // nil: everything
	canonical   string
	conjunction bool // canonical is nothing but words
}

// String returns the canonical form, which parses to an equal expression.
// Expressions that differ only in case, accents, order of operands,
// duplicates, superfluous parentheses or the place of NOT have one form.
func (e *Expr) String() string {
	if e == nil {
		return ""
	}
	return e.canonical
}

// All reports whether e is the empty expression, which matches everything.
func (e *Expr) All() bool { return e == nil || e.root == nil }

// Conjunction returns the words of an expression that is nothing but words that
// must all be there, with a blank between them. A single character of a script
// without spaces is no such word, and neither is the empty expression.
func (e *Expr) Conjunction() (words string, ok bool) {
	if e == nil || !e.conjunction {
		return "", false
	}
	return e.canonical, true
}

// isConjunction reports whether n is a Term or an And of single words.
func isConjunction(n *Node) bool {
	if n == nil || n.op == Or {
		return false
	}
	if n.op == And {
		return !slices.ContainsFunc(n.kids, func(kid *Node) bool { return !isConjunction(kid) })
	}
	return !n.negated && n.Whole() && bytes.IndexByte(n.pattern[1:len(n.pattern)-1], ' ') < 0
}

// Match reports whether t matches. It allocates nothing and takes time
// proportional to len(t) times the number of terms.
func (e *Expr) Match(t Text) bool { return e.All() || e.root.match(t) }

// Root returns the expression's top node, or nil if it matches everything.
func (e *Expr) Root() *Node {
	if e == nil {
		return nil
	}
	return e.root
}

// Required returns words that are all in every Text that matches, sorted and
// without duplicates. There may be none, as in "a OR b" and "NOT a". An index
// of expressions needs to look at e only for entries that have them.
func (e *Expr) Required() []string {
	if e.All() {
		return nil
	}
	return required(e.root)
}

func required(n *Node) []string {
	switch n.op {
	case Term:
		return requiredByTerm(n)
	case And:
		var words []string
		for _, kid := range n.kids {
			words = append(words, required(kid)...)
		}
		slices.Sort(words)
		return slices.Compact(words)
	default:
		words := required(n.kids[0])
		for _, kid := range n.kids[1:] {
			other := required(kid)
			words = slices.DeleteFunc(words, func(w string) bool {
				_, found := slices.BinarySearch(other, w)
				return !found
			})
		}
		return words
	}
}

func requiredByTerm(n *Node) []string {
	if n.negated {
		return nil
	}
	words := slices.Collect(n.Words())
	if !n.Whole() {
		words = slices.DeleteFunc(words, IsUnit)
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// form writes n in canonical form. Parentheses stand only around an OR inside
// an AND, since everything else binds by itself.
func form(n *Node) string {
	if n == nil {
		return ""
	}
	if n.op == Term {
		return termForm(n)
	}
	between := " "
	if n.op == Or {
		between = " OR "
	}
	var b strings.Builder
	for i, kid := range n.kids {
		if i > 0 {
			b.WriteString(between)
		}
		if kid.op == Or {
			b.WriteString("(" + form(kid) + ")")
		} else {
			b.WriteString(form(kid))
		}
	}
	return b.String()
}

func termForm(n *Node) string {
	s := string(bytes.TrimSpace(n.pattern))
	if strings.Contains(s, " ") {
		s = `"` + s + `"`
	}
	if n.negated {
		s = "NOT " + s
	}
	return s
}
