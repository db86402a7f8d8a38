package document

import (
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mmcdole/gofeed"
)

var rewrite = flag.Bool("rewrite", false, "write docs/conformance.md anew")

const (
	conformancePage  = "../../../docs/conformance.md"
	conformanceKnown = "testdata/conformance.txt"

	// one document may take this long on a busy machine; each is small, and
	// takes less than a millisecond.
	patience = 20 * time.Second
)

// outcome is how a row went: why is empty where it passed.
type outcome struct{ why, gofeed string }

// TestConformance reads the documents by which other readers are tested, and
// compares with what they are to say: what fails is listed with its reason, and
// nothing else may fail, nor pass.
func TestConformance(t *testing.T) {
	rows := conformanceRows(t)
	known, classes := knownFailures(t)
	results := make(map[string]outcome, len(rows))
	for _, row := range rows {
		results[row.file] = outcome{
			why:    row.judge(bounded(t, row, ours)),
			gofeed: row.judge(bounded(t, row, plainGofeed)),
		}
	}
	checkKnown(t, results, known)
	page := conformanceTable(rows, results, known, classes)
	if *rewrite {
		if err := os.WriteFile(conformancePage, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if written, err := os.ReadFile(conformancePage); err != nil || string(written) != page {
		t.Errorf("docs/conformance.md says something else (%v): write it with -rewrite", err)
	}
}

func checkKnown(t *testing.T, results map[string]outcome, known map[string]string) {
	t.Helper()
	for _, file := range slices.Sorted(maps.Keys(results)) {
		result := results[file]
		switch _, listed := known[file]; {
		case result.why != "" && !listed:
			t.Errorf("%s: %s (gofeed: %q)", file, result.why, result.gofeed)
		case result.why != "" && result.gofeed == "":
			t.Errorf("%s: gofeed passes it", file)
		case result.why == "" && listed:
			t.Errorf("%s passes: take it out of %s", file, conformanceKnown)
		}
	}
	for file := range known {
		if _, ok := results[file]; !ok {
			t.Errorf("%s of %s is not among the documents", file, conformanceKnown)
		}
	}
}

// knownFailures reads the list of what fails, by class: the class of each
// document, and the classes' reasons.
func knownFailures(t *testing.T) (class map[string]string, reasons []string) {
	t.Helper()
	text, err := os.ReadFile(conformanceKnown)
	if err != nil {
		t.Fatal(err)
	}
	class = make(map[string]string)
	for line := range strings.Lines(string(text)) {
		switch line = strings.TrimSpace(line); {
		case line == "" || line[0] == '#':
		case line[0] == '=':
			reasons = append(reasons, strings.TrimSpace(line[1:]))
		default:
			class[line] = reasons[len(reasons)-1]
		}
	}
	return class, reasons
}

// bounded runs a reader on a document, and says so where it does not come back
// or panics.
func bounded(t *testing.T, row conformanceRow, read func(conformanceRow) (view, error)) (view, error) {
	t.Helper()
	type answer struct {
		view
		err error
	}
	done := make(chan answer, 1)
	go func() {
		v, err := read(row)
		done <- answer{v, err}
	}()
	select {
	case a := <-done:
		return a.view, a.err
	case <-time.After(patience):
		t.Fatalf("%s: not read within %v", row.file, patience)
		return view{}, nil
	}
}

const conformanceURL = "http://127.0.0.1:8097/feed/"

// ours reads a document as a peer does.
func ours(row conformanceRow) (view, error) {
	d, err := Parse(Source{URL: conformanceURL, Header: row.header()}, row.body)
	if err != nil {
		return view{}, err
	}
	return viewOf(d), nil
}

// plainGofeed gives the bytes to the parser as they are.
func plainGofeed(row conformanceRow) (v view, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	f, err := gofeed.NewParser().ParseString(string(row.body))
	if err != nil {
		return view{}, err
	}
	return viewOfGofeed(f), nil
}

var headerLine = regexp.MustCompile(`(?mi)^\s*Header:\s*([A-Za-z-]+):[ \t]*(.*?)\s*$`)

// header is what feedparser's documents say, in a comment, of how they come.
func (row conformanceRow) header() http.Header {
	header := make(http.Header)
	if row.suite == "feedparser" {
		if m := headerLine.FindSubmatch(row.body[:min(len(row.body), 2048)]); m != nil {
			header.Set(string(m[1]), string(m[2]))
		}
	}
	return header
}
