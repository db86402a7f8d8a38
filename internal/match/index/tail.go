package index

import "sync/atomic"

// tail holds the newest conjunctions until they become a segment. One goroutine
// adds, any number match: each looks at no more entries than there were when it
// began.
type tail struct {
	n       atomic.Uint32 // entries that may be looked at
	heads   []atomic.Uint32
	entries []tailEntry
	tokens  []uint32
	used    int // of tokens
}

// tailEntry is one owner's conjunction. Those whose rarest tokens share a head
// are a list, the newest first.
type tailEntry struct {
	at    uint32 // of its tokens, the rarest first
	n     uint32
	next  uint32 // 1 + number of the entry before; 0: none
	owner owner
}

func newTail(entries int) *tail {
	return &tail{
		heads:   make([]atomic.Uint32, entries*2),
		entries: make([]tailEntry, entries),
		tokens:  make([]uint32, entries*4+maxRow),
	}
}

// full reports whether there may be no room for a conjunction of n tokens.
func (t *tail) full(n int) bool {
	return int(t.n.Load()) == len(t.entries) || t.used+n > len(t.tokens)
}

func (t *tail) head(token uint32) *atomic.Uint32 { return &t.heads[int(token)&(len(t.heads)-1)] }

// add appends a conjunction. The tail must not be full.
func (t *tail) add(tokens []uint32, o owner) {
	number, head := t.n.Load(), t.head(tokens[0])
	t.entries[number] = tailEntry{at: uint32(t.used), n: uint32(len(tokens)), next: head.Load(), owner: o}
	t.used += copy(t.tokens[t.used:], tokens)
	head.Store(number + 1)
	t.n.Store(number + 1)
}

// match appends the first n entries whose tokens are all in a set and whose
// rarest is token.
func (t *tail) match(token uint32, n uint32, in set, hits []uint32) []uint32 {
	for next := t.head(token).Load(); next != 0; {
		number := next - 1
		e := &t.entries[number]
		if number < n && e.isIn(t, token, in) {
			hits = append(hits, number)
		}
		next = e.next
	}
	return hits
}

func (e *tailEntry) isIn(t *tail, token uint32, in set) bool {
	tokens := t.tokens[e.at:][:e.n]
	if tokens[0] != token {
		return false
	}
	for _, other := range tokens[1:] {
		if !in.has(other) {
			return false
		}
	}
	return true
}

func (t *tail) gather(r *rows, keep func(owner) bool) {
	for _, e := range t.entries[:t.n.Load()] {
		if keep(e.owner) {
			r.add(t.tokens[e.at:][:e.n], e.owner)
		}
	}
}
