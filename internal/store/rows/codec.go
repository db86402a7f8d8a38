package rows

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/match"
	"github.com/feedring/feedring/internal/store/disk"
)

// The bits of a row's first byte.
const (
	flagPrivate = 1 << iota
	flagRetraction
	flagTombstone
	flagInLog // of an index row: its text is in the log row alone
)

// EncodeLog writes a log row: fixed fields first, so that pruning reads no
// further than it must, and the payload last.
func EncodeLog(it *Item) []byte {
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

// Log is a log row whose slices point into the row itself.
type Log struct {
	Private               bool
	Retraction, Tombstone bool
	Published, Seen       time.Time
	Hash                  [32]byte
	Version               uint32
	ID, Theme, Provider   []byte
	Signature, Text       []byte
	Payload               []byte
}

// DecodeLog reads a log row.
func DecodeLog(row []byte) (Log, error) {
	d := decoder{rest: row}
	var r Log
	flags := d.byte()
	r.Private, r.Retraction, r.Tombstone = flags&flagPrivate != 0, flags&flagRetraction != 0, flags&flagTombstone != 0
	r.Published, r.Seen = d.time(), d.time()
	copy(r.Hash[:], d.take(len(r.Hash)))
	r.Version = uint32(d.uvarint())
	r.ID, r.Theme, r.Provider = d.bytes(), d.bytes(), d.bytes()
	r.Signature, r.Text = d.bytes(), d.bytes()
	r.Payload = d.rest
	return r, d.err("log row")
}

// Listed is what the index says of r while searches find it.
func (r *Log) Listed() *Index {
	return &Index{Private: r.Private, Theme: r.Theme, Provider: r.Provider, Text: r.Text}
}

// Item copies r out of the database's memory.
func (r *Log) Item(ref feedring.FeedRef, p feedring.Position) Item {
	return Item{
		Ref: ref, Position: p, ID: feedring.EntryID(r.ID), Version: r.Version,
		Theme: feedring.Theme(r.Theme), Provider: feedring.Provider(r.Provider), Private: r.Private,
		Published: r.Published, Seen: r.Seen, Hash: r.Hash,
		Payload: copied(r.Payload), Signature: copied(r.Signature), Text: copied(r.Text),
		Retraction: r.Retraction, Tombstone: r.Tombstone,
	}
}

// copied returns a copy of b, nil where b is empty.
func copied(b []byte) []byte { return append([]byte(nil), b...) }

// EncodeIndex writes an index row: what Search filters by, and no more. The text
// may be left to the log row, so that it is on disk once.
func EncodeIndex(it *Item, inLog bool) []byte {
	text := it.Text
	if inLog {
		text = nil
	}
	b := make([]byte, 0, 1+2*3+len(it.Theme)+len(it.Provider)+len(text))
	b = append(b, flags(it))
	if inLog {
		b[0] |= flagInLog
	}
	b = appendString(appendString(b, string(it.Theme)), string(it.Provider))
	return append(b, text...)
}

// Index is an index row whose slices point into the row itself.
type Index struct {
	Private               bool
	Theme, Provider, Text []byte
	InLog                 bool // Text is in the log row alone
}

// DecodeIndex reads an index row.
func DecodeIndex(row []byte) (Index, error) {
	d := decoder{rest: row}
	flags := d.byte()
	r := Index{Private: flags&flagPrivate != 0, InLog: flags&flagInLog != 0, Theme: d.bytes(), Provider: d.bytes()}
	r.Text = d.rest
	return r, d.err("index row")
}

// LeaveToLog returns an index row of before without its text.
func LeaveToLog(row []byte) ([]byte, error) {
	r, err := DecodeIndex(row)
	if err != nil {
		return nil, err
	}
	it := Item{Private: r.Private, Theme: feedring.Theme(r.Theme), Provider: feedring.Provider(r.Provider)}
	return EncodeIndex(&it, true), nil
}

// EncodeVersion tells where the newest version of an entry stands, so that
// its index row can be found.
func EncodeVersion(published time.Time, p feedring.Position) []byte {
	return appendTime(appendPosition(make([]byte, 0, positionLen+stampLen), p), published)
}

// DecodeVersion reads a version row.
func DecodeVersion(row []byte) (published time.Time, p feedring.Position, err error) {
	d := decoder{rest: row}
	p, published = d.position(), d.time()
	return published, p, d.end("version row")
}

// EncodeRef writes a feed row.
func EncodeRef(h *Head) []byte {
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

// DecodeRef reads a feed row.
func DecodeRef(row []byte) (Head, error) {
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
	if it.Tombstone {
		b |= flagTombstone
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
		return fmt.Errorf("%s cannot be read: %w", what, disk.ErrCorrupt)
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
