package match

// Map returns e with each word replaced by what f makes of it: one folded word,
// or nothing to keep it. It is how expressions meet texts whose words were
// replaced in the same way.
func (e *Expr) Map(f func(word string) string) *Expr {
	if e.All() {
		return e
	}
	return newExpr(mapNode(e.root, f))
}

func newExpr(root *Node) *Expr {
	return &Expr{root: root, canonical: form(root), conjunction: isConjunction(root)}
}

func mapNode(n *Node, f func(word string) string) *Node {
	if n.op != Term {
		kids := make([]*Node, len(n.kids))
		for i, kid := range n.kids {
			kids[i] = mapNode(kid, f)
		}
		return join(n.op, kids)
	}
	var words []string
	for word := range n.Words() {
		if other := f(word); other != "" && !IsUnit(word) {
			word = other
		}
		words = append(words, word)
	}
	term := newTerm(words)
	term.negated = n.negated
	return term
}
