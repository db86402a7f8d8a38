package document

import (
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"
)

const corpusDir = "../../../../shared/feeds/corpus"

func FuzzParse(f *testing.F) {
	for _, doc := range []string{rssDoc, atomDoc, jsonDoc, "<rss", "<html><title>x", "{", "\x1f\x8b", "<rss><channel><item><item>"} {
		f.Add([]byte(doc))
	}
	if names, _ := filepath.Glob(filepath.Join(corpusDir, "*rss-0.9*")); len(names) > 0 {
		if b, err := os.ReadFile(names[0]); err == nil {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		doc, err := Parse(Source{URL: "http://origin.example/feed"}, body)
		if err != nil {
			if err.Error() == "" {
				t.Fatal("an error without a text")
			}
			return
		}
		for i := range doc.Items {
			e := &doc.Items[i].Entry
			if !utf8.ValidString(e.Title + e.URL + e.Summary + e.ContentHTML) {
				t.Fatalf("not UTF-8: %+v", e)
			}
		}
	})
}
