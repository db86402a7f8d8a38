package match

import (
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestFold(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"empty", "", ""},
		{"punctuation", " -- ! … ", ""},
		{"case", "Le MONDE", "le monde"},
		{"host", "www.lemonde.fr", "www lemonde fr"},
		{"digits", "COVID-19, 3.14 m²", "covid 19 3 14 m2"},
		{"apostrophe", "L'Énergie", "l energie"},
		{"typographic apostrophe", "L’Énergie aujourd’hui", "l energie aujourd hui"},
		{"letter apostrophe", "LʼÉnergie Hawaiʻi", "l energie hawai i"},
		{"fullwidth apostrophe", "ｌ＇ｅａｕ", "l eau"},
		{"decomposed", "E\u0301te\u0301", "ete"},
		{"French", "Œuvre, cœur, ça, naïf, où, ÆTHER", "oeuvre coeur ca naif ou aether"},
		{"German", "Straße STRASSE GROẞ Übergröße", "strasse strasse gross ubergrosse"},
		{"Danish", "Smørrebrød på Ærø", "smorrebrod pa aero"},
		{"Icelandic", "Þórður Ægisson", "thordur aegisson"},
		{"Polish", "Łódź źdźbło", "lodz zdzblo"},
		{"Croatian", "Đoković", "dokovic"},
		{"Vietnamese", "Đà Nẵng, Hà Nội", "da nang ha noi"},
		{"Turkish", "İSTANBUL ısı IŞIK", "istanbul isi isik"},
		{"Catalan", "col·lecció COL·LECCIÓ coŀlecció", "colleccio colleccio colleccio"},
		{"middle dot elsewhere", "étudiant·e·s", "etudiant e s"},
		{"Spanish", "¿Mañana? 1º", "manana 1o"},
		{"Romanian", "Știință țară", "stiinta tara"},
		{"Czech", "Příliš žluťoučký kůň", "prilis zlutoucky kun"},
		{"Wolof", "Ñëw ci Ndakaaru, Ŋaam", "new ci ndakaaru naam"},
		{"Hausa", "Ɓarna ƙasa ɗaki", "barna kasa daki"},
		{"Greek", "Ὀδυσσεύς ΟΔΟΣ οδός ᾳ", "οδυσσευσ οδοσ οδοσ α"},
		{"Russian", "Ёлка, йод, за́мок", "елка йод замок"},
		{"Russian decomposed", "и\u0306од е\u0308лка", "йод елка"},
		{"Ukrainian", "Їжак, п'ять, п’ять", "їжак п ять п ять"},
		{"Belarusian", "ЎСЁ", "ўсе"},
		{"Hebrew", "שָׁלוֹם צה״ל", "שלום צה ל"},
		{"Arabic", "الأَخْبَارُ المـــدرسة ٢٠٢٤", "الاخبار المدرسه 2024"},
		{"Persian", "می\u200cخواهم کتاب ۱۲", "ميخواهم كتاب 12"},
		{"Hindi", "हिन्दी समाचार १२", "हिन्दी समाचार 12"},
		{"Tamil", "தமிழ் செய்தி", "தமிழ் செய்தி"},
		{"Chinese", "东京 北京大学", "东京 北京 京大 大学"},
		{"single Han", "水", "水"},
		{"Japanese", "東京タワーへ", "東京 京タ タワ ワー ーへ"},
		{"Japanese halfwidth", "ｶﾞｽ", "ガス"},
		{"Japanese decomposed", "か\u3099", "が"},
		{"mixed", "NHK東京2024年度", "nhk 東京 2024 年度"},
		{"Korean", "서울 뉴스", "서울 뉴스"},
		{"Korean decomposed", "\u1109\u1165\u110b\u116e\u11af", "서울"},
		{"Thai", "น้ำ ข่าว", "น\u0e49\u0e4dา ข่า าว"},
		{"fullwidth", "ＡＢＣ１２", "abc12"},
		{"ligature", "oﬃce ﬁn", "office fin"},
		{"trade mark", "iPhone™ Coca℠", "iphone coca"},
		{"soft hyphen", "Euro\u00adpa zero\u200bwidth", "europa zerowidth"},
		{"mathematical", "𝐇𝐞𝐥𝐥𝐨 𝟚𝟜", "hello 24"},
		{"emoji", "🚀 1️⃣ go", "1 go"},
		{"not UTF-8", "a\xffb \xc3", "a b"},
		{"stacked marks", "z" + strings.Repeat("\u0301", 100), "z"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := strings.Join(Fold(test.in), " "); got != test.want {
				t.Errorf("Fold(%q) = %q, want %q", test.in, got, test.want)
			}
			checkFold(t, test.in)
		})
	}
}

