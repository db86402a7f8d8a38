package opml

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	for what, c := range map[string]struct {
		list string
		want []Outline
	}{
		"plain": {`<opml version="2.0"><head><title>x</title></head><body><outline type="rss" text="A" xmlUrl="https://a.example/f"/></body></opml>`,
			[]Outline{{URL: "https://a.example/f", Title: "A"}}},
		"folders in folders": {`<opml><body><outline text="One"><outline text="Two"><outline text="A" xmlUrl="a"/></outline><outline title="B" xmlUrl="b"/></outline><outline xmlUrl="c"/></body></opml>`,
			[]Outline{{URL: "a", Title: "A", Folder: "Two"}, {URL: "b", Title: "B", Folder: "One"}, {URL: "c"}}},
		"a folder without a name": {`<opml><body><outline text="One"><outline><outline xmlUrl="a"/></outline></outline></body></opml>`,
			[]Outline{{URL: "a", Folder: "One"}}},
		"a feed that holds a feed": {`<opml><body><outline text="One"><outline text="A" xmlUrl="a"><outline xmlUrl="b"/></outline></outline></body></opml>`,
			[]Outline{{URL: "a", Title: "A", Folder: "One"}, {URL: "b", Folder: "One"}}},
		"other cases":        {`<OPML><Body><Outline TEXT='A' XMLURL='a'/></Body></OPML>`, []Outline{{URL: "a", Title: "A"}}},
		"bare ampersands":    {`<opml><body><outline text="A & B &eacute;" xmlUrl="https://a.example/?a=1&b=2"/></body></opml>`, []Outline{{URL: "https://a.example/?a=1&b=2", Title: "A & B é"}}},
		"another charset":    {"<?xml version='1.0' encoding='iso-8859-1'?><opml><body><outline text='\xe9' xmlUrl='a'/></body></opml>", []Outline{{URL: "a", Title: "é"}}},
		"a mark and no body": {"\ufeff<opml><outline xmlUrl=' a '/></opml>", []Outline{{URL: "a"}}},
		"feed as a scheme":   {`<opml><outline xmlUrl="feed://a.example/"/><outline xmlUrl="feed:https://b.example/"/></opml>`, []Outline{{URL: "http://a.example/"}, {URL: "https://b.example/"}}},
		"another list":       {`<opml><outline type="include" url="https://a.example/l.opml" text="x"/></opml>`, nil},
		"nothing in it":      {`<opml/>`, nil},
	} {
		if got, err := Parse([]byte(c.list), ""); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, %v", what, got, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for list, want := range map[string]string{
		"":                              "no OPML",
		"plain text":                    "no OPML",
		"<html><title>x</title></html>": "begins with <html>",
		"<rss version='2.0'></rss>":     "begins with <rss>",
		"<opml><body><outline":          "truncated",
		"<opml>" + strings.Repeat("<outline text='x'>", 100): "nests more",
		"<opml " + strings.Repeat("a='' ", 100) + "/>":       "attributes",
		"<!DOCTYPE opml [<!ENTITY a 'b'>]><opml/>":           "entities",
		"<opml>" + strings.Repeat(" ", MaxBody):              "larger than",
	} {
		got, err := Parse([]byte(list), "")
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.40q: %d feeds, %v, want %q", list, len(got), err, want)
		}
	}
}

func TestWriteIsReadBack(t *testing.T) {
	feeds := []Outline{
		{URL: "https://a.example/?a=1&b=2", Title: "<A> & \"B\""},
		{URL: "https://b.example/", Title: "B", Folder: "news", Provider: "x.example", Share: "title"},
		{URL: "https://c.example/", Title: "C", Folder: "news"},
		{URL: "https://d.example/", Title: "D", Folder: "sport"},
	}
	var list bytes.Buffer
	if err := Write(&list, "mine", time.Unix(0, 0), feeds); err != nil {
		t.Fatal(err)
	}
	if got, err := Parse(list.Bytes(), ""); err != nil || !reflect.DeepEqual(got, feeds) {
		t.Errorf("%+v, %v of\n%s", got, err, list.String())
	}
	if want := "<dateCreated>Thu, 01 Jan 1970 00:00:00 UTC</dateCreated>"; !strings.Contains(list.String(), want) {
		t.Errorf("no %s in\n%s", want, list.String())
	}
}

// TestRealLists reads lists that people publish.
func TestRealLists(t *testing.T) {
	for name, atLeast := range map[string]int{"engineering_blogs.opml": 400, "hackernews-personal-blogs.opml": 1000} {
		list, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "feeds", "opml", name))
		if err != nil {
			t.Skip("the real lists are not here: ", err)
		}
		if feeds, err := Parse(list, ""); err != nil || len(feeds) < atLeast {
			t.Errorf("%s: %d feeds, %v", name, len(feeds), err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`<opml><body><outline text="One"><outline xmlUrl="https://a.example/?a&b"/></outline></body></opml>`))
	f.Fuzz(func(t *testing.T, list []byte) {
		feeds, err := Parse(list, "")
		if err != nil {
			return
		}
		var again bytes.Buffer
		if err := Write(&again, "x", time.Unix(0, 0), feeds); err != nil {
			t.Fatal(err)
		}
		if got, err := Parse(again.Bytes(), ""); err == nil && len(got) != len(feeds) {
			t.Errorf("%d feeds, read back %d", len(feeds), len(got))
		}
	})
}
