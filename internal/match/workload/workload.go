// Package workload makes up the interests and entries that figures are compared on, after
// those of Cobra (Rose et al., NSDI 2007): for benchmarks.
package workload

import (
	"math"
	"math/rand/v2"
	"sort"
	"strings"

	"github.com/feedring/feedring/internal/match"
)

// Workload draws from 50,000 words by Zipf's law with exponent 1: conjunctions of 1 to 8
// words without the 29 commonest, and texts of words drawn by the same law. It is not safe
// for concurrent use.
type Workload struct {
	Rand  *rand.Rand
	Words []string  // the commonest first
	sums  []float64 // of the words' shares, so far
}

const (
	vocabulary = 50_000
	commonest  = 29
)

// lengths is how many of a thousand conjunctions have 1, 2, … words.
var lengths = []int{180, 270, 240, 150, 80, 45, 20, 15}

// New returns the workload of a seed.
func New(seed uint64) *Workload {
	w := &Workload{Rand: rand.New(rand.NewPCG(seed, 1))}
	seen := make(map[string]bool)
	sum := 0.0
	for rank := 1; rank <= vocabulary; rank++ {
		word := w.spell(rank)
		for seen[word] || match.IsStop(word) {
			word = w.spell(rank)
		}
		seen[word] = true
		w.Words = append(w.Words, word)
		sum += 1 / float64(rank)
		w.sums = append(w.sums, sum)
	}
	return w
}

// spell makes a word up, longer where it is rare: 7 letters in the mean of a
// text's words, 9 in the mean of all.
func (w *Workload) spell(rank int) string {
	syllables := 1 + int(math.Log10(float64(rank)))/2 + w.Rand.IntN(3)
	var b strings.Builder
	for range syllables {
		b.WriteByte("bcdfglmnprstvz"[w.Rand.IntN(14)])
		b.WriteByte("aeiou"[w.Rand.IntN(5)])
		if w.Rand.IntN(2) == 0 {
			b.WriteByte("lnrst"[w.Rand.IntN(5)])
		}
	}
	return b.String()
}

// draw returns a word that is not among the first few.
func (w *Workload) draw(without int) string {
	low := 0.0
	if without > 0 {
		low = w.sums[without-1]
	}
	u := low + w.Rand.Float64()*(w.sums[vocabulary-1]-low)
	return w.Words[min(sort.SearchFloat64s(w.sums, u), vocabulary-1)]
}

// Conjunction returns the words of an interest.
func (w *Workload) Conjunction() string {
	u, n := w.Rand.IntN(1000), 0
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

// Text returns n words of an entry.
func (w *Workload) Text(n int) []string {
	words := make([]string, n)
	for i := range words {
		words[i] = w.draw(0)
	}
	return words
}
