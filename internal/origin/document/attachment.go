package document

import (
	"strconv"
	"strings"

	"github.com/mmcdole/gofeed"
	jsonfeed "github.com/mmcdole/gofeed/json"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/origin/htmltext"
)

const (
	maxSize    = 1 << 50 // of an attachment, in bytes: more is a mistake
	maxSeconds = 1 << 31
)

// attachments are the files of an item. An item of a podcast says how long its one
// sound or film plays.
func (r reader) attachments(raw *gofeed.Item, original any) []feedring.Attachment {
	var out []feedring.Attachment
	for i, e := range raw.Enclosures {
		if e == nil || len(out) == maxAttachments {
			continue
		}
		if u := absolute(r.base, e.URL); u != "" {
			out = append(out, feedring.Attachment{
				URL: u, MIMEType: htmltext.Cut(htmltext.Fold(e.Type), maxName), Size: number(e.Length, maxSize), Seconds: secondsOf(original, i),
			})
		}
	}
	if raw.ITunesExt == nil {
		return out
	}
	for i := range out {
		if plays(out[i].MIMEType) {
			out[i].Seconds = seconds(raw.ITunesExt.Duration)
			break
		}
	}
	return out
}

// secondsOf is how long a JSON Feed says that an item's attachment plays.
func secondsOf(original any, i int) int64 {
	item, ok := original.(*jsonfeed.Item)
	if !ok || item.Attachments == nil || i >= len(*item.Attachments) {
		return 0
	}
	if n := (*item.Attachments)[i].DurationInSeconds; n > 0 && n <= maxSeconds {
		return n
	}
	return 0
}

func plays(mimeType string) bool {
	return mimeType == "" || strings.HasPrefix(mimeType, "audio/") || strings.HasPrefix(mimeType, "video/")
}

// seconds reads 3725, 62:05 and 1:02:05; 0 for anything else.
func seconds(s string) int64 {
	parts := strings.Split(strings.TrimSpace(s), ":")
	if len(parts) > 3 {
		return 0
	}
	sum := int64(0)
	for i, part := range parts {
		n := number(part, maxSeconds)
		if n == 0 && strings.Trim(part, "0") != "" || i > 0 && n > 59 {
			return 0
		}
		sum = sum*60 + n
	}
	if sum > maxSeconds {
		return 0
	}
	return sum
}

// number reads a whole number up to most; 0 for anything else.
func number(s string, most int64) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	if err != nil || n < 0 || n > most {
		return 0
	}
	return n
}
