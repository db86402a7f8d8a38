package personal

import (
	"github.com/feedring/feedring/internal/readerfeeds/personal/rows"
)

// mostGiven keeps a row within what a small record may have.
const mostGiven = 100_000

// record writes a row, or where it was given to very many interests several.
func (r *Reflector) record(row rows.Journaled) {
	all := row.Given
	for len(all) > 0 {
		row.Given = all[:min(len(all), mostGiven)]
		all = all[len(row.Given):]
		value := row.Encode()
		r.serial++
		r.journal += len(value)
		r.writing.put(rows.JournalKey(r.serial), value)
	}
}

// settle writes every list that changed whole, and empties the journal, once
// that is much longer than the lists.
func (r *Reflector) settle() {
	r.changing.Lock()
	defer r.changing.Unlock()
	if r.journal < max(maxJournal, r.listed*2) {
		return
	}
	through := r.serial
	for in := range r.interests.All() {
		if in.changed {
			r.writeInterest(in)
		}
	}
	r.writeFeeds() // the journal said this, too
	for serial := r.emptied + 1; serial <= through; serial++ {
		r.writing.put(rows.JournalKey(serial), nil)
	}
	r.emptied, r.journal = through, 0
}

// writeInterest writes an interest with its list as it is now.
func (r *Reflector) writeInterest(in *interest) {
	in.changed, in.through = false, r.serial
	r.writing.put(rows.Interest(in.number), r.encodeInterest(in))
}
