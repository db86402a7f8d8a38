package index

import (
	"fmt"
	"strings"
)

// planRow is how many tokens of a conjunction are filed. The rest is left to a
// rule: nobody writes that many, and an entry that has these is rare.
const planRow = 64

// planner turns interests into conjunctions of tokens. It is used by one
// goroutine at a time.
type planner struct {
	dict  *dict
	spell speller
	words [][]byte
	row   []uint32
}

// plainRow returns the tokens of an interest that is a mere conjunction, the
// rarest first. They are p's own until its next use.
func (p *planner) plainRow(in *Interest) (row []uint32, ok bool, err error) {
	if !in.Since.IsZero() {
		return nil, false, nil
	}
	p.words, ok = plain(in.Words.Root(), p.words[:0])
	if !ok || len(p.words)+2 > planRow {
		return nil, false, nil
	}
	if in.Theme == "" && in.Provider == "" && broadWords(p.words) {
		return nil, false, ErrBroad
	}
	p.row = p.row[:0]
	if in.Theme != "" {
		p.intern(p.spell.theme(in.Theme))
	}
	if in.Provider != "" {
		p.intern(p.spell.provider(in.Provider))
	}
	for _, word := range p.words {
		p.intern(p.spell.word(word))
	}
	return descending(p.row), true, nil
}

func (p *planner) intern(t token) { p.row = append(p.row, p.dict.intern(p.spell.buf, &t)) }

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

// row returns the tokens of a branch, the rarest first. They are p's own until
// its next use.
func (p *planner) rowOf(b *branch) []uint32 {
	p.row = p.row[:0]
	for _, t := range b.tokens {
		p.intern(p.spell.word([]byte(t)))
	}
	return descending(p.row)
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
