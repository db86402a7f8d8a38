package cache

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"

	"github.com/feedring/feedring/internal/origin/decode"
)

// format is what a document is written in.
type format uint8

const (
	unknownFormat format = iota
	rss
	atom
	rdf
	jsonFeed
)

var mediaTypes = [...]string{
	unknownFormat: "application/xml", rss: "application/rss+xml", atom: "application/atom+xml",
	rdf: "application/rdf+xml", jsonFeed: "application/feed+json",
}

// layout is where things are in a document, by its bytes. The zero layout is of
// one that is served as it came.
type layout struct {
	format format
	insert int    // where links may stand; 0: nowhere
	prefix string // of a link in Atom's namespace there, such as "atom:"
	bound  bool   // the prefix is declared there
	hubsAt int    // JSON Feed: inside of its list of hubs; 0: it has none
	self   string // that the document names; empty: none
	hubs   []string
	items  []span
	list   span // JSON Feed: inside of the brackets around the items
	empty  bool // JSON Feed: the list of hubs is
}

type span struct{ from, to int }

// itemID tells an entry, as it is written, apart from any other.
type itemID uint64

func (l *layout) ids(body []byte) []itemID {
	ids := make([]itemID, len(l.items))
	for i, s := range l.items {
		sum := sha256.Sum256(body[s.from:s.to])
		ids[i] = itemID(binary.BigEndian.Uint64(sum[:8]))
	}
	return ids
}

// layOut reads where things are. What cannot be read for certain has the zero
// layout but for its format.
func layOut(body []byte, charset string) layout {
	trimmed := bytes.TrimLeft(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")), " \t\r\n")
	if len(trimmed) > 0 && trimmed[0] == '{' {
		l, err := layOutJSON(body)
		if err != nil || charset != decode.UTF8 {
			return layout{format: jsonFeed}
		}
		return l
	}
	l, err := layOutXML(body, charset)
	if err != nil {
		return layout{format: sniff(trimmed)}
	}
	return l
}

// sniff guesses the format of XML that a strict parser gave up.
func sniff(text []byte) format {
	head := bytes.ToLower(text[:min(len(text), 4<<10)])
	for _, known := range [...]struct {
		mark   string
		format format
	}{{"<rss", rss}, {"<rdf:rdf", rdf}, {"<feed", atom}, {":feed", atom}} {
		if bytes.Contains(head, []byte(known.mark)) {
			return known.format
		}
	}
	return unknownFormat
}
