package polls

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/feedring/feedring/internal/wire"
	feedringv1 "github.com/feedring/feedring/proto/feedring/v1"
)

const (
	packLevel = 2 // the next ones gain 1 % of an entry, and take half as long again
	// What is unpacked is at most unpackedFree, and unpackedTimes what came: who
	// sends little must not make others work much. What would unpack to more is
	// sent as it is.
	unpackedFree  = 64 << 10
	unpackedTimes = 32
)

// Packer packs parts of answers to polls, and unpacks them. What several ask for at
// about the same time is packed once. The zero value is ready. It is safe for
// concurrent use, and keeps the memory of what it used lately (a megabyte for each
// Pack at the same time) and what became of the last parts.
type Packer struct {
	writers, readers, plains sync.Pool

	mu     sync.Mutex
	recent []*made // the newest last
}

// keptPacked is how many parts are remembered: members poll one feed together, and
// few feeds grow at once.
const keptPacked = 8

// made is a part that was packed, or is about to be.
type made struct {
	of     [sha256.Size]byte // what was packed, and the words before it
	done   chan struct{}     // closed when packed or err is there
	packed []byte
	err    error
}

// Pack deflates a part, for who named a dictionary. Where holder's own dictionary
// has another name, the bare one is used. A part that would not be shorter, or
// that brings nothing, stays as it is.
func (p *Packer) Pack(part *feedringv1.PollPart, own Dictionary, named string) error {
	if named == "" || len(part.Items)+len(part.Retractions) == 0 {
		return nil
	}
	room, _ := p.plains.Get().(*[]byte)
	if room == nil {
		room = new([]byte)
	}
	defer p.plains.Put(room)
	plain, err := proto.MarshalOptions{}.MarshalAppend((*room)[:0], part)
	if err != nil {
		return fmt.Errorf("packing a part: %w: %v", wire.ErrMalformed, err)
	}
	*room = plain
	words, bare := own.whole, false
	if own.Name() != named {
		words, bare = own.bare, true
	}
	packed, err := p.once(plain, words)
	if err != nil {
		return fmt.Errorf("packing a part: %w", err)
	}
	whole := &feedringv1.PollPart{Packed: packed, Bare: bare}
	if len(plain) > maxUnpacked(len(packed)) || proto.Size(whole) >= len(plain) {
		return nil
	}
	part.Reset()
	part.Packed, part.Bare = packed, bare
	return nil
}

// Unpack is the inverse of Pack, with the dictionary that was named. What was
// not packed stays as it came. ErrTooLarge: it unpacks to more than is allowed.
func (p *Packer) Unpack(part *feedringv1.PollPart, named Dictionary) error {
	packed := part.GetPacked()
	if len(packed) == 0 {
		return nil
	}
	words := named.whole
	if part.GetBare() {
		words = named.bare
	}
	r, _ := p.readers.Get().(*inflater)
	if r == nil {
		r = new(inflater)
	}
	defer p.readers.Put(r)
	plain, err := r.inflate(packed, words)
	if err != nil {
		return fmt.Errorf("packed part: %w", err)
	}
	if err := wire.Unmarshal(plain, part); err != nil { // it resets the part, and copies what it takes
		return fmt.Errorf("packed part: %w", err)
	}
	if len(part.GetPacked()) > 0 {
		return fmt.Errorf("packed part: %w: packed twice", wire.ErrMalformed)
	}
	return nil
}

// maxUnpacked is the most that so many packed bytes may become.
func maxUnpacked(packed int) int {
	return min(wire.MaxMessage, max(unpackedFree, unpackedTimes*packed))
}

// once is deflate, unless the same was packed lately or is being packed. The bytes
// are shared.
func (p *Packer) once(plain, words []byte) ([]byte, error) {
	h := sha256.New()
	h.Write(binary.AppendUvarint(nil, uint64(len(words))))
	h.Write(words)
	h.Write(plain)
	of := [sha256.Size]byte(h.Sum(nil))
	p.mu.Lock()
	for _, m := range p.recent {
		if m.of == of {
			p.mu.Unlock()
			<-m.done
			return m.packed, m.err
		}
	}
	m := &made{of: of, done: make(chan struct{})}
	if len(p.recent) == keptPacked {
		p.recent = slices.Delete(p.recent, 0, 1)
	}
	p.recent = append(p.recent, m)
	p.mu.Unlock()
	defer close(m.done)
	m.packed, m.err = p.deflate(plain, words)
	return m.packed, m.err
}

// deflater is a writer that is used again and again: a new one sets most of a
// megabyte aside.
type deflater struct {
	*flate.Writer
	out bytes.Buffer
}

// deflate packs plain. The words go first through the writer, and what they
// became is dropped at the border of a byte: a writer that is used again knows
// no other way to be given words.
func (p *Packer) deflate(plain, words []byte) ([]byte, error) {
	d, _ := p.writers.Get().(*deflater)
	if d == nil {
		d = new(deflater)
		w, err := flate.NewWriter(&d.out, packLevel)
		if err != nil {
			return nil, err
		}
		d.Writer = w
	}
	defer p.writers.Put(d)
	d.out.Reset()
	d.Reset(&d.out)
	_, err := d.Write(words)
	err = errors.Join(err, d.Flush())
	d.out.Reset()
	if _, e := d.Write(plain); e != nil || err != nil {
		return nil, errors.Join(err, e)
	}
	err = d.Close()
	return bytes.Clone(d.out.Bytes()), err
}

// inflater is a reader that is used again and again.
type inflater struct {
	flate io.ReadCloser // nil: not used yet
	plain bytes.Buffer
}

// inflate is the inverse of deflate. The bytes are good until it is used again.
func (r *inflater) inflate(packed, words []byte) ([]byte, error) {
	from := bytes.NewReader(packed)
	if r.flate == nil {
		r.flate = flate.NewReaderDict(from, words)
	} else if err := r.flate.(flate.Resetter).Reset(from, words); err != nil {
		return nil, err
	}
	most := maxUnpacked(len(packed))
	r.plain.Reset()
	_, err := r.plain.ReadFrom(io.LimitReader(r.flate, int64(most)+1))
	switch {
	case r.plain.Len() > most:
		return nil, fmt.Errorf("%w: more than %d bytes out of %d", wire.ErrTooLarge, most, len(packed))
	case err != nil:
		return nil, fmt.Errorf("%w: %v", wire.ErrMalformed, err)
	case from.Len() > 0:
		return nil, fmt.Errorf("%w: %d bytes after its end", wire.ErrMalformed, from.Len())
	}
	return r.plain.Bytes(), nil
}
