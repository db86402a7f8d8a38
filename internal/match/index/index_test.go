package index

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/match"
)

func interest(t *testing.T, words string) Interest {
	t.Helper()
	e, err := match.Parse(words)
	if err != nil {
		t.Fatal(err)
	}
	return Interest{Words: e}
}

func TestBroadInterestsAreRefused(t *testing.T) {
	ix := New()
	for words, broad := range map[string]bool{
		"":                       true,
		"the":                    true,
		"the of les":             true,
		"NOT sport":              true,
		"NOT (a b)":              true,
		"gaz OR NOT gaz":         true,
		"gaz OR the":             true,
		"the NOT gaz":            true,
		"the gaz":                false,
		`"to be or not to be"`:   false,
		"gaz NOT the":            false,
		"gaz OR petrole":         false,
		"the (gaz OR petrole)":   false,
		"NOT sport gaz":          false,
		"京":                      false,
		"car":                    false,
		"NOT (NOT gaz OR NOT a)": false,
	} {
		in := interest(t, words)
		_, err := ix.Insert(in)
		if errors.Is(err, ErrBroad) != broad || err != nil != broad {
			t.Errorf("%q: %v", words, err)
		}
		in.Theme = "news"
		if _, err := ix.Insert(in); err != nil {
			t.Errorf("%q within a theme: %v", words, err)
		}
	}
	if _, err := ix.Insert(Interest{}); !errors.Is(err, ErrBroad) {
		t.Errorf("the zero interest: %v", err)
	}
	if _, err := ix.Insert(Interest{Since: noon}); !errors.Is(err, ErrBroad) {
		t.Errorf("a date alone: %v", err)
	}
	if _, err := ix.Insert(Interest{Provider: "fr"}); err != nil {
		t.Errorf("a provider alone: %v", err)
	}
}

func TestLongInterests(t *testing.T) {
	p := newPair(t)
	words := make([]string, match.MaxTerms)
	for i := range words {
		words[i] = "w" + strings.Repeat("o", i%10) + string(rune('a'+i%26)) + string(rune('a'+i/26))
	}
	all := strings.Join(words, " ")
	for _, expr := range []string{all, strings.Join(words, " OR "), strings.Join(words[:60], " "), strings.Join(words[:63], " "), strings.Join(words[:65], " ")} {
		in := interest(t, expr)
		p.insert(in)
		in.Theme, in.Provider = "news", "lemonde.fr"
		p.insert(in)
	}
	p.insert(interest(t, strings.Repeat("x", feedring.MaxExpression)))
	for _, text := range []string{all, strings.Join(words[:70], " "), strings.Join(words[3:], " "), strings.Repeat("x", feedring.MaxExpression), ""} {
		d := docOf(&feedring.Entry{ContentHTML: text, Theme: "news", Provider: "www.lemonde.fr"})
		p.check(&d)
		p.index.Compact()
		p.check(&d)
	}
	for _, in := range []Interest{{Theme: feedring.Theme(strings.Repeat("a", 33))}, {Provider: strings.Repeat("a", 254)}} {
		if _, err := p.index.Insert(in); err == nil || errors.Is(err, ErrBroad) {
			t.Errorf("a name that is too long: %v", err)
		}
	}
}

// TestEqualInterestsAreOneGroup inserts one interest in many forms.
func TestEqualInterestsAreOneGroup(t *testing.T) {
	ix := New()
	for range 1000 {
		for _, words := range []string{"gaz Énergie", "energie AND gaz", "(gaz energie) gaz"} {
			if _, err := ix.Insert(interest(t, words)); err != nil {
				t.Fatal(err)
			}
		}
		in := interest(t, "gaz OR énergie")
		in.Since = time.Unix(1, 0)
		if _, err := ix.Insert(in); err != nil {
			t.Fatal(err)
		}
	}
	ix.Compact()
	m := ix.NewMatcher()
	d := docOf(&feedring.Entry{Title: "L'énergie, le gaz", Published: noon})
	if groups := m.Match(&d); groups != 2 {
		t.Errorf("%d groups, want 2", groups)
	}
	if ids := m.Append(nil); len(ids) != 4000 {
		t.Errorf("%d subscriptions, want 4000", len(ids))
	}
}

// TestForgottenWordsGo inserts and deletes interests in words that nobody ever
// asks again.
func TestForgottenWordsGo(t *testing.T) {
	ix := New()
	for i := range 30_000 {
		id, err := ix.Insert(interest(t, "word"+strings.Repeat("x", i%7)+string(rune(0x4E00+i%20_000))+" gaz"))
		if err != nil {
			t.Fatal(err)
		}
		ix.Delete(id)
	}
	if words := ix.now.Load().dict.count.Load(); words > 4*minPack {
		t.Errorf("%d words are kept for no subscription", words)
	}
	if ids := ix.next; ids > 4*minPack {
		t.Errorf("%d numbers were given out for one subscription at a time", ids)
	}
}

func TestMatchAllocatesNothing(t *testing.T) {
	ix := New()
	for _, words := range []string{"gaz", "gaz energie", `"prix du gaz"`, "gaz OR petrole", "京"} {
		if _, err := ix.Insert(interest(t, words)); err != nil {
			t.Fatal(err)
		}
	}
	m := ix.NewMatcher()
	d := docOf(&feedring.Entry{Title: "Le prix du gaz 東京", Provider: "lemonde.fr", Theme: "news"})
	if n := testing.AllocsPerRun(100, func() { m.Match(&d) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// docOf makes the Doc of an entry.
func docOf(e *feedring.Entry) Doc {
	return Doc{Text: match.TextOf(e), Theme: e.Theme, Provider: e.Provider, Published: e.Published}
}
