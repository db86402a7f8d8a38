package index

import (
	"math"
	"math/rand/v2"
	"sort"
	"strings"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/match"
)

// workload is the one that figures are compared on: 50,000 words by Zipf's law
// with exponent 1; conjunctions of 1 to 8 words without the 29 commonest;
// entries of words drawn by the same law.
type workload struct {
	rng   *rand.Rand
	words []string
	sums  []float64 // of the words' shares, so far
}

const (
	vocabulary = 50_000
	commonest  = 29
)

// lengths is how many of a thousand conjunctions have 1, 2, … words.
var lengths = []int{180, 270, 240, 150, 80, 45, 20, 15}

func newWorkload(seed uint64) *workload {
	w := &workload{rng: rand.New(rand.NewPCG(seed, 1))}
	seen := make(map[string]bool)
	sum := 0.0
	for rank := 1; rank <= vocabulary; rank++ {
		word := w.spell(rank)
		for seen[word] || match.IsStop(word) {
			word = w.spell(rank)
		}
		seen[word] = true
		w.words = append(w.words, word)
		sum += 1 / float64(rank)
		w.sums = append(w.sums, sum)
	}
	return w
}

// spell makes a word up, longer where it is rare: 7 letters in the mean of a
// text's words, 9 in the mean of all.
func (w *workload) spell(rank int) string {
	syllables := 1 + int(math.Log10(float64(rank)))/2 + w.rng.IntN(3)
	var b strings.Builder
	for range syllables {
		b.WriteByte("bcdfglmnprstvz"[w.rng.IntN(14)])
		b.WriteByte("aeiou"[w.rng.IntN(5)])
		if w.rng.IntN(2) == 0 {
			b.WriteByte("lnrst"[w.rng.IntN(5)])
		}
	}
	return b.String()
}

// draw returns a word that is not among the first few.
func (w *workload) draw(without int) string {
	low := 0.0
	if without > 0 {
		low = w.sums[without-1]
	}
	u := low + w.rng.Float64()*(w.sums[vocabulary-1]-low)
	return w.words[min(sort.SearchFloat64s(w.sums, u), vocabulary-1)]
}

func (w *workload) conjunction() string {
	u, n := w.rng.IntN(1000), 0
	for u >= lengths[n] {
		u -= lengths[n]
		n++
	}
	words := make([]string, 0, 8)
	for range n + 1 {
		words = append(words, w.draw(commonest))
	}
	return strings.Join(words, " ")
}

func (w *workload) interest() Interest {
	e, err := match.Parse(w.conjunction())
	if err != nil {
		panic(err)
	}
	return Interest{Words: e}
}

// entry has n words, eight of them in the title.
func (w *workload) entry(n int) *feedring.Entry {
	words := make([]string, n)
	for i := range words {
		words[i] = w.draw(0)
	}
	words[0] = strings.ToUpper(words[0][:1]) + words[0][1:]
	return &feedring.Entry{
		Title:       strings.Join(words[:8], " "),
		ContentHTML: strings.Join(words[8:], " ") + ".",
	}
}
