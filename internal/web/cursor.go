package web

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/feedring/feedring"
)

const (
	cursorVersion = 2 // 1 does not tell when the reader began
	latestBegan   = 1 << 40
	// maxCursor is the longest id of an event, in characters. It comes back in
	// a header, and servers refuse headers above 32 KiB. Where a reader stands
	// in more feeds than fit, its events have no id and it resumes from the
	// last that had one: it sees entries again, and misses none.
	maxCursor = 20 << 10
)

var errCursor = errors.New("this is no id of an event of this API: leave it out to begin with the first answer")

// formatCursor writes a cursor for an event's id: publishers in order, and
// below each its feeds in order, without what they share with the one before.
// Before all is when the reader began to follow. It is empty where there is no
// cursor, or one that is too long.
func formatCursor(c feedring.Cursor, began time.Time) string {
	if c == nil {
		return ""
	}
	refs := slices.SortedFunc(maps.Keys(c), func(a, b feedring.FeedRef) int {
		if a.Publisher != b.Publisher {
			return strings.Compare(string(a.Publisher), string(b.Publisher))
		}
		return strings.Compare(a.URL, b.URL)
	})
	b := binary.AppendUvarint([]byte{cursorVersion}, uint64(max(0, began.Unix())))
	var before feedring.FeedRef
	for _, ref := range refs {
		b = appendShared(b, string(before.Publisher), string(ref.Publisher))
		b = appendShared(b, before.URL, ref.URL)
		b = binary.AppendUvarint(b, c[ref].Epoch)
		b = binary.AppendUvarint(b, c[ref].Sequence)
		if base64.RawURLEncoding.EncodedLen(len(b)) > maxCursor {
			return ""
		}
		before = ref
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// parseCursor reads what formatCursor wrote, now or in an earlier version; nothing
// is no cursor.
func parseCursor(s string) (_ feedring.Cursor, began time.Time, _ error) {
	if s == "" {
		return nil, began, nil
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err != nil || len(s) > maxCursor || len(b) < 1 || b[0] < 1 || b[0] > cursorVersion {
		return nil, began, errCursor
	}
	d := decoder{rest: b[1:]}
	if b[0] > 1 {
		if at := min(d.number(), latestBegan); at > 0 {
			began = time.Unix(int64(at), 0).UTC()
		}
	}
	c := feedring.Cursor{}
	var ref feedring.FeedRef
	for len(d.rest) > 0 && !d.wrong {
		ref.Publisher = feedring.PeerID(d.shared(string(ref.Publisher), 128))
		ref.URL = d.shared(ref.URL, 2048)
		c[ref] = feedring.Position{Epoch: d.number(), Sequence: d.number()}
	}
	if d.wrong {
		return nil, time.Time{}, errCursor
	}
	return c, began, nil
}

// appendShared writes how many bytes s shares with the text before it, how
// many follow, and those.
func appendShared(b []byte, before, s string) []byte {
	n := 0
	for n < len(s) && n < len(before) && s[n] == before[n] {
		n++
	}
	b = binary.AppendUvarint(b, uint64(n))
	b = binary.AppendUvarint(b, uint64(len(s)-n))
	return append(b, s[n:]...)
}

// decoder reads from the front of rest. After something wrong it reads zeros.
type decoder struct {
	rest  []byte
	wrong bool
}

func (d *decoder) number() uint64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 || d.wrong {
		d.wrong = true
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

func (d *decoder) shared(before string, most int) string {
	kept, more := d.number(), d.number()
	if kept > uint64(len(before)) || more > uint64(len(d.rest)) || kept+more > uint64(most) {
		d.wrong = true
	}
	if d.wrong {
		return ""
	}
	s := before[:kept] + string(d.rest[:more])
	d.rest = d.rest[more:]
	d.wrong = !utf8.ValidString(s)
	return s
}
