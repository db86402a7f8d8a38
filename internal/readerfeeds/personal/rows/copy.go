package rows

import (
	"encoding/json"
	"time"
	"unicode/utf8"

	"github.com/feedring/feedring"
)

// MaxSummary is the bytes of the summary of an entry without content: Cobra's first
// kilobyte.
const MaxSummary = 1 << 10

// EncodeCopy writes an entry; short is without its content, and with no more of
// its summary than Cobra kept.
func EncodeCopy(e *feedring.Entry, short bool) []byte {
	kept := *e
	if short {
		Shorten(&kept)
		kept.Truncated = true
	}
	b, err := json.Marshal(&kept)
	if err != nil { // a date that no feed has: it is the only thing that JSON cannot say
		kept.Published, kept.Updated = time.Unix(0, 0).UTC(), time.Time{}
		b = Encode(&kept)
	}
	return b
}

// Shorten takes the content from an entry, and what its summary has above MaxSummary.
func Shorten(e *feedring.Entry) { e.ContentHTML, e.Summary = "", cut(e.Summary, MaxSummary) }

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
