package personal

import (
	"iter"
	"slices"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/match"
	"github.com/feedring/feedring/internal/match/index"
	"github.com/feedring/feedring/internal/match/stem"
)

// matcher is the interests that entries meet. It has no lock of its own: the
// room's writer alone uses it.
type matcher struct {
	plain   *part
	stemmed stemmed
	themes  map[feedring.Theme]int
	public  int // interests that show no private feeds
}

func newMatcher() *matcher {
	return &matcher{
		plain: newPart(), themes: make(map[feedring.Theme]int),
		stemmed: stemmed{asking: make(map[*interest]*match.Expr), parts: make(map[string]*part)},
	}
}

func (l *matcher) add(in *interest) {
	l.count(in)
	if in.stem {
		l.stemmed.add(in)
		return
	}
	in.indexID = l.plain.add(in, in.expr)
	in.expr = nil
}

func (l *matcher) count(in *interest) {
	l.themes[in.theme]++
	if in.public {
		l.public++
	}
}

// addAll is add for all that a store has, to a matcher that has none. It forgets the
// words of those that are not stemmed, as add does.
func (l *matcher) addAll(all []*interest) {
	l.plain.addAll(func(yield func(*interest, *match.Expr) bool) {
		for _, in := range all {
			if in.stem {
				l.add(in)
				continue
			}
			l.count(in)
			if !yield(in, in.expr) {
				return
			}
			in.expr = nil
		}
	})
	for id, in := range l.plain.owners {
		in.indexID = index.ID(id)
	}
}

func (l *matcher) remove(in *interest) {
	if in.public {
		l.public--
	}
	if l.themes[in.theme]--; l.themes[in.theme] == 0 {
		delete(l.themes, in.theme)
	}
	if in.stem {
		l.stemmed.remove(in)
	} else {
		l.plain.remove(in)
	}
}

// matching returns the interests that want a, in the order of their numbers.
func (l *matcher) matching(a *arrival) (found []*interest) {
	found = l.plain.matching(a, a.text)
	if len(l.stemmed.asking) > 0 {
		if e, err := a.open(); err == nil {
			found = append(found, l.stemmed.matching(a, e.Language)...)
		}
	}
	slices.SortFunc(found, func(a, b *interest) int { return int(a.number) - int(b.number) })
	return found
}

// part is interests, with their words as the texts that they meet have them.
type part struct {
	index   *index.Index
	matcher *index.Matcher
	owners  []*interest // by index.ID
	broad   []broad
}

// broad is an interest that the index refuses: it is looked at for each entry.
type broad struct {
	*interest
	words *match.Expr
}

func newPart() *part {
	ix := index.New()
	return &part{index: ix, matcher: ix.NewMatcher()}
}

// add takes an interest and returns its place. Dates are no business of the
// index: with them no two interests would be the same to it.
func (p *part) add(in *interest, words *match.Expr) index.ID {
	id, err := p.index.Insert(wanted(in, words))
	return p.own(in, words, id, err)
}

// addAll adds many at once.
func (p *part) addAll(all iter.Seq2[*interest, *match.Expr]) {
	var in *interest
	var words *match.Expr
	p.index.InsertAll(func(yield func(index.Interest) bool) {
		for in, words = range all {
			if !yield(wanted(in, words)) {
				return
			}
		}
	}, func(id index.ID, err error) { p.own(in, words, id, err) })
}

func wanted(in *interest, words *match.Expr) index.Interest {
	return index.Interest{Theme: in.theme, Provider: in.provider, Words: words}
}

// own notes whose a place of the index is, or that the index refused.
func (p *part) own(in *interest, words *match.Expr, id index.ID, err error) index.ID {
	if err != nil {
		p.broad = append(p.broad, broad{in, words})
		return 0
	}
	for int(id) >= len(p.owners) {
		p.owners = append(p.owners, nil)
	}
	p.owners[id] = in
	return id
}

func (p *part) remove(in *interest) {
	if int(in.indexID) < len(p.owners) && p.owners[in.indexID] == in {
		p.index.Delete(in.indexID)
		p.owners[in.indexID] = nil
	} else if i := slices.IndexFunc(p.broad, func(b broad) bool { return b.interest == in }); i >= 0 {
		p.broad = slices.Delete(p.broad, i, i+1)
	}
}

// matching returns the interests that want a, whose text is given.
func (p *part) matching(a *arrival, text match.Text) (found []*interest) {
	p.matcher.Match(&index.Doc{Text: text, Theme: a.theme, Provider: a.provider, Published: a.published})
	for id := range p.matcher.IDs() {
		if in := p.owners[id]; in.admits(a) {
			found = append(found, in)
		}
	}
	for _, b := range p.broad {
		if b.admits(a) && b.asks(a.theme, a.provider) && b.words.Match(text) {
			found = append(found, b.interest)
		}
	}
	return found
}

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
		p.addAll(func(yield func(*interest, *match.Expr) bool) {
			for in, expr := range s.asking {
				if !yield(in, stemmer.Expr(expr)) {
					return
				}
			}
		})
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
