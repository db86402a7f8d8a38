package repair

import (
	"bytes"
	"container/heap"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/feedring/feedring/internal/origin/failure"
)

// errItems is what lies below the error that refuses a feed for the number of its
// entries alone.
var errItems = errors.New("too many entries")

func tooManyItems() error {
	e := failure.New(failure.KindTooLarge, "the feed has more than %d entries", MaxItems)
	e.Err = errItems
	return e
}

// within checks a feed whose root begins at a place as checkFeed does. Of one
// that has more than MaxItems entries it returns the text with the newest of
// them, and how many it left out. Both cost one more walk over the text, and no
// memory for what is left out but the new text.
func within(text []byte, at int) ([]byte, int, error) {
	err := checkFeed(text, at)
	if !errors.Is(err, errItems) {
		return text, 0, err
	}
	walk := xmlItems
	if bytes.TrimLeft(text[at:], " \t\r\n")[0] == '{' {
		walk = jsonItems
	}
	total, kept := 0, newest{}
	walk(text, at, func(it rawItem) {
		total++
		kept.offer(it)
	})
	taken := kept.places()
	if len(taken) == total { // what counts as an entry is elsewhere in the document
		return text, 0, err
	}
	out := make([]byte, 0, len(text))
	from, first := 0, true
	walk(text, at, func(it rawItem) {
		gap := text[from:it.begin]
		from = it.end
		_, take := slices.BinarySearch(taken, it.begin)
		switch {
		case first || take && (!it.listed || out[len(out)-1] == '}'):
			out = append(out, gap...)
		case !take && !it.listed && len(bytes.TrimSpace(gap)) > 0: // it is of the feed's own
			out = append(out, gap...)
		}
		first = false
		if take {
			out = append(out, text[it.begin:it.end]...)
		}
	})
	out = append(out, text[from:]...)
	return out, total - len(taken), checkFeed(out, at)
}

// rawItem is where an entry stands in a text.
type rawItem struct {
	begin, end int
	date       int64 // Unix seconds; 0: it has none that can be read
	listed     bool  // commas part it from the next
}

// newest keeps the newest MaxItems entries of those that are offered in the order
// of the document. One without a date is as new as the one before it, or where no
// date came yet, as the first that has one. Of two that are equally new the first
// is newer, as in documents whose entries have no dates at all.
type newest struct {
	kept    []placed // a heap, the oldest first
	undated []placed // before the first date
	date    int64    // the last; 0: none yet
	order   int
}

type placed struct {
	begin, order int
	date         int64
}

func (n *newest) offer(it rawItem) {
	n.order++
	p := placed{begin: it.begin, order: n.order, date: it.date}
	if it.date == 0 {
		p.date = n.date
	}
	if p.date == 0 {
		if len(n.undated) < MaxItems {
			n.undated = append(n.undated, p)
		}
		return
	}
	if n.date == 0 {
		for _, before := range n.undated {
			before.date = p.date
			n.keep(before)
		}
		n.undated = nil
	}
	n.date = p.date
	n.keep(p)
}

func (n *newest) keep(p placed) {
	switch {
	case len(n.kept) < MaxItems:
		heap.Push(n, p)
	case isOlder(n.kept[0], p):
		n.kept[0] = p
		heap.Fix(n, 0)
	}
}

// places are where those that are kept begin, in order.
func (n *newest) places() []int {
	all := n.kept
	if n.date == 0 {
		all = n.undated
	}
	places := make([]int, len(all))
	for i, p := range all {
		places[i] = p.begin
	}
	slices.Sort(places)
	return places
}

func isOlder(a, b placed) bool {
	if a.date != b.date {
		return a.date < b.date
	}
	return a.order > b.order
}

// Len, Less, Swap, Push and Pop implement heap.Interface.
func (n *newest) Len() int           { return len(n.kept) }
func (n *newest) Less(i, j int) bool { return isOlder(n.kept[i], n.kept[j]) }
func (n *newest) Swap(i, j int)      { n.kept[i], n.kept[j] = n.kept[j], n.kept[i] }
func (n *newest) Push(x any)         { n.kept = append(n.kept, x.(placed)) }
func (n *newest) Pop() any {
	last := n.kept[len(n.kept)-1]
	n.kept = n.kept[:len(n.kept)-1]
	return last
}

