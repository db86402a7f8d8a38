package index

import (
	"slices"
	"testing"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/match"
)

// FuzzMatch files two interests among others, and compares what is found with
// what each says by itself: in the tail, in a segment, and after a deletion.
func FuzzMatch(f *testing.F) {
	f.Add("gaz", "prix OR gaz", "news", "fr", "Le prix du gaz", "lemonde.fr")
	f.Add("NOT gaz europe", `"東京 x"`, "", "", "東京x europe", "a..b")
	f.Add("京", "(a OR b) the", "", ".", "東京 a", "..")
	f.Add("antidisestablishmentarianism", "Donaudampfschifffahrt aaaaaaaaaaaaaaaa", "", "", "aaaaaaaaaaaaaaaa donaudampfschifffahrt", "")
	f.Fuzz(func(t *testing.T, first, second, theme, provider, text, from string) {
		p := newPair(t)
		for _, words := range []string{first, second, first + " " + second, "(" + first + ") OR (" + second + ")"} {
			e, err := match.Parse(words)
			if err != nil || len(theme) > maxTheme || len(provider) > maxProvider {
				continue
			}
			p.insert(Interest{Words: e})
			p.insert(Interest{Words: e, Theme: feedring.Theme(theme), Provider: provider})
		}
		d := docOf(&feedring.Entry{Title: text, Theme: feedring.Theme(theme), Provider: feedring.Provider(from)})
		p.check(&d)
		p.index.Compact()
		p.check(&d)
		if len(p.ids) > 0 {
			p.delete(len(p.ids) / 2)
		}
		p.check(&d)
	})
}

// FuzzTokens compares the numbers that a dictionary gives with those of a map.
func FuzzTokens(f *testing.F) {
	f.Add([]byte("a bb ccc a"))
	f.Add([]byte("eight888 sixteen161616161 seventeen17171717 sixteen161616161"))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, known := newDict(0, 0), make(map[string]uint32)
		var s scan
		s.words(string(text))
		s.cut(len(text))
		var want []uint32
		for i := range s.tokens {
			tok := &s.tokens[i]
			word := string(s.text[tok.from:][:tok.n])
			id, ok := known[word]
			if found, there := d.find(s.text, tok); there != ok || there && found != id {
				t.Fatalf("%q has number %d, found %d, %v", word, id, found, there)
			}
			if !ok {
				id = uint32(len(known))
				known[word] = id
			}
			if got := d.intern(s.text, tok); got != id {
				t.Fatalf("%q has number %d, not %d", word, got, id)
			}
			want = append(want, id)
		}
		if got := d.table.Load().findAll(s.text, s.tokens, nil); !slices.Equal(got, want) {
			t.Fatalf("%q: found %v, want %v", text, got, want)
		}
	})
}
