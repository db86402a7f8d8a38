package cache

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/feedring/feedring/internal/origin/decode"
)

const (
	atomSpace = "http://www.w3.org/2005/Atom"
	rdfSpace  = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
)

var errLayout = errors.New("cache: not for certain")

// asciiText returns body so that each byte below 0x80 means that character and
// every other is a part of a text or name, at the same place.
func asciiText(body []byte, charset string) ([]byte, error) {
	if charset == decode.UTF8 {
		return body, nil
	}
	single := slices.ContainsFunc([]string{"windows-125", "windows-874", "iso-8859-", "koi8-", "macintosh", "ibm866"},
		func(known string) bool { return strings.HasPrefix(charset, known) })
	if !single {
		return nil, errLayout
	}
	text := bytes.Clone(body)
	for i, c := range text {
		if c >= 0x80 {
			text[i] = 'x'
		}
	}
	return text, nil
}

// layOutXML reads a document as strictly as XML wants it: what is no XML is not
// changed.
func layOutXML(body []byte, charset string) (layout, error) {
	text, err := asciiText(body, charset)
	if err != nil {
		return layout{}, err
	}
	d := xml.NewDecoder(bytes.NewReader(text))
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // the bytes are right already
	d.Entity = xml.HTMLEntity                                                          // common, and left as they are
	w := xmlWalk{text: text}
	for {
		from := int(d.InputOffset())
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			return layout{}, err
		}
		if err := w.take(token, span{from, int(d.InputOffset())}); err != nil {
			return layout{}, err
		}
	}
	if w.insert == 0 && w.format != rdf {
		return layout{}, errLayout
	}
	return w.layout, nil
}

// xmlWalk goes over the elements of a feed.
type xmlWalk struct {
	layout
	text  []byte
	depth int
	top   int // depth of the feed's own elements
	began int // of the item that is open
}

func (w *xmlWalk) take(token xml.Token, at span) error {
	switch t := token.(type) {
	case xml.StartElement:
		w.depth++
		return w.start(t, at)
	case xml.EndElement:
		if w.depth == w.top && w.isItem(t.Name) {
			w.items = append(w.items, span{w.began, at.to})
		}
		w.depth--
	}
	return nil
}

func (w *xmlWalk) start(t xml.StartElement, at span) error {
	switch {
	case w.depth == 1:
		return w.root(t, at)
	case w.format == rss && w.depth == 2:
		if t.Name.Local != "channel" || w.insert != 0 {
			return errLayout
		}
		return w.opened(at)
	case w.depth != w.top:
	case w.isItem(t.Name):
		w.began = at.from
	case t.Name.Space == atomSpace && t.Name.Local == "link":
		w.link(t.Attr)
	}
	return nil
}

func (w *xmlWalk) isItem(name xml.Name) bool {
	if w.format == atom {
		return name.Local == "entry" && name.Space == atomSpace
	}
	return w.format == rss && name.Local == "item"
}

func (w *xmlWalk) root(t xml.StartElement, at span) error {
	switch {
	case t.Name.Local == "rss":
		w.format, w.top, w.prefix = rss, 3, "atom:"
		w.bound = slices.ContainsFunc(t.Attr, func(a xml.Attr) bool {
			return a.Name.Space == "xmlns" && a.Name.Local == "atom" && a.Value == atomSpace
		})
		return nil
	case t.Name.Local == "feed" && t.Name.Space == atomSpace:
		w.format, w.top, w.bound = atom, 2, true
		raw := w.text[at.from+1 : at.to]
		if colon := bytes.Index(raw, []byte("feed")); colon > 0 {
			w.prefix = string(raw[:colon])
		}
		return w.opened(at)
	case t.Name.Local == "RDF" && t.Name.Space == rdfSpace:
		w.format = rdf
		return nil
	}
	return errLayout
}

// opened notes the end of the start tag behind which links may stand.
func (w *xmlWalk) opened(at span) error {
	if bytes.HasSuffix(w.text[:at.to], []byte("/>")) {
		return errLayout
	}
	w.insert = at.to
	return nil
}

func (w *xmlWalk) link(attrs []xml.Attr) {
	var rel, href string
	for _, a := range attrs {
		switch a.Name.Local {
		case "rel":
			rel = strings.ToLower(strings.TrimSpace(a.Value))
		case "href":
			href = strings.TrimSpace(a.Value)
		}
	}
	w.told(rel, href)
}

// told notes a link that a document has itself.
func (l *layout) told(rel, href string) {
	switch {
	case href == "":
	case rel == "self" && l.self == "":
		l.self = href
	case rel == "hub":
		l.hubs = append(l.hubs, href)
	}
}
