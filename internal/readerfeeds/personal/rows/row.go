package rows

import (
	"encoding/binary"
	"encoding/json"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/duplicate"
)

// SubscriptionRow is a subscription.
type SubscriptionRow struct {
	Secret   string    `json:"secret"`
	Interest uint32    `json:"interest"`
	Words    string    `json:"words,omitempty"` // as they were typed
	Created  time.Time `json:"created"`
	Adopted  bool      `json:"adopted,omitempty"`
}

// InterestRow is an interest and its list.
type InterestRow struct {
	Theme    feedring.Theme `json:"theme,omitempty"`
	Provider string         `json:"provider,omitempty"`
	Words    string         `json:"words,omitempty"`
	Since    time.Time      `json:"since,omitzero"`
	Until    time.Time      `json:"until,omitzero"`
	Limit    int            `json:"limit"`
	Stem     bool           `json:"stem,omitempty"`
	Public   bool           `json:"public,omitempty"`
	Items    Items          `json:"items,omitempty"`
	Modified int64          `json:"modified"`
	Filled   int64          `json:"filled,omitempty"`
	Attempts int            `json:"attempts,omitempty"` // 0: never filled
	Through  uint64         `json:"through"`
}

// FeedRow is a feed and how far it was read.
type FeedRow struct {
	URL       string          `json:"url"`
	Publisher feedring.PeerID `json:"publisher"`
	Theme     feedring.Theme  `json:"theme,omitempty"`
	Private   bool            `json:"private,omitempty"`
	Epoch     uint64          `json:"epoch,omitempty"`
	Sequence  uint64          `json:"sequence,omitempty"`
}

// EntryRow is what must be known of an entry without reading it.
type EntryRow struct {
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

// Encode writes a row of ours, which always can be.
func Encode(row any) []byte {
	b, err := json.Marshal(row)
	if err != nil {
		panic(err) // a year beyond 9999, which no interest has
	}
	return b
}

// Items are the numbers of a list's entries, as varints: how far each is from the one
// before.
type Items []byte

// Append adds a number to a list whose last is before; 0: it is empty.
func (i Items) Append(n, before uint64) Items { return binary.AppendVarint(i, int64(n-before)) }

// Numbers returns what was appended, up to what cannot be read.
func (i Items) Numbers() (all []uint64) {
	before := uint64(0)
	for len(i) > 0 {
		d, n := binary.Varint(i)
		if n <= 0 {
			return all
		}
		before += uint64(d)
		all, i = append(all, before), i[n:]
	}
	return all
}
