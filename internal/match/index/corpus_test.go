package index

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/match"
)

const corpusDir = "../../../../shared/feeds/corpus"

// corpusDocs are pieces of real feeds, markup and wrong encodings included.
func corpusDocs(t *testing.T) []*Doc {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(corpusDir, "*.xml"))
	if err != nil || len(files) == 0 {
		t.Skip("the corpus of real feeds is not here")
	}
	var docs []*Doc
	for i := 0; i < len(files); i += 3 {
		raw, err := os.ReadFile(files[i])
		if err != nil {
			t.Fatal(err)
		}
		host, _, _ := strings.Cut(filepath.Base(files[i]), "__")
		half := len(raw) / 2
		d := docOf(&feedring.Entry{
			ContentHTML: string(raw[half:min(len(raw), half+3000)]),
			Provider:    feedring.Provider(host),
			Published:   noon,
		})
		if len(d.Text) > 200 {
			docs = append(docs, &d)
		}
	}
	return docs
}

// phrase returns some words of a text that stand beside each other.
func phrase(rng *rand.Rand, d *Doc, n int) string {
	fields := strings.Split(string(d.Text), "\n")
	words := strings.Fields(fields[0])
	from := rng.IntN(max(1, len(words)-n))
	return strings.Join(words[from:min(len(words), from+n)], " ")
}

// TestAgainstModelOnRealText asks real texts for words and phrases of their own
// and of each other.
func TestAgainstModelOnRealText(t *testing.T) {
	docs := corpusDocs(t)
	rng := rand.New(rand.NewPCG(11, 12))
	p := newPair(t)
	for range 4_000 {
		a, b := docs[rng.IntN(len(docs))], docs[rng.IntN(len(docs))]
		words := one(rng, []string{
			phrase(rng, a, 1), phrase(rng, a, 1) + " " + phrase(rng, a, 1),
			phrase(rng, a, 1) + " " + phrase(rng, a, 2), fmt.Sprintf("%q", phrase(rng, a, 2)),
			fmt.Sprintf("%q %s", phrase(rng, a, 3), phrase(rng, a, 1)),
			phrase(rng, a, 2) + " OR " + phrase(rng, b, 1), phrase(rng, a, 1) + " NOT " + phrase(rng, b, 1),
		})
		e, err := match.Parse(words)
		if err != nil {
			t.Fatalf("%q: %v", words, err)
		}
		in := Interest{Words: e}
		if rng.IntN(5) == 0 {
			in.Provider = string(a.Provider)
		}
		p.insert(in)
	}
	found := 0
	for i, d := range docs {
		if i == len(docs)/2 {
			p.index.Compact()
		}
		found += p.check(d)
	}
	if len(docs) < 20 || found < 20*len(docs) {
		t.Errorf("only %d found in %d texts: the comparison is worth little", found, len(docs))
	}
}
