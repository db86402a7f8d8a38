package fetch

import (
	"context"
	"encoding/csv"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/feedring/feedring"
)

const corpusDir = "../../../shared/feeds/corpus"

type corpusDocument struct {
	file    string
	entries int
}

// repeated is how many items of a document are there twice, or empty.
var repeated = map[string]int{
	"columbia.edu__rss-2.0__ed114e07.xml":                       9,
	"scripting.com__rss-0.92__2e86d5e6.xml":                     1,
	"scripting.com__rss-0.92__cd61d992.xml":                     1,
	"suspilne.media__rss-2.0__94a1f0f5.xml":                     1,
	"lefigaro.fr__rss-2.0__be615ec8.xml":                        1,
	"feed-paulgraham__rss-2.0__c2da72af.xml":                    3,
	"feed-windsurf-changelog__rss-2.0__ed34c57c.xml":            3,
	"le-cercle-psy.scienceshumaines.com__rss-2.0__06e28e42.xml": 1,
}

// corpus lists the real documents, or skips the test where they are absent.
func corpus(t testing.TB) []corpusDocument {
	t.Helper()
	f, err := os.Open(filepath.Join(corpusDir, "MANIFEST.csv"))
	if err != nil {
		t.Skip("the corpus of real feeds is not here:", err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var docs []corpusDocument
	for _, row := range rows[1:] {
		n, _ := strconv.Atoi(row[2])
		docs = append(docs, corpusDocument{file: row[0], entries: n})
	}
	return docs
}

func TestEveryDocumentOfTheCorpusIsServedAsEntries(t *testing.T) {
	docs := corpus(t)
	server := httptest.NewServer(http.FileServer(http.Dir(corpusDir)))
	defer server.Close()
	fetcher := testFetcher()
	now := time.Now()
	for _, doc := range docs {
		state := State{URL: server.URL + "/" + url.PathEscape(doc.file)}
		answer, err := fetcher.Fetch(context.Background(), state.URL, &state)
		if err != nil {
			t.Errorf("%s: %v", doc.file, err)
			continue
		}
		if missing := doc.entries - len(answer.Document.Items); missing != repeated[doc.file] {
			t.Errorf("%s: %d entries, want %d but %d", doc.file, len(answer.Document.Items), doc.entries, repeated[doc.file])
		}
		entries, next := Diff(state, answer.Document, now)
		for i := range entries {
			checkEntry(t, doc.file, &entries[i], now)
		}
		if again, _ := Diff(next, answer.Document, now); len(again) != 0 {
			t.Errorf("%s: %d entries are news the second time", doc.file, len(again))
		}
		next.take(answer, now)
		if answer, err = fetcher.Fetch(context.Background(), state.URL, &next); err != nil || answer.Document != nil {
			t.Errorf("%s: unchanged, yet read again (%v)", doc.file, err)
		}
	}
}

func checkEntry(t *testing.T, file string, e *feedring.Entry, now time.Time) {
	t.Helper()
	size := len(e.Feed) + len(e.Title) + len(e.URL) + len(e.Summary) + len(e.ContentHTML)
	for _, s := range append(e.Authors, e.Tags...) {
		size += len(s)
		if s == "" || !utf8.ValidString(s) {
			t.Errorf("%s: name %q", file, s)
		}
	}
	switch {
	case len(e.ID) != 32, e.Version != 1, !e.Seen.IsZero():
		t.Errorf("%s: %+v", file, e)
	case e.Published.IsZero(), e.Published.After(now), e.Published.Nanosecond() != 0:
		t.Errorf("%s: published %v", file, e.Published)
	case size > feedring.MaxEntry:
		t.Errorf("%s: %d bytes", file, size)
	case !utf8.ValidString(e.Title), !utf8.ValidString(e.Summary), !utf8.ValidString(e.ContentHTML):
		t.Errorf("%s: not UTF-8: %+v", file, e)
	case e.Title == "" && e.Summary == "" && e.ContentHTML == "" && e.URL == "" && len(e.Attachments) == 0:
		t.Errorf("%s: an empty entry %+v", file, e)
	}
}
