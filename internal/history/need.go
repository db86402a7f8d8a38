package history

import (
	"github.com/feedring/feedring/internal/match"
	"github.com/feedring/feedring/internal/store"
)

// need is what a document must have to be a candidate: a tree as an expression
// is, with tokens at its leaves. nil: every document is one.
type need struct {
	op      match.Op
	token   string // of a term
	negated bool
	kids    []*need
}

// maxRefs is how many feeds are looked up. Where more are asked for, they are
// left to the test of each candidate.
const maxRefs = 64

// needOf says what q needs. It never needs more than what q is answered with
// has. What few have comes first, as a rule: where nobody has that, the rest is
// not looked up.
func needOf(r *store.Reader, q *store.Search) *need {
	var all []*need
	if root := q.Words.Root(); root != nil {
		all = append(all, needOfNode(root))
	}
	if q.Refs != nil && len(q.Refs) <= maxRefs {
		one := &need{op: match.Or}
		for _, ref := range q.Refs {
			if number, ok := r.Ref(ref); ok {
				one.kids = append(one.kids, &need{token: refToken(number)})
			}
		}
		all = append(all, one)
	}
	labels(q.Provider, func(token string) { all = append(all, &need{token: token}) })
	if q.Theme != "" {
		all = append(all, &need{token: clip(facetTheme + string(q.Theme))})
	}
	if q.Privacy != store.PublicAndPrivate {
		all = append(all, &need{token: facetPrivate, negated: q.Privacy == store.PublicOnly})
	}
	return every(all)
}

// every is the need for all of kids.
func every(kids []*need) *need {
	some := kids[:0]
	for _, kid := range kids {
		if kid != nil {
			some = append(some, kid)
		}
	}
	switch len(some) {
	case 0:
		return nil
	case 1:
		return some[0]
	}
	return &need{op: match.And, kids: some}
}

func needOfNode(n *match.Node) *need {
	if n.Op() == match.Term {
		return needOfTerm(n)
	}
	var kids []*need
	for child := range n.Children() {
		kid := needOfNode(child)
		if kid == nil && n.Op() == match.Or {
			return nil
		}
		kids = append(kids, kid)
	}
	if n.Op() == match.And {
		return every(kids)
	}
	return &need{op: match.Or, kids: kids}
}

// needOfTerm looks the words of a phrase up one by one. What must be absent can
// be told only of one whole word, and a character that a text holds inside pairs
// cannot be looked up.
func needOfTerm(n *match.Node) *need {
	var kids []*need
	for word := range n.Words() {
		if n.Negated() && (!n.Whole() || len(word) > maxToken) {
			return nil
		}
		if n.Whole() || !match.IsUnit(word) {
			kids = append(kids, &need{token: clip(word), negated: n.Negated()})
		}
	}
	if n.Negated() && len(kids) != 1 {
		return nil
	}
	return every(kids)
}

// postings is what tokens are looked up in.
type postings interface {
	size() int                         // documents
	fill(token string, into set) error // adds those that have the token
}

// scratch keeps sets for the next use, and is for one search at a time. The
// cache is that of all searches.
type scratch struct {
	free, all []set
	cache     *cache
}

func (s *scratch) get(docs int) set {
	n := words64(docs)
	if last := len(s.free) - 1; last >= 0 && cap(s.free[last]) >= n {
		made := s.free[last][:n]
		s.free = s.free[:last]
		clear(made)
		return made
	}
	made := make(set, n, max(n, words64(maxDocs)))
	s.all = append(s.all, made)
	return made
}

// reuse takes back whatever was not put.
func (s *scratch) reuse() { s.free = append(s.free[:0], s.all...) }

func (s *scratch) put(used set) { s.free = append(s.free, used) }

// find returns the candidates among what from holds.
func (n *need) find(from postings, s *scratch) (set, error) {
	docs := from.size()
	if n == nil {
		all := s.get(docs)
		all.invert(docs)
		return all, nil
	}
	if n.op == match.Term {
		found := s.get(docs)
		err := from.fill(n.token, found)
		if n.negated {
			found.invert(docs)
		}
		return found, err
	}
	var found set
	for i, kid := range n.kids {
		if i > 0 && n.op == match.And && found.empty() {
			break
		}
		some, err := kid.find(from, s)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			found = some
			continue
		}
		if n.op == match.Or {
			found.or(some)
		} else {
			found.and(some)
		}
		s.put(some)
	}
	if found == nil {
		found = s.get(docs)
	}
	return found, nil
}