// xmlItems calls each with the entries of a feed whose root begins at a place,
// those aside that stand in another entry. It ends where the text breaks a limit
// of a single tag; how many there are is of no matter.
func xmlItems(text []byte, at int, each func(rawItem)) {
	s := &xmlScan{text: text, at: at}
	var it rawItem
	around, open := 0, false
	var dates itemDates
	for s.next() {
		tag, depth := s.at, s.depth
		s.tags, s.parts, s.items, s.work = 0, 0, 0, 0
		name := TagName(text[tag+1:])
		if s.markup() != nil {
			return
		}
		switch {
		case open && s.depth <= around:
			it.end = s.at
			if !bytes.Equal(TagName(text[tag+2:]), s.open[around]) { // what is around it ended
				it.end = tag
			}
			it.date, open = dates.newest(), false
			each(it)
		case open && depth == around+1 && s.depth == depth+1:
			dates.take(local(name), text[s.at:])
		case !open && isItem(name):
			it, dates = rawItem{begin: tag, end: s.at}, itemDates{}
			if open, around = s.depth > depth, depth; !open {
				each(it)
			}
		}
	}
}

// local is the name of an element without its prefix, in lower case.
func local(name []byte) string {
	return strings.ToLower(string(name[bytes.IndexByte(name, ':')+1:]))
}

func isItem(name []byte) bool {
	name = name[bytes.IndexByte(name, ':')+1:]
	return bytes.EqualFold(name, []byte("item")) || bytes.EqualFold(name, []byte("entry"))
}

// itemDates are the dates of one entry, the first of each kind.
type itemDates struct{ published, updated []byte }

// take takes the text that a child of an entry begins with.
func (d *itemDates) take(name string, text []byte) {
	into := &d.published
	switch name {
	case "pubdate", "published", "issued", "date":
	case "updated", "modified":
		into = &d.updated
	default:
		return
	}
	if *into != nil {
		return
	}
	text = bytes.TrimPrefix(bytes.TrimLeft(text[:min(len(text), 100)], " \t\r\n"), []byte("<![CDATA["))
	if end := bytes.IndexAny(text, "<]"); end >= 0 {
		text = text[:end]
	}
	*into = text
}

func (d *itemDates) newest() int64 {
	if at := readDate(string(d.published)); at != 0 {
		return at
	}
	return readDate(string(d.updated))
}

var dateForms = [...]string{
	"2 Jan 2006 15:04:05 -0700", "2 Jan 2006 15:04:05 MST", "2 Jan 2006 15:04 -0700", "2 Jan 2006 15:04 MST",
	"2 Jan 06 15:04:05 -0700", "2 Jan 06 15:04:05 MST", "2 January 2006 15:04:05 -0700", "2 Jan 2006",
}

var isoForms = [...]string{time.RFC3339, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04Z07:00", time.DateOnly}

// readDate reads the usual forms of a date. The parser knows more, and takes a
// hundred times as long to find that a text is none.
func readDate(s string) int64 {
	s = strings.TrimSpace(s)
	if len(s) < 8 || len(s) > 48 {
		return 0
	}
	forms := dateForms[:]
	if s[4] == '-' {
		forms = isoForms[:]
	} else if _, rest, ok := strings.Cut(s, ","); ok {
		s = strings.TrimSpace(rest)
	}
	for _, form := range forms {
		if at, err := time.Parse(form, s); err == nil {
			return max(at.Unix(), 1)
		}
	}
	return 0
}

// jsonItems calls each with the objects of the list "items" of a JSON feed.
func jsonItems(text []byte, _ int, each func(rawItem)) {
	s := &jsonScan{text: text}
	var key, last string // the last key of the feed or of an entry, and the last string
	var it rawItem
	var dates itemDates
	inItems := false
	value := func() {
		switch key {
		case "date_published":
			dates.published = []byte(last)
		case "date_modified":
			dates.updated = []byte(last)
		}
		key = ""
	}
	for at := 0; at < len(text); at++ {
		switch text[at] {
		case '"':
			end, err := s.skipString(at)
			if err != nil {
				return
			}
			if s.depth == 1 || inItems && s.depth == 3 {
				last = string(text[at+1 : min(end, at+100)])
			}
			at = end
		case ':':
			if s.depth == 1 || s.depth == 3 {
				key, last = last, ""
			}
		case ',':
			if inItems && s.depth == 3 {
				value()
			}
		case '{', '[':
			switch {
			case s.depth == 1 && text[at] == '[' && strings.EqualFold(key, "items"):
				inItems = true
			case s.depth == 2 && inItems && text[at] == '{':
				it, dates, key = rawItem{begin: at, listed: true}, itemDates{}, ""
			}
			s.depth++
		case '}', ']':
			s.depth--
			switch {
			case inItems && s.depth == 2 && text[at] == '}':
				value()
				it.end, it.date = at+1, dates.newest()
				each(it)
			case inItems && s.depth == 1:
				return
			}
		}
	}
}
