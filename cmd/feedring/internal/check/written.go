package check

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/net/html/charset"
)

// wellFormed reads the document as strictly as its language wants it: many
// readers do.
func (p *page) wellFormed() {
	err, language := strictXML(p.First.Body), "XML"
	if p.isJSON {
		language, err = "JSON", nil
		if !json.Valid(bytes.TrimPrefix(p.First.Body, []byte("\xef\xbb\xbf"))) {
			err = json.Unmarshal(p.First.Body, new(json.RawMessage))
		}
	}
	if err == nil {
		p.ok("well-formed", "%s", language)
		return
	}
	p.add("well-formed", Fail, "correct what writes it: a library for "+language+" instead of a template escapes what has to be",
		"no: %s (forgiving readers show it, strict ones nothing)", short(strings.TrimPrefix(err.Error(), "XML syntax error ")))
}

func strictXML(body []byte) error {
	d := xml.NewDecoder(bytes.NewReader(body))
	d.CharsetReader = charset.NewReaderLabel
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (p *page) format() {
	switch p.Format {
	case "RSS 2.0", "Atom 1.0", "JSON Feed 1", "JSON Feed 1.1":
		p.ok("format", "%s", p.Format)
	default:
		p.add("format", Note, "write RSS 2.0 or Atom: entries' ids, dates and content have places there", "%s, which is old", p.Format)
	}
}

func (p *page) size() {
	size, entries := len(p.First.Body), len(p.feed.Items)
	told := fmt.Sprintf("%s in %s", plural(entries, "entry"), amount(size))
	switch {
	case entries == 0:
		p.add("size", Fail, "keep the last entries in it, however old: a reader who comes has nothing to see", "no entry")
	case size > 2<<20:
		p.add("size", Fail, "keep 20 to 50 entries: some readers stop reading at a megabyte", "%s", told)
	case size > 512<<10:
		p.add("size", Warn, "keep 20 to 50 entries, or put summaries in place of whole texts", "%s", told)
	case entries < 5:
		p.add("size", Note, "where more is published between two polls, readers lose entries: keep 20 or more", "%s", told)
	default:
		p.ok("size", "%s", told)
	}
}

// amount is a number of bytes for people.
func amount(n int) string {
	switch {
	case n < 10<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 10<<20:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}

// short is a text from outside, fit for a line.
func short(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "?")), " ")
	if len(s) > 100 {
		s = strings.ToValidUTF8(s[:100], "") + "…"
	}
	return s
}
