package history

import (
	"encoding/binary"
	"iter"
	"maps"
	"slices"

	"github.com/feedring/feedring/internal/store"
)

// lists says for each token which documents have it, in memory: the tail, and a
// segment that is being built.
type lists struct {
	byToken map[string]*list
	docs    int
	weight  int // bytes that they take, about
}

// list is a sorted list of documents, each as the distance to the one before
// less one.
type list struct {
	gaps []byte
	next int // one more than the last
}

// tokenWeight is about what a token takes beside its bytes and its list's.
const tokenWeight = 88

func newLists() *lists { return &lists{byToken: make(map[string]*list)} }

// add makes a row the next document.
func (l *lists) add(k store.RowKey, row *store.Row) {
	words(row.Text, func(word []byte) {
		word = clip(word)
		p := l.byToken[string(word)] // allocates nothing
		if p == nil {
			p = l.new(string(word))
		}
		l.append(p)
	})
	facets(k, row, func(token string) {
		p := l.byToken[token]
		if p == nil {
			p = l.new(token)
		}
		l.append(p)
	})
	l.docs++
}

func (l *lists) new(token string) *list {
	p := &list{}
	l.byToken[token] = p
	l.weight += len(token) + tokenWeight
	return p
}

func (l *lists) append(p *list) {
	if p.next > l.docs {
		return // this document has the token more than once
	}
	was := len(p.gaps)
	p.gaps = binary.AppendUvarint(p.gaps, uint64(l.docs-p.next))
	p.next = l.docs + 1
	l.weight += len(p.gaps) - was
}

// posting is a token and its list.
type posting struct {
	token string
	gaps  []byte
}

// documents returns how many a list names.
func documents(gaps []byte) (n int) {
	for _, b := range gaps {
		if b < 0x80 {
			n++
		}
	}
	return n
}

// postings gives all tokens in order, each with its list.
func (l *lists) postings() iter.Seq2[posting, error] {
	return func(yield func(posting, error) bool) {
		for _, token := range slices.Sorted(maps.Keys(l.byToken)) {
			if !yield(posting{token, l.byToken[token].gaps}, nil) {
				return
			}
		}
	}
}

func (l *lists) size() int { return l.docs }

func (l *lists) fill(token string, into set) error {
	if p := l.byToken[token]; p != nil && !into.addGaps(p.gaps, l.docs) {
		return errDamaged
	}
	return nil
}
