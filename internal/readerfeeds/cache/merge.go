package cache

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"strings"

	"github.com/feedring/feedring/internal/origin/decode"
)

// merge puts the entries of a part, which an origin gave instead of the whole
// (RFC 3229, "feed"), into the document that was whole before: in front, in the place of
// those that they are versions of, and as many in all as there were. False: they
// do not fit, and the whole is wanted.
func merge(old, part *Fetched) ([]byte, bool) {
	charset := decode.Charset(old.Body, old.ContentType)
	if decode.Charset(part.Body, part.ContentType) != charset {
		return nil, false
	}
	lo, lp := layOut(old.Body, charset), layOut(part.Body, charset)
	switch {
	case lo.format != lp.format || len(lo.items) == 0 || !sameRoot(&lo, old.Body, &lp, part.Body):
		return nil, false
	case len(lp.items) == 0:
		return old.Body, true
	}
	fresh := make([][]byte, len(lp.items))
	replaced := make(map[string]bool, len(lp.items))
	for i, s := range lp.items {
		fresh[i] = part.Body[s.from:s.to]
		replaced[keyOf(lp.format, fresh[i], charset)] = true
	}
	room := max(len(lo.items)-len(fresh), 0)
	keeps := func(i int) bool {
		s := lo.items[i]
		if room == 0 || replaced[keyOf(lo.format, old.Body[s.from:s.to], charset)] {
			return false
		}
		room--
		return true
	}
	out := lo.with(old.Body, fresh, keeps)
	now := layOut(out, charset) // what was written is read again
	return out, now.format == lo.format && len(now.items) > 0 && now.insert == lo.insert
}

// with returns body with items in front of its own, and of those the ones that
// keeps takes; it is asked in their order.
func (l *layout) with(body []byte, items [][]byte, keeps func(i int) bool) []byte {
	if l.format == jsonFeed {
		for i, s := range l.items {
			if keeps(i) {
				items = append(items, body[s.from:s.to])
			}
		}
		out := append([]byte(nil), body[:l.list.from]...)
		return append(append(out, bytes.Join(items, []byte(","))...), body[l.list.to:]...)
	}
	at := l.items[0].from
	out := append([]byte(nil), body[:at]...)
	out = append(append(out, bytes.Join(items, []byte("\n"))...), '\n')
	for i, s := range l.items {
		if !keeps(i) {
			out = append(out, body[at:s.from]...)
			at = s.to
		}
	}
	return append(out, body[at:]...)
}

// sameRoot reports whether names mean the same in both: what is written before
// the feed's own elements is equal.
func sameRoot(a *layout, old []byte, b *layout, part []byte) bool {
	if a.format == jsonFeed {
		return true
	}
	return bytes.Equal(rootOf(a, old), rootOf(b, part))
}

func rootOf(l *layout, body []byte) []byte {
	for at := 0; at < l.insert; at++ {
		if body[at] == '<' && body[at+1] != '?' && body[at+1] != '!' {
			return bytes.Join(bytes.Fields(body[at:l.insert]), []byte(" "))
		}
	}
	return nil
}

// keyOf is what two versions of an entry have in common: guid or id, else the
// link, else nothing but the bytes.
func keyOf(f format, item []byte, charset string) string {
	if f == jsonFeed {
		var j struct {
			ID json.RawMessage `json:"id"`
		}
		if json.Unmarshal(item, &j) == nil && j.ID != nil {
			return "id " + string(j.ID)
		}
		return string(item)
	}
	text, err := asciiText(item, charset)
	if err != nil {
		return string(item)
	}
	var x struct {
		GUID string `xml:"guid"`
		ID   string `xml:"id"`
		Link string `xml:"link"`
	}
	d := xml.NewDecoder(bytes.NewReader(text))
	d.Entity = xml.HTMLEntity
	if d.Decode(&x) != nil {
		return string(item)
	}
	for _, key := range []string{x.GUID, x.ID, x.Link} {
		if key = strings.TrimSpace(key); key != "" {
			return "id " + key
		}
	}
	return string(item)
}
