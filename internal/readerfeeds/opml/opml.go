// Package opml reads and writes lists of feeds as readers exchange them: OPML
// 1.0 to 2.0 (http://opml.org/spec2.opml). It fetches nothing, and an outline
// that includes another list is passed over.
package opml

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/feedring/feedring/internal/origin/decode"
	"github.com/feedring/feedring/internal/origin/htmltext"
	"github.com/feedring/feedring/internal/origin/repair"
)

// MaxBody is the largest list that is read, in bytes.
const MaxBody = 4 << 20

// namespace is of the attributes that the format lacks: who provides a feed,
// where its address does not say it, and how much of it is published.
const namespace = "https://github.com/feedring/feedring/opml"

// Outline is one feed of a list.
type Outline struct {
	URL      string
	Title    string // one short line
	Folder   string // the innermost one it lies in; empty: in none
	Provider string // empty: not said
	Share    string // how much of its entries is published; empty: not said
}

// Parse returns the feeds of a list in its order, in any character set that a
// feed may be in. It forgives what the readers of the wild write: attributes in
// other cases, bare ampersands, a head or a body that is missing. contentType is
// the HTTP header and may be empty. Errors are one line for a person.
func Parse(body []byte, contentType string) ([]Outline, error) {
	if len(body) > MaxBody {
		return nil, fmt.Errorf("the list is larger than %d MiB", MaxBody>>20)
	}
	text, err := decode.Convert(body, contentType)
	if err != nil {
		return nil, err
	}
	if err := repair.CheckLimits(text); err != nil {
		return nil, err
	}
	d := xml.NewDecoder(bytes.NewReader(text))
	d.Strict, d.Entity = false, xml.HTMLEntity
	p := parser{}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("the list cannot be read: %w", err)
		}
		if err := p.take(token); err != nil {
			return nil, err
		}
	}
	if !p.opened {
		return nil, errors.New("this is no OPML: nothing is in it")
	}
	return p.found, nil
}

type parser struct {
	opened  bool
	folders []string // of the outlines that are open
	found   []Outline
}

func (p *parser) take(token xml.Token) error {
	switch t := token.(type) {
	case xml.StartElement:
		if !p.opened && !strings.EqualFold(t.Name.Local, "opml") {
			return fmt.Errorf("this is no OPML: it begins with <%.40s>", t.Name.Local)
		}
		p.opened = true
		if strings.EqualFold(t.Name.Local, "outline") {
			p.outline(t.Attr)
		}
	case xml.EndElement:
		if n := len(p.folders); n > 0 && strings.EqualFold(t.Name.Local, "outline") {
			p.folders = p.folders[:n-1]
		}
	}
	return nil
}

func (p *parser) outline(attrs []xml.Attr) {
	var o Outline
	var text string
	for _, a := range attrs {
		value := strings.TrimSpace(a.Value)
		switch strings.ToLower(a.Name.Local) {
		case "xmlurl":
			o.URL = address(value)
		case "title":
			o.Title = value
		case "text":
			text = value
		case "provider":
			o.Provider = value
		case "share":
			o.Share = value
		}
	}
	if o.Title == "" {
		o.Title = text
	}
	o.Title = htmltext.OneLine(o.Title)
	folder := "" // a feed may hold outlines too, and is no folder
	if n := len(p.folders); n > 0 {
		folder = p.folders[n-1]
	}
	if o.URL != "" {
		o.Folder = folder
		p.found = append(p.found, o)
	} else if text != "" || o.Title != "" {
		folder = o.Title
	}
	p.folders = append(p.folders, folder)
}

// address undoes the scheme by which links once opened feed readers:
// feed://host/ and feed:https://host/.
func address(s string) string {
	if len(s) < 5 || !strings.EqualFold(s[:5], "feed:") {
		return s
	}
	if rest := s[5:]; strings.HasPrefix(rest, "//") {
		return "http:" + rest
	}
	return s[5:]
}
