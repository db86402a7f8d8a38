package history

import (
	"bytes"
	"testing"

	"github.com/feedring/feedring/internal/match"
	"github.com/feedring/feedring/internal/store"
)

// FuzzNeed looks for any expression in any texts: what matches is among the
// candidates, and where the expression is nothing but whole words, AND, OR and
// NOT, nothing else is.
func FuzzNeed(f *testing.F) {
	f.Add("alpha NOT beta", []byte(" alpha beta \n gamma \x00 alpha  x"))
	f.Add(`"東京" OR NOT 都`, []byte(" 東京 京都 \x00 都 \x00\x00x"))
	f.Add(`(a OR NOT (b c)) d`, []byte("a b c d \x00 d \x00 a\nb d "))
	f.Fuzz(func(t *testing.T, words string, texts []byte) {
		e, err := match.Parse(words)
		if err != nil {
			return
		}
		l, each := newLists(), bytes.Split(texts, []byte{0})
		if len(each) > 200 {
			return
		}
		for _, text := range each {
			l.add(store.RowKey{}, &store.Row{Text: text})
		}
		n := needOf(nil, &store.Search{Words: e, Privacy: store.PublicAndPrivate})
		found, err := n.find(l, &scratch{})
		if err != nil {
			t.Fatal(err)
		}
		exact := plain(e.Root())
		for id, text := range each {
			candidate := found.next(id) == id
			if matches := e.Match(text); matches && !candidate || exact && candidate && !matches {
				t.Errorf("%s in %q: matches %v, candidate %v", e, text, matches, candidate)
			}
		}
	})
}

// plain reports whether an expression has only single words that an index
// knows.
func plain(n *match.Node) bool {
	if n == nil {
		return true
	}
	for kid := range n.Children() {
		if !plain(kid) {
			return false
		}
	}
	words := 0
	for word := range n.Words() {
		if words++; words > 1 || len(word) > maxToken {
			return false
		}
	}
	return n.Op() != match.Term || n.Whole()
}

// FuzzDecode reads headers and blocks that hold anything: what is no such thing
// is called damaged, and nothing is read outside of it.
func FuzzDecode(f *testing.F) {
	s := &segment{docs: 2, weight: 1, starts: []store.RowKey{{Second: 1}}, last: store.RowKey{Second: 2}, logs: []epoch{{1, 2}}, tokens: []string{"a", "b"}}
	f.Add(s.encode(), "a", uint16(2))
	f.Add([]byte("\x01a\x02\x00\x01b\x03\x01"), "b", uint16(3))
	f.Add([]byte("\x01a\x06\x80\x80\x04"), "a", uint16(60000))
	f.Fuzz(func(t *testing.T, body []byte, token string, n uint16) {
		var s segment
		if s.decode(body) && !bytes.Equal(s.encode(), body) {
			var again segment
			if !again.decode(s.encode()) {
				t.Error("a header that was read cannot be read again")
			}
		}
		docs := int(n) + 1
		into := make(set, words64(docs))
		if err := fillFrom(body, token, into, docs); err == nil {
			for id := into.next(0); id >= 0; id = into.next(id + 1) {
				if id >= docs {
					t.Errorf("document %d of %d", id, docs)
				}
			}
		}
	})
}
