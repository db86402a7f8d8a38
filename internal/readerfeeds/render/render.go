package render

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/feedring/feedring"
)

// Format is a way to write a feed.
type Format uint8

// The formats.
const (
	Atom Format = iota + 1
	RSS
	JSON
)

// Formats are all of them.
var Formats = [...]Format{Atom, RSS, JSON}

// String is the format's name, as it ends an address.
func (f Format) String() string {
	switch f {
	case Atom:
		return "atom"
	case RSS:
		return "rss"
	case JSON:
		return "json"
	default:
		return "unknown"
	}
}

// ParseFormat reads what String writes.
func ParseFormat(s string) (Format, bool) {
	for _, f := range Formats {
		if s == f.String() {
			return f, true
		}
	}
	return 0, false
}

// MediaType is what links call the format; see ContentType.
func (f Format) MediaType() string {
	switch f {
	case Atom:
		return "application/atom+xml"
	case RSS:
		return "application/rss+xml"
	default:
		return "application/feed+json"
	}
}

// ContentType is the media type for a response's header.
func (f Format) ContentType() string { return f.MediaType() + "; charset=utf-8" }

// Feed is what is written. Addresses are absolute wherever the caller knows
// how it is called.
type Feed struct {
	ID      string // an IRI that stays when the address changes
	Title   string
	About   string // a sentence; empty: the title
	Self    string // where this very document is fetched
	Home    string // a page for people; empty: none
	Hub     string // a WebSub hub that tells of changes; empty: none
	Next    string // the page of older entries; empty: none
	Updated time.Time
	Entries []feedring.Entry // in the order of the document, no copy twice
}

// generator names the program in a feed.
const generator = "feedring"

// Write writes feed to w. Entries are not changed. An error is w's.
func Write(w io.Writer, f Format, feed *Feed) error {
	items := make([]item, len(feed.Entries))
	for i := range feed.Entries {
		items[i] = newItem(&feed.Entries[i])
	}
	named := make(map[string]bool, len(items))
	for i := range slices.Backward(items) { // what came first keeps its name
		if named[items[i].id] {
			items[i].id = copyURN(&feed.Entries[i])
		}
		named[items[i].id] = true
	}
	switch f {
	case Atom:
		return writeXML(w, newAtomFeed(feed, items))
	case RSS:
		return writeXML(w, newRSS(feed, items))
	case JSON:
		return writeJSON(w, newJSONFeed(feed, items))
	default:
		return fmt.Errorf("feed format %d does not exist", f)
	}
}
