package rows

import (
	"encoding/binary"

	"github.com/feedring/feedring"
)

// Journaled says that an entry was given to interests.
type Journaled struct {
	Now     int64 // Unix seconds
	Entry   uint64
	Feed    uint32
	Through feedring.Position // how far the feed was then shown
	Given   []uint32          // numbers of interests, rising; none is 0
	History bool              // by date, and not on top: written as an interest 0 before the others
}

// Encode writes a row.
func (j *Journaled) Encode() []byte {
	b := make([]byte, 0, 40+2*len(j.Given))
	b = binary.AppendUvarint(b, uint64(j.Now))
	b = binary.AppendUvarint(b, j.Entry)
	b = binary.AppendUvarint(b, uint64(j.Feed))
	b = binary.AppendUvarint(b, j.Through.Epoch)
	b = binary.AppendUvarint(b, j.Through.Sequence)
	if j.History {
		b = append(b, 0)
	}
	before := uint32(0)
	for _, n := range j.Given {
		b = binary.AppendUvarint(b, uint64(n-before))
		before = n
	}
	return b
}

// DecodeJournaled reads what Encode wrote. It is false for anything else.
func DecodeJournaled(b []byte) (j Journaled, ok bool) {
	d := numbers{rest: b}
	j.Now, j.Entry, j.Feed = int64(d.next()), d.next(), uint32(d.next())
	j.Through = feedring.Position{Epoch: d.next(), Sequence: d.next()}
	if j.History = len(d.rest) > 0 && d.rest[0] == 0; j.History {
		d.rest = d.rest[1:]
	}
	before := uint32(0)
	for len(d.rest) > 0 && !d.wrong {
		before += uint32(d.next())
		j.Given = append(j.Given, before)
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
