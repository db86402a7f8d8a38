package match

import (
	"strings"
	"testing"

	"github.com/feedring/feedring"
)

// benchEntry has a title and a content of n words together, in French.
func benchEntry(n int) *feedring.Entry {
	const some = "Le gouvernement français présente à l’Assemblée une réforme du marché de l'électricité que les " +
		"régions, les communes et plusieurs associations de consommateurs jugent “précipitée” … "
	words := strings.Fields(strings.Repeat(some, n/24+1))[:n-8]
	return &feedring.Entry{
		Title:       "Énergie : l’Europe cherche une réponse commune",
		ContentHTML: "<p>" + strings.Join(words, " ") + "</p>",
		Provider:    "lemonde.fr",
	}
}

func BenchmarkMatchText(b *testing.B) {
	for _, bench := range []struct {
		name, words string
		length      int
	}{
		{"both of 60", "europe energie", 60},
		{"one of 60", "energie absent", 60},
		{"none of 60", "absent inconnu", 60},
		{"phrase of 60", `"reponse commune"`, 60},
		{"both of 2000", "europe energie", 2000},
	} {
		b.Run(bench.name, func(b *testing.B) {
			e, err := Parse(bench.words)
			if err != nil {
				b.Fatal(err)
			}
			text := TextOf(benchEntry(bench.length))
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				e.Match(text)
			}
		})
	}
}

func BenchmarkTextOf(b *testing.B) {
	chinese := &feedring.Entry{ContentHTML: strings.Repeat("<p>北京大学今天发布了关于能源市场的研究报告。</p>", 30)}
	for name, entry := range map[string]*feedring.Entry{"60": benchEntry(60), "2000": benchEntry(2000), "Chinese 630": chinese} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				TextOf(entry)
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(`(europe OR "union européenne") énergie NOT sport`); err != nil {
			b.Fatal(err)
		}
	}
}
