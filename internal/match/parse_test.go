package match

import (
	"errors"
	"strings"
	"testing"

	"github.com/feedring/feedring"
)

func TestCanonicalForm(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"", ""},
		{" \t\n", ""},
		{"Europe", "europe"},
		{"europe energie", "energie europe"},
		{"énergie AND Europe", "energie europe"},
		{"a b c b a", "a b c"},
		{"a OR b c", "a OR b c"},
		{"b c OR a", "a OR b c"},
		{"(a OR b) c", "(a OR b) c"},
		{"a OR (b OR (c OR a))", "a OR b OR c"},
		{"((a))", "a"},
		{"NOT a", "NOT a"},
		{"NOT NOT a", "a"},
		{"NOT NOT NOT a", "NOT a"},
		{"NOT a b", "b NOT a"},
		{"NOT a OR b", "b OR NOT a"},
		{"NOT (a b)", "NOT a OR NOT b"},
		{"NOT (a OR b)", "NOT a NOT b"},
		{"NOT (a OR NOT (b c))", "b c NOT a"},
		{"a NOT b", "a NOT b"},
		{"a AND NOT b", "a NOT b"},
		{"NOT(a)b", "b NOT a"},
		{"and or not And", "and not or"},
		{`"AND" x`, "and x"},
		{"AND-gate", `"and gate"`},
		{`"Le Monde"`, `"le monde"`},
		{`"Monde"`, "monde"},
		{`a"b c"d`, `"b c" a d`},
		{"“le monde”", `"le monde"`},
		{"«le monde»", `"le monde"`},
		{"lemonde.fr", `"lemonde fr"`},
		{"l'énergie", `"l energie"`},
		{"東京都", `"東京 京都"`},
		{"東京（水 OR 火）", "東京 (水 OR 火)"},
		{"climat – énergie & co", "climat co energie"},
		{"a - OR & b", "a OR b"},
		{"europe -elections", "europe NOT elections"},
		{"-elections europe", "europe NOT elections"},
		{"europe −elections", "europe NOT elections"},
		{`europe -"prix fixe" -(gaz OR or)`, `europe NOT "prix fixe" NOT gaz NOT or`},
		{"europe (-gaz OR petrole)", "europe (petrole OR NOT gaz)"},
		{"-l'énergie", `NOT "l energie"`},
		{"-saint-denis", `NOT "saint denis"`},
		{"saint-denis a-", `"saint denis" a`},
		{`"a b"-c`, `"a b" c`},
		{"NOT -a", "a"},
		{"a -> b -, -- c – d —e", "a b c d e"},
		{"(a -)", "a"},
	} {
		e, err := Parse(test.in)
		if err != nil {
			t.Errorf("Parse(%q): %v", test.in, err)
			continue
		}
		if e.String() != test.want {
			t.Errorf("Parse(%q) is %q, want %q", test.in, e, test.want)
		}
		checkRoundTrip(t, e)
		if e.All() != (test.want == "") {
			t.Errorf("Parse(%q).All() = %v", test.in, e.All())
		}
	}
}

