package match

import (
	"bytes"
	"strings"
	"testing"

	"github.com/feedring/feedring"
)

func TestTextOf(t *testing.T) {
	for _, test := range []struct {
		name  string
		entry feedring.Entry
		want  string
	}{
		{"nothing", feedring.Entry{}, ""},
		{"fields", feedring.Entry{Title: "T", Summary: "S", ContentHTML: "<p>C</p>", Provider: "p.org"}, " c \n t \n s \n p org "},
		{"provider alone", feedring.Entry{Provider: "lemonde.fr"}, " lemonde fr "},
		{"blocks part, inline joins", feedring.Entry{ContentHTML: "a<p>b</p>c<br>d H<sub>2</sub>O w<b>or</b>d<img alt=x>e"}, " a b c d h2o word e "},
		{"entities", feedring.Entry{ContentHTML: "L&rsquo;&eacute;t&#233; &lt;b&gt; R&amp;D"}, " l ete b r d "},
		{"hidden", feedring.Entry{ContentHTML: "<style>p{}</style>a<script>var b='<p>'</script>c<!-- d --><noscript><img></noscript>e"}, " a c e "},
		{"broken", feedring.Entry{ContentHTML: "<p <b>a</i></p></p> b <unclosed c"}, " a b "},
		{"title is text", feedring.Entry{Title: "The <canvas> element, x<y &amp; z"}, " the canvas element x y z "},
		{"summary with tags", feedring.Entry{Summary: "<p>Bonjour</p> <em>le</em> monde"}, " bonjour le monde "},
		{"summary without", feedring.Entry{Summary: "if x<y or 3 < 4 then R&amp;D"}, " if x y or 3 4 then r d "},
		{"summary repeats content", feedring.Entry{Title: "t", Summary: "un deux", ContentHTML: "<p>zéro un deux trois"}, " zero un deux trois \n t "},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := string(TextOf(&test.entry)); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func TestTextIsBounded(t *testing.T) {
	for _, huge := range []string{
		strings.Repeat("word ", 60_000), strings.Repeat("東", 60_000), strings.Repeat("ﷺ", 10_000),
		strings.Repeat("<b>", 100_000), strings.Repeat("w", 300_000),
	} {
		text := TextOf(&feedring.Entry{Title: "the title", Summary: "the summary", ContentHTML: huge, Provider: "example.org"})
		if len(text) > MaxText {
			t.Errorf("%d bytes", len(text))
		}
		for _, words := range []string{`"the title"`, `"the summary"`, "example.org"} {
			if e, err := Parse(words); err != nil || !e.Match(text) {
				t.Errorf("%q is not found behind %d bytes of %q: %v", words, len(huge), huge[:4], err)
			}
		}
		if text = TextOf(&feedring.Entry{Title: huge, Summary: huge}); len(text) > MaxText {
			t.Errorf("%d bytes without content", len(text))
		}
	}
}

func TestTextSurvivesAStore(t *testing.T) {
	text := TextOf(&feedring.Entry{Title: "L'Énergie", Provider: "lemonde.fr"})
	again := Text(bytes.Clone(text.Bytes()))
	if e, _ := Parse("energie lemonde.fr"); !e.Match(again) {
		t.Errorf("%q does not match %q", e, again)
	}
}

func FuzzTextOf(f *testing.F) {
	f.Add("title", "<p>summary</p>", "<div>content <script>x</script></div>")
	f.Fuzz(func(t *testing.T, title, summary, content string) {
		text := TextOf(&feedring.Entry{Title: title, Summary: summary, ContentHTML: content})
		if len(text) > MaxText {
			t.Fatalf("%d bytes", len(text))
		}
		for field := range strings.SplitSeq(string(text), "\n") {
			if len(text) > 0 && (field[0] != ' ' || field[len(field)-1] != ' ' || strings.Contains(field, "  ")) {
				t.Fatalf("field %q", field)
			}
		}
	})
}
