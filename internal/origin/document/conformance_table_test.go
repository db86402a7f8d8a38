package document

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

const conformanceIntro = `# Conformance

How the reading of feeds (` + "`internal/origin/document`" + `) does in the tests of other readers: feedparser, gofeed, feed-rs, and the
W3C's feed validator. Written by ` + "`go test ./internal/origin/document -run TestConformance -rewrite`" + `; the test fails when this
page, or the list of known failures in ` + "`internal/origin/document/testdata/conformance.txt`" + `, is no longer true.

**What is asked.** A document that is a feed (RSS, RDF, Atom, CDF, JSON Feed) is to be read, however invalid; one that
is none is to be refused; a broken one may be either, as may one that reaches for a file or a server by an external entity;
and nothing may panic or take long. Where the suite says what a
feed's title or link is, or an entry's title, link, id, summary or content, or how many entries there are, or the
encoding, that is compared too: texts without their markup, which pages clean elsewhere, and links made absolute. What
a peer does not keep (the rights of a feed, say) is not asked: there only the reading counts. An entry of which there
is nothing to show (a link without an address, say) is not kept, and not counted. The validator's rows say what is invalid in a document, which is no
reason not to read it.

**gofeed** is the parser below, by itself, on the bytes as they are, asked the same.

`

// tally counts the rows of a suite and kind.
type tally struct{ rows, passed, gofeed, better, worse int }

func (t *tally) add(o outcome) {
	t.rows++
	if o.why == "" {
		t.passed++
	}
	if o.gofeed == "" {
		t.gofeed++
	}
	switch {
	case o.why == "" && o.gofeed != "":
		t.better++
	case o.why != "" && o.gofeed == "":
		t.worse++
	}
}

func (t *tally) line(name string) string {
	return fmt.Sprintf("| %s | %d | %d | %d | %d | %d | %d | %d |\n",
		name, t.rows, t.passed, t.rows-t.passed, t.gofeed, t.rows-t.gofeed, t.better, t.worse)
}

// conformanceTable is docs/conformance.md.
func conformanceTable(rows []conformanceRow, results map[string]outcome, known map[string]string, classes []string) string {
	var out strings.Builder
	out.WriteString(conformanceIntro)
	out.WriteString("| suite, kind | documents | passed | failed | gofeed passed | gofeed failed | only we pass | only gofeed passes |\n")
	out.WriteString("| --- | --- | --- | --- | --- | --- | --- | --- |\n")
	tallies, all := make(map[string]*tally), tally{}
	failed, worse := make(map[string]int), make(map[string]int)
	for _, row := range rows {
		name, o := row.suite+", "+row.kind, results[row.file]
		if tallies[name] == nil {
			tallies[name] = new(tally)
		}
		tallies[name].add(o)
		all.add(o)
		if o.why != "" {
			failed[known[row.file]]++
		}
		if o.why != "" && o.gofeed == "" {
			worse[known[row.file]]++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(tallies)) {
		out.WriteString(tallies[name].line(name))
	}
	out.WriteString(all.line("all"))
	out.WriteString("\n## Why the others fail\n\n| documents | of which gofeed passes | why |\n| --- | --- | --- |\n")
	for _, class := range classes {
		fmt.Fprintf(&out, "| %d | %d | %s |\n", failed[class], worse[class], class)
	}
	return out.String()
}