func TestSyntaxErrors(t *testing.T) {
	for _, test := range []struct {
		in, msg string
		offset  int
	}{
		{"(europe AND", "a word is missing after AND", 11},
		{"(europe", `"(" is never closed`, 0},
		{"a (b (c d)", `"(" is never closed`, 2},
		{"a\xff\xfe", "this is no UTF-8 text", 1},
		{"\ufffd (é \xc3", "this is no UTF-8 text", 8},
		{"europe)", `")" closes nothing`, 6},
		{"a (b)) c", `")" closes nothing`, 5},
		{")", `")" closes nothing`, 0},
		{"()", "nothing stands between the parentheses", 1},
		{"a ( )", "nothing stands between the parentheses", 4},
		{"(&)", "nothing stands between the parentheses", 2},
		{"AND", "a word is missing before AND", 0},
		{"OR x", "a word is missing before OR", 0},
		{"NOT", "a word is missing after NOT", 3},
		{"a NOT", "a word is missing after NOT", 5},
		{"a OR", "a word is missing after OR", 4},
		{"a -AND b", "a word is missing between NOT and AND", 3},
		{"a -()", "nothing stands between the parentheses", 4},
		{`a -"b`, "the quote is never closed", 3},
		{"a --b", "two hyphens before a word: what must not be there is -word with one, or NOT word", 3},
		{"a AND OR b", "a word is missing between AND and OR", 6},
		{"a AND AND b", "a word is missing between AND and AND", 6},
		{"a NOT AND b", "a word is missing between NOT and AND", 6},
		{"(a OR) b", `a word is missing between OR and ")"`, 5},
		{"(OR a)", `a word is missing between "(" and OR`, 1},
		{"(", `a word is missing after "("`, 1},
		{`"le monde`, "the quote is never closed", 0},
		{`a "b" "`, "the quote is never closed", 6},
		{`a ""`, "the phrase has no letter or digit to look for", 2},
		{`"?!"`, "the phrase has no letter or digit to look for", 0},
		{"& -", "no letter or digit to look for", 0},
		{strings.Repeat("(", 65) + "a" + strings.Repeat(")", 65), "more than 64 parentheses inside each other", 64},
		{strings.Repeat("a ", 257), "more than 256 words and phrases", 512},
		{strings.Repeat("é", 2049), "the expression has 4098 bytes and at most 4096 are allowed", 4096},
		{strings.Repeat("東", 1000), "the expression has 6994 bytes and at most 4096 are allowed once split into words", 3000},
	} {
		e, err := Parse(test.in)
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || e != nil {
			t.Errorf("Parse(%.40q) = %v, %v, want a *SyntaxError", test.in, e, err)
			continue
		}
		if syntax.Msg != test.msg || syntax.Offset != test.offset {
			t.Errorf("Parse(%.40q): %q at %d, want %q at %d", test.in, syntax.Msg, syntax.Offset, test.msg, test.offset)
		}
		checkSyntaxError(t, syntax)
	}
}

func TestLimitsThemselvesAreAllowed(t *testing.T) {
	for _, in := range []string{
		strings.Repeat("(", MaxDepth) + "a" + strings.Repeat(")", MaxDepth),
		strings.Repeat("a ", MaxTerms),
		strings.Repeat("(a) ", MaxTerms),
		strings.Repeat("a", feedring.MaxExpression),
		strings.Repeat("NOT ", 1000) + "a",
		strings.Repeat("(a OR ", MaxDepth) + "b" + strings.Repeat(")", MaxDepth),
		strings.Repeat("NOT (a (b OR ", MaxDepth/2) + "c" + strings.Repeat("))", MaxDepth/2),
	} {
		e, err := Parse(in)
		if err != nil {
			t.Errorf("Parse(%.60q…): %v", in, err)
			continue
		}
		checkRoundTrip(t, e)
	}
}

func TestPlaceOfAnError(t *testing.T) {
	long := strings.Repeat("mot ", 100)
	for _, test := range []struct{ in, place, line string }{
		{"(europe AND", "(europe AND\n           ^", `query: a word is missing after AND, at character 12 of "(europe AND"`},
		{"été)\tx", "été) x\n   ^", `query: ")" closes nothing, at character 4 of "été) x"`},
		{"東京 )", "東京 )\n     ^", `query: ")" closes nothing, at character 4 of "東京 )"`},
		{"e\u0301te) \x1b[2J", "e\u0301te) \ufffd[2J\n   ^", "query: \")\" closes nothing, at character 5 of \"e\u0301te) \ufffd[2J\""},
		{
			long + ") " + long,
			"…" + strings.Repeat("mot ", 12) + ") " + strings.Repeat("mot ", 11) + "mo…\n" + strings.Repeat(" ", 49) + "^",
			`query: ")" closes nothing, at character 401 of "…` + strings.Repeat("mot ", 12) + ") " + strings.Repeat("mot ", 11) + `mo…"`,
		},
	} {
		_, err := Parse(test.in)
		var syntax *SyntaxError
		if !errors.As(err, &syntax) {
			t.Fatalf("Parse(%q) = %v", test.in, err)
		}
		if got := syntax.Place(); got != test.place {
			t.Errorf("place:\n%s\nwant:\n%s", got, test.place)
		}
		if got := syntax.Error(); got != test.line {
			t.Errorf("line:\n%s\nwant:\n%s", got, test.line)
		}
	}
}

