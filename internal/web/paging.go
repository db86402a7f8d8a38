package web

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"github.com/feedring/feedring"
)

// page is where a reader of pages stands: everything newer than a second was
// shown, and of that second the entries with these marks. Entries of one second
// may come in any order, so naming the last one would not do.
type page struct {
	second int64 // Unix; of the last entry shown
	shown  []mark
}

// mark stands for a copy of an entry: peers that mirror one feed may answer in turn.
type mark uint64

func markOf(e *feedring.Entry) mark {
	sum := sha256.Sum256([]byte(string(e.ID) + "\x00" + e.Title + "\x00" + e.URL))
	return mark(binary.BigEndian.Uint64(sum[:8]))
}

const (
	pageVersion = 1
	// The years 1 to 9999, which RFC 3339 can write.
	minSecond, maxSecond = -62135596800, 253402300799
)

var errPage = errors.New("this is no cursor of this API: take the whole address out of the Link header, or leave cursor out")

// parsePage reads a cursor. The empty one is the first page, nil.
func parsePage(s string) (*page, error) {
	if s == "" {
		return nil, nil
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err != nil || len(b) < 2 || b[0] != pageVersion {
		return nil, errPage
	}
	second, n := binary.Varint(b[1:])
	if n <= 0 || second < minSecond || second >= maxSecond {
		return nil, errPage
	}
	rest := b[1+n:]
	if len(rest)%8 != 0 || len(rest)/8 > feedring.MaxLimit {
		return nil, errPage
	}
	p := &page{second: second}
	for chunk := range slices.Chunk(rest, 8) {
		p.shown = append(p.shown, mark(binary.BigEndian.Uint64(chunk)))
	}
	return p, nil
}

// String is the cursor.
func (p *page) String() string {
	b := binary.AppendVarint([]byte{pageVersion}, p.second)
	for _, m := range p.shown {
		b = binary.BigEndian.AppendUint64(b, uint64(m))
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// narrow makes q ask for what comes after p. As many entries as were shown of
// the last second may come again, so it asks for so many more.
func (p *page) narrow(q feedring.Query) feedring.Query {
	if p == nil {
		return q
	}
	until := time.Unix(p.second+1, 0).UTC()
	if len(p.shown) >= feedring.MaxLimit {
		// One answer cannot reach past what was shown of this second: the rest
		// of it is given up, so that older seconds are reached.
		until = until.Add(-time.Second)
	} else {
		q.Limit = min(q.Limit+len(p.shown), feedring.MaxLimit)
	}
	if q.Until.IsZero() || until.Before(q.Until) {
		q.Until = until
	}
	return q
}

// fresh drops what was shown already, and what exceeds limit.
func (p *page) fresh(entries []feedring.Entry, limit int) []feedring.Entry {
	if p != nil {
		entries = slices.DeleteFunc(entries, func(e feedring.Entry) bool {
			return e.Published.Unix() == p.second && slices.Contains(p.shown, markOf(&e))
		})
	}
	return entries[:min(len(entries), limit)]
}

// next is the page after these entries, newest first, or nil where they are
// none.
func (p *page) next(entries []feedring.Entry) *page {
	if len(entries) == 0 {
		if p == nil || len(p.shown) < feedring.MaxLimit {
			return nil
		}
		return &page{second: p.second - 1}
	}
	after := &page{second: entries[len(entries)-1].Published.Unix()}
	if p != nil && p.second == after.second {
		after.shown = slices.Clone(p.shown)
	}
	for i := range entries {
		if entries[i].Published.Unix() == after.second {
			after.shown = append(after.shown, markOf(&entries[i]))
		}
	}
	after.shown = after.shown[:min(len(after.shown), feedring.MaxLimit)]
	return after
}
