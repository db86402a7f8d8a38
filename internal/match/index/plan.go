package index

import (
	"fmt"
	"strings"

	"github.com/feedring/feedring/internal/match"
)

// planRow is how many tokens of a conjunction are filed. The rest is left to a
// rule: nobody writes that many, and an entry that has these is rare.
const planRow = 64

// planner turns interests into conjunctions of tokens. It is used by one
// goroutine at a time.
type planner struct {
	dict *dict
	scan scan
	row  []uint32
}

// plain reports whether an interest is a mere conjunction, and leaves its tokens in
// scan.
func (p *planner) plain(in *Interest) (ok bool, err error) {
	words, ok := in.Words.Conjunction()
	if !ok && !in.Words.All() || !in.Since.IsZero() {
		return false, nil
	}
	if in.Theme == "" && in.Provider == "" && broadWords(words) {
		return false, ErrBroad
	}
	p.scan.words(words)
	p.scan.names(in.Theme, in.Provider)
	p.scan.cut(len(words))
	return len(p.scan.tokens) <= planRow, nil
}

// intern returns the numbers of the tokens in scan, the rarest first. They are p's
// own until its next use.
func (p *planner) intern() []uint32 {
	p.dict.table.Load().fetch(p.scan.tokens)
	p.row = p.row[:0]
	for i := range p.scan.tokens {
		p.row = append(p.row, p.dict.intern(p.scan.text, &p.scan.tokens[i]))
	}
	return descending(p.row)
}

// broadWords reports whether nearly every entry has all of words.
func broadWords(words string) bool {
	for word := range strings.SplitSeq(words, " ") {
		if word != "" && !match.IsStop(word) {
			return false
		}
	}
	return true
}

// places returns the branches under which a rule is filed.
func (p *planner) places(in *Interest) ([]branch, error) {
	var always []string
	if in.Theme != "" {
		always = append(always, string(rune(markTheme))+string(in.Theme))
	}
	if in.Provider != "" {
		always = append(always, string(rune(markProvider))+strings.ToLower(in.Provider))
	}
	branches := []branch(nil)
	if root := in.Words.Root(); root != nil {
		branches = cover(root)
	}
	if branches == nil {
		branches = []branch{{}} // theme and provider have to do
	}
	for i := range branches {
		if len(always) == 0 && branches[i].broad() {
			return nil, ErrBroad
		}
		tokens := append(branches[i].tokens[:len(branches[i].tokens):len(branches[i].tokens)], always...)
		branches[i].tokens = tokens[max(0, len(tokens)-planRow):]
	}
	return branches, nil
}

// rowOf returns the tokens of a branch, the rarest first. They are p's own until
// its next use.
func (p *planner) rowOf(b *branch) []uint32 {
	p.scan.words("")
	for _, t := range b.tokens {
		p.scan.mark(t[0], t[1:])
	}
	p.scan.cut(0)
	return p.intern()
}

// Limits of an interest, beside those of match.Parse.
const (
	maxTheme    = 32
	maxProvider = 253
)

// check refuses what is too long to be true.
func check(in *Interest) error {
	if len(in.Theme) > maxTheme {
		return fmt.Errorf("theme has %d bytes: at most %d are allowed", len(in.Theme), maxTheme)
	}
	if len(in.Provider) > maxProvider {
		return fmt.Errorf("provider has %d bytes: at most %d are allowed", len(in.Provider), maxProvider)
	}
	return nil
}
