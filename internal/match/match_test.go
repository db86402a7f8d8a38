package match

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/feedring/feedring"
)

func TestMatch(t *testing.T) {
	entry := &feedring.Entry{
		Title:       "L’Énergie en Europe : l'hiver",
		Summary:     "Prix du gaz &amp; du pétrole",
		ContentHTML: `<p>Le mar&shy;ch&eacute; <b>euro</b>péen</p><p>東京都庁とiPhone年度</p><script>secret()</script>`,
		Provider:    "lemonde.fr",
		Authors:     []string{"Zola"},
	}
	text := TextOf(entry)
	for words, want := range map[string]bool{
		"":                        true,
		"energie":                 true,
		"ÉNERGIE europe":          true,
		"energie OR absent":       true,
		"energie absent":          false,
		"NOT absent":              true,
		"NOT energie":             false,
		"NOT (absent OR energie)": false,
		"europe NOT absent":       true,
		"l'energie":               true,
		`"en europe"`:             true,
		`"europe en"`:             false,
		`"hiver prix"`:            false, // not across fields
		`"l hiver"`:               true,
		"lemonde":                 true,
		"lemonde.fr":              true,
		"monde":                   false,
		"marché européen":         true,
		"gaz pétrole":             true,
		"secret":                  false,
		"zola":                    false,
		"東京":                      true,
		"東京都":                     true,
		"京都庁":                     true,
		"京庁":                      false,
		"庁":                       true, // the last of its run
		"東":                       true,
		"西":                       false,
		"iPhone年":                 true,
		"とiPhone":                 true,
		`"庁と iphone 年"`:           true,
	} {
		e, err := Parse(words)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Match(text); got != want {
			t.Errorf("%q matches %q: %v, want %v", words, text, got, want)
		}
	}
}

// TestMatchAgainstDumb draws expressions and entries from so few words that
// about half of them match, and compares Match with a matcher that is too
// simple to be wrong.
func TestMatchAgainstDumb(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	matched := 0
	for range 4_000 {
		words := randomExpr(rng, 4)
		e, err := Parse(words)
		if err != nil {
			t.Fatal(err)
		}
		checkRoundTrip(t, e)
		text := TextOf(&feedring.Entry{Title: randomText(rng), ContentHTML: randomText(rng), Provider: "a.b"})
		got, want := e.Match(text), dumbMatch(e.root, fieldsOf(text))
		if got != want {
			t.Fatalf("%q (from %q) against %q: %v, the dumb matcher says %v", e, words, text, got, want)
		}
		if got {
			matched++
			checkRequired(t, e, text)
		}
	}
	if matched < 800 || matched > 3_200 {
		t.Errorf("%d of 4000 match: the comparison is worth little", matched)
	}
}

// TestEquivalentFormsAreOne rewrites expressions in ways that do not change
// what they ask.
func TestEquivalentFormsAreOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 800 {
		a, b := randomExpr(rng, 3), randomExpr(rng, 3)
		for _, pair := range [][2]string{
			{"(" + a + ") AND (" + b + ")", "(" + b + ") (" + a + ")"},
			{"(" + a + ") OR (" + b + ")", "(" + b + ") OR (" + a + ") OR (" + b + ")"},
			{"NOT ((" + a + ") OR (" + b + "))", "NOT (" + a + ") NOT (" + b + ")"},
			{"NOT NOT (" + a + ")", strings.Join(strings.Fields(a), "  ")},
		} {
			x, errX := Parse(pair[0])
			y, errY := Parse(pair[1])
			if errX != nil || errY != nil {
				t.Fatal(errX, errY)
			}
			if x.String() != y.String() {
				t.Fatalf("%q is %q, but %q is %q", pair[0], x, pair[1], y)
			}
		}
	}
}

