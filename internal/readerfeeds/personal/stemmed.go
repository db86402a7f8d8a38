package personal

import (
	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/match"
	"github.com/feedring/feedring/internal/match/stem"
)

// stemmed is the interests whose words meet other forms of the same word, too.
// What an ending is differs from language to language, so each language of
// feeds has a part with the stems that interests have in it. It is made when
// the first entry in that language comes. Languages that have no stemmer share
// the part of words as they are.
type stemmed struct {
	asking map[*interest]*match.Expr
	parts  map[string]*part
	gone   int // interests that parts hold and asking does not
}

func (s *stemmed) add(in *interest) {
	s.asking[in] = in.expr
	for language, p := range s.parts {
		stemmer, _ := stem.For(language)
		p.add(in, stemmer.Expr(in.expr))
	}
}

// remove forgets an interest. Parts that hold much of what is gone are made
// anew when they are needed.
func (s *stemmed) remove(in *interest) {
	delete(s.asking, in)
	if s.gone++; s.gone > len(s.asking) {
		s.parts, s.gone = make(map[string]*part), 0
	}
}

// matching returns the interests that want a, which is in a language.
func (s *stemmed) matching(a *arrival, language string) (found []*interest) {
	stemmer, _ := stem.For(language)
	p := s.parts[stemmer.Language()]
	if p == nil {
		p = newPart()
		for in, expr := range s.asking {
			p.add(in, stemmer.Expr(expr))
		}
		s.parts[stemmer.Language()] = p
	}
	for _, in := range p.matching(a, stemmer.Text(a.text)) {
		if _, asks := s.asking[in]; asks {
			found = append(found, in)
		}
	}
	return found
}

// meets reports whether an entry has the words of a stemmed interest.
func (in *interest) meets(e *feedring.Entry) bool {
	stemmer, _ := stem.For(e.Language)
	return stemmer.Expr(in.expr).Match(stemmer.Text(match.TextOf(e)))
}
