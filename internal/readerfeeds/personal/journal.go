package personal

import (
	"encoding/binary"

	"github.com/feedring/feedring"
)

// journalRow says that an entry was given to interests.
type journalRow struct {
	now     int64 // Unix seconds
	entry   uint64
	feed    uint32
	through feedring.Position // how far the feed was then shown
	given   []uint32          // numbers of interests, rising; none is 0
	history bool              // by date, and not on top: written as an interest 0 before the others
}

// mostGiven keeps a row within what a small record may have.
const mostGiven = 100_000

// record writes a row, or where it was given to very many interests several.
func (r *Reflector) record(row journalRow) {
	all := row.given
	for len(all) > 0 {
		row.given = all[:min(len(all), mostGiven)]
		all = all[len(row.given):]
		value := row.encode()
		r.serial++
		r.journal += len(value)
		r.writing.put(journalKey(r.serial), value)
	}
}

func (j *journalRow) encode() []byte {
	b := make([]byte, 0, 40+2*len(j.given))
	b = binary.AppendUvarint(b, uint64(j.now))
	b = binary.AppendUvarint(b, j.entry)
	b = binary.AppendUvarint(b, uint64(j.feed))
	b = binary.AppendUvarint(b, j.through.Epoch)
	b = binary.AppendUvarint(b, j.through.Sequence)
	if j.history {
		b = append(b, 0)
	}
	before := uint32(0)
	for _, n := range j.given {
		b = binary.AppendUvarint(b, uint64(n-before))
		before = n
	}
	return b
}

func decodeJournal(b []byte) (j journalRow, ok bool) {
	d := numbers{rest: b}
	j.now, j.entry, j.feed = int64(d.next()), d.next(), uint32(d.next())
	j.through = feedring.Position{Epoch: d.next(), Sequence: d.next()}
	if j.history = len(d.rest) > 0 && d.rest[0] == 0; j.history {
		d.rest = d.rest[1:]
	}
	before := uint32(0)
	for len(d.rest) > 0 && !d.wrong {
		before += uint32(d.next())
		j.given = append(j.given, before)
	}
	return j, !d.wrong
}

// numbers reads varints. After something wrong it reads zeros.
type numbers struct {
	rest  []byte
	wrong bool
}

func (d *numbers) next() uint64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 || d.wrong {
		d.wrong = true
		return 0
	}
	d.rest = d.rest[n:]
	return v
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
	for _, in := range r.interests {
		if in.changed {
			r.writeInterest(in)
		}
	}
	r.writeFeeds() // the journal said this, too
	for serial := r.emptied + 1; serial <= through; serial++ {
		r.writing.put(journalKey(serial), nil)
	}
	r.emptied, r.journal = through, 0
}

// writeInterest writes an interest with its list as it is now.
func (r *Reflector) writeInterest(in *interest) {
	in.changed, in.through = false, r.serial
	r.writing.put(interestKey(in.number), r.encodeInterest(in))
}
