package personal

import (
	"encoding/binary"
	"encoding/json"
	"time"
	"unicode/utf8"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/duplicate"
)

type subscriptionRow struct {
	Secret   string    `json:"secret"`
	Interest uint32    `json:"interest"`
	Words    string    `json:"words,omitempty"` // as they were typed
	Created  time.Time `json:"created"`
}

type interestRow struct {
	Theme    feedring.Theme `json:"theme,omitempty"`
	Provider string         `json:"provider,omitempty"`
	Words    string         `json:"words,omitempty"`
	Since    time.Time      `json:"since,omitzero"`
	Until    time.Time      `json:"until,omitzero"`
	Limit    int            `json:"limit"`
	Stem     bool           `json:"stem,omitempty"`
	Items    []byte         `json:"items,omitempty"` // varints: how far each number is from the one before
	Modified int64          `json:"modified"`
	Filled   int64          `json:"filled,omitempty"`
	Attempts int            `json:"attempts,omitempty"` // 0: never filled
	Through  uint64         `json:"through"`
}

type feedRow struct {
	URL       string          `json:"url"`
	Publisher feedring.PeerID `json:"publisher"`
	Theme     feedring.Theme  `json:"theme,omitempty"`
	Private   bool            `json:"private,omitempty"`
	Epoch     uint64          `json:"epoch,omitempty"`
	Sequence  uint64          `json:"sequence,omitempty"`
}

type entryRow struct {
	ID            []byte          `json:"id"`
	Feed          uint32          `json:"feed"`
	Epoch         uint64          `json:"epoch"`
	Sequence      uint64          `json:"sequence"`
	Version       uint32          `json:"version"`
	Changed       int64           `json:"changed,omitempty"`
	Link          uint64          `json:"link,omitempty"`
	Content       uint64          `json:"content,omitempty"`
	Origin        uint64          `json:"origin"`
	Size          uint32          `json:"size,omitempty"`
	Short         bool            `json:"short,omitempty"`
	Given         bool            `json:"given,omitempty"`
	Claim         duplicate.Claim `json:"claim,omitempty"`
	Authoritative bool            `json:"sure,omitempty"`
	Taken         bool            `json:"taken,omitempty"`
	Base          []byte          `json:"base,omitempty"`
	Story         uint64          `json:"story,omitempty"`

	Published int64 `json:"published,omitempty"`
	News      int64 `json:"news,omitempty"`
}

// encode writes a row of ours, which always can be.
func encode(row any) []byte {
	b, err := json.Marshal(row)
	if err != nil {
		panic(err) // a year beyond 9999: see canonical
	}
	return b
}

func encodeFeed(f *feed) []byte {
	return encode(feedRow{f.ref.URL, f.ref.Publisher, f.theme, f.private, f.at.Epoch, f.at.Sequence})
}

func encodeHeld(h *held) []byte {
	var base []byte
	if h.base != (identity{}) {
		base = h.base[:]
	}
	return encode(entryRow{
		Base: base, Story: h.story, ID: h.id[:], Feed: h.feed, Epoch: h.at.Epoch, Sequence: h.at.Sequence, Version: h.version, Changed: h.changed,
		Link: h.link, Content: h.content, Origin: h.origin, Size: h.size, Short: h.short, Given: h.given,
		Claim: h.claim, Authoritative: h.sure, Taken: h.retracted, Published: h.published, News: h.news,
	})
}

func (r *Reflector) encodeInterest(in *interest) []byte {
	q := &in.query
	row := interestRow{
		Theme: q.Theme, Provider: q.Provider, Words: q.Words, Since: q.Since, Until: q.Until, Limit: q.Limit, Stem: in.stem,
		Modified: in.modified, Filled: in.filled, Attempts: in.attempts, Through: in.through,
	}
	before := uint64(0)
	for _, s := range in.items {
		n := r.table.all[s].number
		row.Items = binary.AppendVarint(row.Items, int64(n-before))
		before = n
	}
	return encode(row)
}

// itemNumbers reads what encodeInterest wrote.
func itemNumbers(b []byte) (all []uint64) {
	before := uint64(0)
	for len(b) > 0 {
		d, n := binary.Varint(b)
		if n <= 0 {
			return all
		}
		before += uint64(d)
		all, b = append(all, before), b[n:]
	}
	return all
}

// encodeCopy writes an entry; short is without its content, and with no more of
// its summary than Cobra kept.
func encodeCopy(e *feedring.Entry, short bool) []byte {
	kept := *e
	if short {
		kept.ContentHTML, kept.Summary, kept.Truncated = "", cut(kept.Summary, maxSummary), true
	}
	b, err := json.Marshal(&kept)
	if err != nil { // a date that no feed has: it is the only thing that JSON cannot say
		kept.Published, kept.Updated = time.Unix(0, 0).UTC(), time.Time{}
		b = encode(&kept)
	}
	return b
}

// cut shortens a text to some bytes, at a character's end.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}
