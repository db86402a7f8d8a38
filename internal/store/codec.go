package store

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/match"
)

// The bits of a row's first byte.
const (
	flagPrivate = 1 << iota
	flagRetraction
	flagStone
)

// encodeLog writes a log row: fixed fields first, so that pruning reads no
// further than it must, and the payload last.
func encodeLog(it *Item) []byte {
	size := 1 + 2*stampLen + 32 + 5*7 + len(it.ID) + len(it.Theme) + len(it.Provider) +
		len(it.Signature) + len(it.Text) + len(it.Payload)
	b := append(make([]byte, 0, size), flags(it))
	b = appendTime(b, it.Published)
	b = appendTime(b, it.Seen)
	b = append(b, it.Hash[:]...)
	b = binary.AppendUvarint(b, uint64(it.Version))
	b = appendString(b, string(it.ID))
	b = appendString(b, string(it.Theme))
	b = appendString(b, string(it.Provider))
	b = appendString(b, it.Signature)
	b = appendString(b, it.Text)
	return append(b, it.Payload...)
}

// logRow is a log row whose slices point into the row itself.
type logRow struct {
	private               bool
	retraction, tombstone bool
	published, seen       time.Time
	hash                  [32]byte
	version               uint32
	id, theme, provider   []byte
	signature, text       []byte
	payload               []byte
}

func decodeLog(row []byte) (logRow, error) {
	d := decoder{rest: row}
	var r logRow
	flags := d.byte()
	r.private, r.retraction, r.tombstone = flags&flagPrivate != 0, flags&flagRetraction != 0, flags&flagStone != 0
	r.published, r.seen = d.time(), d.time()
	copy(r.hash[:], d.take(len(r.hash)))
	r.version = uint32(d.uvarint())
	r.id, r.theme, r.provider = d.bytes(), d.bytes(), d.bytes()
	r.signature, r.text = d.bytes(), d.bytes()
	r.payload = d.rest
	return r, d.err("log row")
}

// listed is what the index says of r while searches find it.
func (r *logRow) listed() *indexRow {
	return &indexRow{private: r.private, theme: r.theme, provider: r.provider, text: r.text}
}

// item copies r out of the database's memory.
func (r *logRow) item(ref feedring.FeedRef, p feedring.Position) Item {
	return Item{
		Ref: ref, Position: p, ID: feedring.EntryID(r.id), Version: r.version,
		Theme: feedring.Theme(r.theme), Provider: feedring.Provider(r.provider), Private: r.private,
		Published: r.published, Seen: r.seen, Hash: r.hash,
		Payload: copied(r.payload), Signature: copied(r.signature), Text: copied(r.text),
		Retraction: r.retraction, Stone: r.tombstone,
	}
}

// copied returns a copy of b, nil where b is empty.
func copied(b []byte) []byte { return append([]byte(nil), b...) }

// encodeIndex writes an index row: what Search filters by, and no more.
func encodeIndex(it *Item) []byte {
	b := make([]byte, 0, 1+2*3+len(it.Theme)+len(it.Provider)+len(it.Text))
	b = appendString(append(b, flags(it)), string(it.Theme))
	b = appendString(b, string(it.Provider))
	return append(b, it.Text...)
}

// indexRow is an index row whose slices point into the row itself.
type indexRow struct {
	private               bool
	theme, provider, text []byte
}

func decodeIndex(row []byte) (indexRow, error) {
	d := decoder{rest: row}
	r := indexRow{private: d.byte()&flagPrivate != 0, theme: d.bytes(), provider: d.bytes()}
	r.text = d.rest
	return r, d.err("index row")
}

// encodeVersion tells where the newest version of an entry stands, so that
// its index row can be found.
func encodeVersion(published time.Time, p feedring.Position) []byte {
	return appendTime(appendPosition(make([]byte, 0, positionLen+stampLen), p), published)
}

func decodeVersion(row []byte) (published time.Time, p feedring.Position, err error) {
	d := decoder{rest: row}
	p, published = d.position(), d.time()
	return published, p, d.end("version row")
}

func encodeRef(h *Head) []byte {
	b := make([]byte, 0, 200+len(h.Ref.URL)+len(h.Ref.Publisher))
	b = append(b, privacy(h.Private))
	b = appendPosition(appendPosition(b, h.First), h.Last)
	b = append(b, h.Hash[:]...)
	b = appendTime(b, h.Seen)
	b = binary.AppendUvarint(b, uint64(h.Count))
	b = appendString(b, string(h.Theme))
	b = appendString(b, h.Ref.URL)
	return appendString(b, string(h.Ref.Publisher))
}

func decodeRef(row []byte) (Head, error) {
	d := decoder{rest: row}
	var h Head
	h.Private = d.byte()&flagPrivate != 0
	h.First, h.Last = d.position(), d.position()
	copy(h.Hash[:], d.take(len(h.Hash)))
	h.Seen = d.time()
	h.Count = int(d.uvarint())
	h.Theme = feedring.Theme(d.bytes())
	h.Ref = feedring.FeedRef{URL: string(d.bytes()), Publisher: feedring.PeerID(d.bytes())}
	return h, d.end("feed row")
}

func flags(it *Item) byte {
	b := privacy(it.Private)
	if it.Retraction {
		b |= flagRetraction
	}
	if it.Stone {
		b |= flagStone
	}
	return b
}

func privacy(private bool) byte {
	if private {
		return flagPrivate
	}
	return 0
}

func appendTime(b []byte, t time.Time) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(t.Unix()))
	return binary.BigEndian.AppendUint32(b, uint32(t.Nanosecond()))
}

func appendString[S string | []byte | match.Text](b []byte, s S) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// decoder reads a row from the front. After the first field that is not there
// it gives zeros, and err tells.
type decoder struct {
	rest []byte
	bad  bool
}

func (d *decoder) take(n int) []byte {
	if d.bad || n > len(d.rest) {
		d.bad, d.rest = true, nil
		return nil
	}
	b := d.rest[:n:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) byte() byte {
	if b := d.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 {
		d.bad, d.rest = true, nil
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

func (d *decoder) bytes() []byte {
	n := d.uvarint()
	if n > uint64(len(d.rest)) {
		d.bad, d.rest = true, nil
		return nil
	}
	return d.take(int(n))
}

func (d *decoder) time() time.Time {
	b := d.take(stampLen)
	if b == nil {
		return time.Time{}
	}
	return time.Unix(int64(binary.BigEndian.Uint64(b)), int64(binary.BigEndian.Uint32(b[8:]))).UTC()
}

func (d *decoder) position() feedring.Position {
	b := d.take(positionLen)
	if b == nil {
		return feedring.Position{}
	}
	return readPosition(b)
}

func (d *decoder) err(what string) error {
	if d.bad {
		return fmt.Errorf("%s cannot be read: %w", what, ErrCorrupt)
	}
	return nil
}

// end is err for rows that must have nothing left.
func (d *decoder) end(what string) error {
	if len(d.rest) > 0 {
		d.bad = true
	}
	return d.err(what)
}
