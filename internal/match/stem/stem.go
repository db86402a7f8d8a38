// Package stem takes the endings of words off, so that "elections" is found by
// "election". It knows the languages of the Snowball project, and neither
// guesses a language nor splits a text.
//
// Stemming is an option of personal feeds beside the plain language: a stemmed
// expression meets only texts that were stemmed in the same language, the one
// that a feed names. So for each language there is an index of stemmed interests
// beside the plain one.
//
// Words are stemmed as match.Fold writes them, without accents. A few endings
// that only an accent tells from others stay on, in texts and expressions alike.
package stem

import (
	"strings"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"

	"github.com/feedring/feedring/internal/match"
)

// Stemmer stems the words of one language. The zero Stemmer leaves words as
// they are. It is safe for concurrent use.
type Stemmer struct {
	language string
	stem     func(*snowballstem.Env) bool
}

// For returns the stemmer of a language, given as feeds do: "fr", "fr-CA",
// "en_US". It is not ok for a language that it does not know.
func For(language string) (_ Stemmer, ok bool) {
	name := strings.ToLower(strings.TrimSpace(language))
	if end := strings.IndexAny(name, "-_"); end >= 0 {
		name = name[:end]
	}
	stem := algorithm(name)
	if stem == nil {
		return Stemmer{}, false
	}
	return Stemmer{language: name, stem: stem}, true
}

// Language returns the language without its region, "" for the zero Stemmer.
func (s Stemmer) Language() string { return s.language }

func algorithm(language string) func(*snowballstem.Env) bool {
	switch language {
	case "da":
		return danish.Stem
	case "de":
		return german.Stem
	case "en":
		return english.Stem
	case "es":
		return spanish.Stem
	case "fi":
		return finnish.Stem
	case "fr":
		return french.Stem
	case "hu":
		return hungarian.Stem
	case "it":
		return italian.Stem
	case "nb", "nn", "no":
		return norwegian.Stem
	case "nl":
		return dutch.Stem
	case "pt":
		return portuguese.Stem
	case "ro":
		return romanian.Stem
	case "ru":
		return russian.Stem
	case "sv":
		return swedish.Stem
	}
	return nil
}

// maxWord is the longest word that is stemmed, in bytes. Longer ones are none of
// a language.
const maxWord = 64

// Word returns the stem of a folded word, folded. Where nothing would be left it
// is the word.
func (s Stemmer) Word(word string) string {
	if s.stem == nil || len(word) > maxWord || match.IsUnit(word) {
		return word
	}
	env := snowballstem.NewEnv(word)
	s.stem(env)
	if folded := match.Fold(env.Current()); len(folded) == 1 {
		return folded[0]
	}
	return word
}

// Text returns t with each word replaced by its stem.
func (s Stemmer) Text(t match.Text) match.Text {
	if s.stem == nil {
		return t
	}
	out := make(match.Text, 0, len(t))
	for i, field := range strings.Split(string(t), "\n") {
		if i > 0 {
			out = append(out, '\n')
		}
		if field != "" {
			out = append(out, ' ')
		}
		for word := range strings.FieldsSeq(field) {
			out = append(append(out, s.Word(word)...), ' ')
		}
	}
	return out
}

// Expr returns e with each word replaced by its stem.
func (s Stemmer) Expr(e *match.Expr) *match.Expr { return e.Map(s.Word) }
