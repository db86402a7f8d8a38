package index

import "iter"

// InsertAll adds many subscriptions, as at a start, and packs the index once. each
// is called for every interest, in order, with what Insert would return; it must not
// call the Index. Matches find all of them once InsertAll has returned, and rules
// perhaps sooner. Beside what it makes it takes some 30 bytes for each of them and
// each that is there.
func (ix *Index) InsertAll(all iter.Seq[Interest], each func(ID, error)) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	b := bulk{index: ix}
	for in := range all {
		each(b.insert(&in))
	}
	b.resolve()
	if len(b.rows.refs) > 0 {
		ix.packWith(b.rows)
	}
}

// bulk is conjunctions that are looked up some at a time, so that what one waits
// for in memory comes while the others do. They are filed by packing alone, which
// brings their tokens into order.
type bulk struct {
	index   *Index
	rows    rows
	text    []byte
	tokens  []token // of those that wait, one after the other
	waiting []waitingRow
}

type waitingRow struct {
	tokens int
	owner  owner
}

func (b *bulk) insert(in *Interest) (ID, error) {
	ix := b.index
	isPlain, err := ix.readable(in)
	if err != nil {
		return 0, err
	}
	if !isPlain {
		return ix.insertRule(in)
	}
	found := ix.plan.scan.tokens
	if len(b.tokens)+len(found) > batch {
		b.resolve()
	}
	from := uint32(len(b.text))
	b.text = append(b.text, ix.plan.scan.text...)
	for _, t := range found {
		t.from += from
		b.tokens = append(b.tokens, t)
	}
	id := ix.takeID()
	b.waiting = append(b.waiting, waitingRow{len(found), owner(id)})
	return id, nil
}

// resolve looks up the tokens of those that wait. Their keys have nothing but the
// number of tokens.
func (b *bulk) resolve() {
	dict := b.index.plan.dict
	dict.table.Load().fetch(b.tokens)
	next := 0
	for _, w := range b.waiting {
		b.rows.refs = append(b.rows.refs, rowRef{key: uint64(w.tokens) << 28, at: uint32(len(b.rows.tokens)), owner: w.owner})
		for i := range w.tokens {
			b.rows.tokens = append(b.rows.tokens, dict.intern(b.text, &b.tokens[next+i]))
		}
		next += w.tokens
	}
	b.text, b.tokens, b.waiting = b.text[:0], b.tokens[:0], b.waiting[:0]
}