// TestDigits checks what digit relies on: the digits of a script are
// ten neighbours from zero.
func TestDigits(t *testing.T) {
	for _, zero := range []rune{'0', '٠', '۰', '०', '০', '๐', '༠', '០', '߀', '᠐'} {
		for i := range rune(10) {
			if got := digit(zero + i); got != '0'+byte(i) {
				t.Errorf("digit(%q) = %q, want %d", zero+i, got, i)
			}
		}
	}
}

func TestAppendWordsStopsAtALimit(t *testing.T) {
	for _, in := range []string{strings.Repeat("word ", 100), strings.Repeat("東", 100), strings.Repeat("w", 100), "Ünï çødé"} {
		whole := appendWords(nil, in, 1<<20)
		for limit := range 40 {
			got := appendWords(nil, in, limit)
			if len(got) > limit {
				t.Fatalf("%q: %d bytes beyond the limit of %d", in, len(got), limit)
			}
			if !strings.HasPrefix(string(whole), string(got)) || len(got) > 0 && got[len(got)-1] != ' ' {
				t.Fatalf("%q cut at %d is %q", in, limit, got)
			}
		}
	}
}

// checkFold checks what holds for every input.
func checkFold(t *testing.T, s string) {
	t.Helper()
	words := Fold(s)
	if slow := slowFold(s); !slices.Equal(words, slow) {
		t.Fatalf("Fold(%q) is %q, by the rules for all scripts %q", s, words, slow)
	}
	for _, w := range words {
		if w == "" || !utf8.ValidString(w) || strings.ContainsAny(w, " \n\"()'") {
			t.Fatalf("Fold(%q) has the word %q", s, w)
		}
	}
	if again := Fold(strings.Join(words, " ")); !slices.Equal(words, again) {
		t.Fatalf("Fold(%q) is %q, folded again %q", s, words, again)
	}
}

// slowFold does without the tables of plain characters.
func slowFold(s string) []string {
	f := folder{limit: math.MaxInt}
	for piece := range strings.SplitSeq(s, " ") {
		f.piece(piece)
		f.end()
	}
	return strings.Fields(string(f.out))
}

// TestPlainCharacters puts each character that has a place in a table between
// others, plain and not.
func TestPlainCharacters(t *testing.T) {
	known := 0
	for r := range rune(punctEnd + 16) {
		if _, ok := plainRune(r); ok {
			known++
		}
		for _, s := range []string{"a%cb", "%c", "%c%c a", "a %cl·l%c", "%c\u0301 é%c", "東%c京", "e%c\u0327 %cx"} {
			checkFold(t, strings.ReplaceAll(s, "%c", string(r)))
		}
	}
	if known < 500 {
		t.Errorf("only %d characters are plain", known)
	}
}

func FuzzFold(f *testing.F) {
	for _, s := range []string{"", "L'Énergie", "col·lecció ŀl", "東京タワー 年", "न\u0301\u093c", "\u1100\u0301\u1161", "น้ำ", "a\u0345Ω", "\u3099か\u0301\u3099", "ﷺ", "0ﹷ", "اـٔ"} {
		f.Add(s)
	}
	f.Fuzz(checkFold)
}
