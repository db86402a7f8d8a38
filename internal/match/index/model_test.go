package index

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/match"
)

// model is an index that looks at every subscription for every entry.
type model map[ID]Interest

func (m model) match(d *Doc) []ID {
	var ids []ID
	for id, in := range m {
		if in.Matches(d) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// pair is an index and the model that it must not differ from.
type pair struct {
	t     testing.TB
	index *Index
	model model
	ids   []ID
	match *Matcher
}

func newPair(t testing.TB) *pair {
	ix := New()
	return &pair{t: t, index: ix, model: make(model), match: ix.NewMatcher()}
}

func (p *pair) insert(in Interest) {
	p.t.Helper()
	id, err := p.index.Insert(in)
	if errors.Is(err, ErrBroad) {
		return
	}
	if err != nil {
		p.t.Fatal(err)
	}
	if _, known := p.model[id]; known {
		p.t.Fatalf("number %d is given out twice", id)
	}
	p.model[id] = in
	p.ids = append(p.ids, id)
}

// insertAll is insert for many at once.
func (p *pair) insertAll(all []Interest) {
	p.t.Helper()
	i := 0
	p.index.InsertAll(slices.Values(all), func(id ID, err error) {
		in := all[i]
		i++
		if errors.Is(err, ErrBroad) {
			return
		}
		if _, known := p.model[id]; known || err != nil {
			p.t.Fatalf("number %d: %v", id, err)
		}
		p.model[id] = in
		p.ids = append(p.ids, id)
	})
	if i != len(all) {
		p.t.Fatalf("%d of %d were told", i, len(all))
	}
}

func (p *pair) delete(i int) {
	p.t.Helper()
	id := p.ids[i]
	p.ids[i] = p.ids[len(p.ids)-1]
	p.ids = p.ids[:len(p.ids)-1]
	delete(p.model, id)
	if !p.index.Delete(id) {
		p.t.Fatalf("%d was not there", id)
	}
	if p.index.Delete(id) {
		p.t.Fatalf("%d was deleted twice", id)
	}
}

// check compares what both find, and returns how much it is.
func (p *pair) check(d *Doc) int {
	p.t.Helper()
	want := p.model.match(d)
	p.match.Match(d)
	got := p.match.Append(nil)
	if !slices.Equal(got, want) {
		p.differ(d, got, want)
	}
	if p.index.Len() != len(p.model) {
		p.t.Fatalf("Len is %d, want %d", p.index.Len(), len(p.model))
	}
	return len(got)
}

func (p *pair) differ(d *Doc, got, want []ID) {
	p.t.Helper()
	for _, id := range append(got, want...) {
		if slices.Contains(got, id) != slices.Contains(want, id) {
			in := p.model[id]
			p.t.Fatalf("%d of %d found, %d too many or not: words %q theme %q provider %q since %v, entry %+v %q",
				len(got), len(want), id, in.Words, in.Theme, in.Provider, in.Since, d, d.Text)
		}
	}
	p.t.Fatalf("found %v, want %v", got, want)
}

var (
	someWords = []string{
		"gaz", "prix", "europe", "énergie", "l'eau", "nucléaire", "the", "les", "antidisestablishmentarianism",
		"Donaudampfschifffahrt", "東京", "京都", "東京都", "京", "ｶﾞｽ", "서울", "น้ำ", "Łódź", "год", "x", "lemonde.fr", "iPhone年",
	}
	someThemes    = []feedring.Theme{"", "", "news", "sport", "a-theme-of-thirty-two-bytes-long"}
	someProviders = []string{"lemonde.fr", "Blog.Lemonde.fr", "fr", "lemonde", "example.org", "a..b", "monde"}
	noon          = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
)

func one[T any](rng *rand.Rand, of []T) T { return of[rng.IntN(len(of))] }

func randomWords(rng *rand.Rand, depth int) string {
	if depth == 0 || rng.IntN(3) == 0 {
		return one(rng, someWords)
	}
	left, right := randomWords(rng, depth-1), randomWords(rng, depth-1)
	switch rng.IntN(8) {
	case 0:
		return "(" + left + " OR " + right + ")"
	case 1:
		return left + " NOT (" + right + ")"
	case 2:
		return fmt.Sprintf("%q", one(rng, someWords)+" "+one(rng, someWords))
	case 3:
		return "NOT (" + left + ") " + right
	default:
		return left + " " + right
	}
}

func randomInterest(rng *rand.Rand) Interest {
	var in Interest
	if rng.IntN(10) > 0 {
		words := randomWords(rng, rng.IntN(4))
		e, err := match.Parse(words)
		if err != nil {
			panic(err)
		}
		in.Words = e
	}
	if rng.IntN(3) == 0 {
		in.Theme = one(rng, someThemes)
	}
	if rng.IntN(4) == 0 {
		in.Provider = one(rng, someProviders)
	}
	if rng.IntN(8) == 0 {
		in.Since = noon.Add(time.Duration(rng.IntN(3)-1) * time.Hour)
	}
	return in
}

func randomDoc(rng *rand.Rand) *Doc {
	words := make([]string, rng.IntN(14))
	for i := range words {
		words[i] = one(rng, someWords)
	}
	between := one(rng, []string{" ", " ", "", "."})
	d := docOf(&feedring.Entry{
		Title:       strings.Join(words[:len(words)/3], between),
		ContentHTML: strings.Join(words[len(words)/3:], between),
		Theme:       one(rng, someThemes),
		Provider:    feedring.Provider(one(rng, someProviders)),
		Published:   noon.Add(time.Duration(rng.IntN(3)-1) * time.Hour),
	})
	return &d
}

// TestAgainstModel inserts, deletes and packs at random.
func TestAgainstModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	p := newPair(t)
	found := 0
	for step := range 8_000 {
		switch {
		case rng.IntN(6) == 0 && len(p.ids) > 0:
			p.delete(rng.IntN(len(p.ids)))
		case step%5000 == 4999:
			p.index.Compact()
		default:
			p.insert(randomInterest(rng))
		}
		if step%60 == 0 {
			found += p.check(randomDoc(rng))
		}
	}
	for len(p.ids) > 10 {
		p.delete(rng.IntN(len(p.ids)))
		if len(p.ids)%200 == 0 {
			found += p.check(randomDoc(rng))
		}
	}
	if found < 5_000 {
		t.Errorf("only %d were found: the comparison is worth little", found)
	}
	if segments := len(p.index.now.Load().plain.segments); segments == 0 {
		t.Error("nothing ever became a segment")
	}
}