func TestRequired(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"", ""},
		{"a", "a"},
		{"b a NOT c", "a b"},
		{"a OR b", ""},
		{"a OR b a", "a"},
		{"c (a b OR d b)", "b c"},
		{"NOT a", ""},
		{`"le monde" x`, "le monde x"},
		{"水", ""},
		{"x 水", "x"},
		{"2024年", "2024"},
	} {
		e, err := Parse(test.in)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(e.Required(), " "); got != test.want {
			t.Errorf("%q requires %q, want %q", test.in, got, test.want)
		}
	}
}

func TestZeroExprMatchesEverything(t *testing.T) {
	var none *Expr
	for _, e := range []*Expr{none, {}} {
		if !e.All() || !e.Match(nil) || e.String() != "" || e.Root() != nil || e.Required() != nil {
			t.Errorf("%#v does not match everything", e)
		}
	}
}

func checkRoundTrip(t *testing.T, e *Expr) {
	t.Helper()
	again, err := Parse(e.String())
	if err != nil {
		t.Fatalf("the canonical form does not parse: %v", err)
	}
	if again.String() != e.String() {
		t.Fatalf("the canonical form %q becomes %q", e, again)
	}
	if again.Match(Text(" a \n b ")) != e.Match(Text(" a \n b ")) {
		t.Fatalf("the canonical form %q matches something else", e)
	}
}

func checkSyntaxError(t *testing.T, err *SyntaxError) {
	t.Helper()
	if err.Offset < 0 || err.Offset > len(err.Expr) || len(err.Expr) > feedring.MaxExpression {
		t.Fatalf("offset %d of %d bytes", err.Offset, len(err.Expr))
	}
	if strings.ContainsAny(err.Error(), "\r\n") || strings.Count(err.Place(), "\n") != 1 {
		t.Fatalf("lines of %q and %q", err.Error(), err.Place())
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "a b OR NOT (c AND \"d e\")", "(europe AND", "l'énergie 東京都 水", "NOT (a (b OR NOT c))", "“x” « y", "ﷺ (&) -"} {
		f.Add(s, "l énergie de 東京 a b c d e")
	}
	f.Fuzz(func(t *testing.T, s, title string) {
		e, err := Parse(s)
		if err != nil {
			var syntax *SyntaxError
			if !errors.As(err, &syntax) {
				t.Fatalf("%T", err)
			}
			checkSyntaxError(t, syntax)
			return
		}
		checkRoundTrip(t, e)
		text := TextOf(&feedring.Entry{Title: title})
		if got, want := e.Match(text), dumbMatch(e.root, fieldsOf(text)); got != want {
			t.Fatalf("%q against %q: %v, the dumb matcher says %v", e, text, got, want)
		}
	})
}

func TestConjunction(t *testing.T) {
	for in, want := range map[string]string{
		"Europe": "europe", "énergie Europe": "energie europe", "(a b) a": "a b", "東京": "東京", "NOT NOT a": "a",
		"": "", "a OR b": "", "NOT a": "", "a NOT b": "", `"a b"`: "", "lemonde.fr": "", "東京都": "", "a 京": "", "a (b OR c)": "",
	} {
		e, err := Parse(in)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := e.Conjunction(); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v", in, got, ok)
		}
	}
	if _, ok := (*Expr)(nil).Conjunction(); ok {
		t.Error("nil is no conjunction")
	}
}