func TestMatchAllocatesNothing(t *testing.T) {
	e, err := Parse(`europe (gaz OR "prix du") NOT 西`)
	if err != nil {
		t.Fatal(err)
	}
	text := TextOf(&feedring.Entry{Title: "Europe : prix du gaz"})
	if n := testing.AllocsPerRun(100, func() { e.Match(text) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func checkRequired(t *testing.T, e *Expr, text Text) {
	t.Helper()
	all := slices.Concat(fieldsOf(text)...)
	for _, w := range e.Required() {
		if !slices.Contains(all, w) {
			t.Fatalf("%q requires %q, yet matches %q", e, w, text)
		}
	}
}

// dumbMatch evaluates an expression over lists of words.
func dumbMatch(n *Node, fields [][]string) bool {
	if n == nil {
		return true
	}
	switch n.Op() {
	case And:
		for kid := range n.Children() {
			if !dumbMatch(kid, fields) {
				return false
			}
		}
		return true
	case Or:
		for kid := range n.Children() {
			if dumbMatch(kid, fields) {
				return true
			}
		}
		return false
	}
	found := false
	for _, field := range fields {
		for i := range field {
			found = found || dumbPhrase(slices.Collect(n.Words()), field[i:])
		}
	}
	return found != n.Negated()
}

// dumbPhrase compares word by word. A single character of a script without
// spaces is found in the pair at either end of the phrase.
func dumbPhrase(phrase, words []string) bool {
	if len(words) < len(phrase) {
		return false
	}
	last := len(phrase) - 1
	for i, want := range phrase {
		got, single := words[i], IsUnit(want)
		switch {
		case got == want:
		case single && last == 0 && strings.Contains(got, want):
		case single && i == 0 && last > 0 && strings.HasSuffix(got, want):
		case single && i == last && last > 0 && strings.HasPrefix(got, want):
		default:
			return false
		}
	}
	return true
}

func fieldsOf(t Text) [][]string {
	var fields [][]string
	for field := range strings.SplitSeq(string(t), "\n") {
		fields = append(fields, strings.Fields(field))
	}
	return fields
}

var fewWords = []string{"a", "b", "É", "l'eau", "東京都", "京", "x.京", "都y", "ß", "น้ำ", "서울"}

func randomExpr(rng *rand.Rand, depth int) string {
	word := fewWords[rng.IntN(len(fewWords))]
	if depth == 0 {
		return word
	}
	switch rng.IntN(8) {
	case 0, 1:
		return randomExpr(rng, depth-1) + " " + randomExpr(rng, depth-1)
	case 2:
		return randomExpr(rng, depth-1) + " AND " + randomExpr(rng, depth-1)
	case 3:
		return randomExpr(rng, depth-1) + " OR " + randomExpr(rng, depth-1)
	case 4:
		return "(" + randomExpr(rng, depth-1) + ")"
	case 5:
		return "NOT (" + randomExpr(rng, depth-1) + ")"
	case 6:
		return fmt.Sprintf("%q", word+" "+fewWords[rng.IntN(len(fewWords))])
	default:
		return word
	}
}

func randomText(rng *rand.Rand) string {
	var b strings.Builder
	for range rng.IntN(8) {
		b.WriteString(fewWords[rng.IntN(len(fewWords))])
		if rng.IntN(4) > 0 {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// TestContains holds the clever way against the plain one, over an alphabet in
// which what is sought stands nearly everywhere.
func TestContains(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	word := func(most int) []byte {
		b := make([]byte, r.IntN(most+1))
		for i := range b {
			b[i] = " ab"[r.IntN(3)]
		}
		return b
	}
	found := 0
	for range 200_000 {
		text, pattern := word(12), append(word(3), " ab"[r.IntN(3)])
		want := bytes.Contains(text, pattern)
		if got := contains(text, pattern, r.IntN(len(pattern))); got != want {
			t.Fatalf("%q in %q: %t", pattern, text, got)
		}
		if want {
			found++
		}
	}
	for word, want := range map[string]int{" energie ": 5, " word49 ": 5, "東": 1, " eee ": 1, " ": 0} {
		if got := rarest([]byte(word)); got != want {
			t.Errorf("the rarest byte of %q is at %d", word, got)
		}
	}
	if found < 20_000 {
		t.Errorf("only %d were there", found)
	}
}
