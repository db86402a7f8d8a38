package stem

import (
	"strings"
	"testing"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/match"
)

func TestStemmedExpressionsMeetStemmedTexts(t *testing.T) {
	for _, test := range []struct {
		language, title, words string
		plain, stemmed         bool
	}{
		{"en", "The election results", "elections result", false, true},
		{"en-GB", "The election results", "elections result", false, true},
		{"fr", "Les élections législatives", "élection législative", false, true},
		{"fr_CA", "Le gouvernement des régions", `"gouvernements DES région"`, false, true},
		{"fr", "Les élections législatives", "présidentielle", false, false},
		{"fr", "Les élections", "NOT élection", true, false},
		{"de", "Die Wahlen in Bayern", "wahl bayern", false, true},
		{"es", "Las elecciones generales", "general OR elección", false, true},
		{"ru", "Выборы президента", "выбор президент", false, true},
		{"zh", "The election results", "elections", false, false},
		{"", "東京都の選挙", "東京", true, true},
		{"en", "東京都の選挙 x", "東", true, true},
	} {
		e, err := match.Parse(test.words)
		if err != nil {
			t.Fatal(err)
		}
		s, ok := For(test.language)
		if ok != (test.language != "" && test.language != "zh") {
			t.Errorf("%q: known %v", test.language, ok)
		}
		text := match.TextOf(&feedring.Entry{Title: test.title, Provider: "lemonde.fr"})
		if m := NewMatcher(e); m.Match(test.language, text) != test.stemmed || m.Match("xx", text) != test.plain {
			t.Errorf("%q: a matcher finds %q in %q: %v", test.language, test.words, test.title, m.Match(test.language, text))
		}
		if e.Match(text) != test.plain || s.Expr(e).Match(s.Text(text)) != test.stemmed {
			t.Errorf("%q in %q: %v, stemmed %v, of which %q in %q", test.words, test.title,
				e.Match(text), s.Expr(e).Match(s.Text(text)), s.Expr(e), s.Text(text))
		}
	}
}

// A stem begins as its word does: Matcher leaves other words alone.
func TestStemsBeginAsTheirWords(t *testing.T) {
	for _, language := range strings.Fields("da de en es fi fr hu it nb nl pt ro ru sv") {
		s, ok := For(language)
		if !ok {
			t.Fatalf("%s is not known", language)
		}
		letters := "aeiouylsntdrg"
		if language == "ru" {
			letters = "аеиоуылснтйья"
		}
		runes := []rune(letters)
		for n := range 13 * 13 * 13 * 13 {
			var word []rune
			for ; n > 0; n /= 13 {
				word = append(word, runes[n%13])
			}
			if w := string(word); w != "" && s.Word(w)[0] != w[0] {
				t.Fatalf("%s: the stem of %q is %q", language, w, s.Word(w))
			}
		}
	}
}

// FuzzText checks that whatever matches word by word still does once both are
// stemmed, and that a stemmed text is a text.
func FuzzText(f *testing.F) {
	f.Add("en", "running elections 東京", "Les élections")
	f.Add("hu", "a b", "x\n")
	f.Add("ru", "Ёлка выборы", "")
	f.Fuzz(func(t *testing.T, language, words, more string) {
		s, _ := For(language)
		text := match.TextOf(&feedring.Entry{Title: words, Summary: more})
		stemmed := s.Text(text)
		if strings.Count(string(text), "\n") != strings.Count(string(stemmed), "\n") ||
			len(strings.Fields(string(text))) != len(strings.Fields(string(stemmed))) {
			t.Fatalf("%q became %q", text, stemmed)
		}
		e, err := match.Parse(words)
		if err != nil {
			return
		}
		if got, want := NewMatcher(e).Match(language, text), s.Expr(e).Match(stemmed); got != want {
			t.Fatalf("a matcher of %q says %v of %q, and the stemmed text %v", e, got, text, want)
		}
		for word := range strings.FieldsSeq(string(text)) {
			if s.Word(word)[0] != word[0] {
				t.Fatalf("the stem of %q begins otherwise: %q", word, s.Word(word))
			}
		}
		if _, plain := e.Conjunction(); plain && e.Match(text) && !s.Expr(e).Match(stemmed) {
			t.Fatalf("%q matches %q, but %q does not match %q", e, text, s.Expr(e), stemmed)
		}
		if again, err := match.Parse(s.Expr(e).String()); err == nil && again.String() != s.Expr(e).String() {
			t.Fatalf("%q is %q once parsed", s.Expr(e), again)
		}
	})
}
