package match

import (
	"bytes"
	"html"
	"slices"

	"github.com/feedring/feedring"
)

// Sizes of a Text, in bytes. Words beyond are not found. Content is cut first,
// so that however long it is, title, summary and provider keep their place.
const (
	MaxText    = feedring.MaxEntry
	maxContent = MaxText - 32<<10
)

// Text is the folded words of one entry, ready to be matched and to be stored
// as it is. Each word has a space on both sides, and a line end keeps fields
// apart, so that no phrase crosses them:
//
//	" l energie chere \n lemonde fr "
//
// Bytes read back from a store convert to a Text at no cost. A Text must not be
// changed while it is matched. The nil Text has no words.
type Text []byte

// Bytes returns what a store keeps. It shares memory with t.
func (t Text) Bytes() []byte { return t }

// TextOf folds what expressions search in an entry: title, summary, content and
// provider. A provider's labels are its words, so lemonde.fr is found by lemonde
// and by lemonde.fr. A field that repeats a part of another one adds nothing.
func TextOf(e *feedring.Entry) Text { return AppendText(nil, e) }

// AppendText is TextOf in the memory of buf, whose content is lost.
func AppendText(buf Text, e *feedring.Entry) Text {
	content, summary := PlainText(e.ContentHTML), html.UnescapeString(e.Summary)
	if hasMarkup(e.Summary) {
		summary = PlainText(e.Summary)
	}
	t := slices.Grow(buf[:0], len(content)+len(summary)+len(e.Title)+len(e.Provider)+16)
	t = t.add(content, maxContent)
	t = t.add(html.UnescapeString(e.Title), MaxText)
	t = t.add(summary, MaxText)
	return t.add(string(e.Provider), MaxText)
}

// add appends a field, up to limit bytes of the whole.
func (t Text) add(s string, limit int) Text {
	if len(t) == 0 {
		return trimField(appendWords(append(t, ' '), s, limit), 0)
	}
	start := len(t)
	with := append(t, '\n', ' ')
	with = trimField(appendWords(with, s, limit), start)
	if len(with) == start {
		return with
	}
	field := with[start+1:]
	if contains(with[:start], field, rarest(field[:min(len(field), 32)])) {
		return with[:start]
	}
	return with
}

// trimField takes the frame of a field that has no words back, to start.
func trimField(t Text, start int) Text {
	if len(bytes.TrimSpace(t[start:])) == 0 {
		return t[:start]
	}
	return t
}
