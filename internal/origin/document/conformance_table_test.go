package document

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

const conformanceIntro = `# Conformance

How ` + "`internal/origin/document`" + ` does in the tests of other readers: feedparser, gofeed, feed-rs, and the W3C's feed validator.
` + "`go test ./internal/origin/document -run TestConformance -rewrite`" + ` writes this page; the test fails if the page, or the list of known failures in
` + "`internal/origin/document/testdata/conformance.txt`" + `, is out of date.

| a document passes if | |
| --- | --- |
| it is a feed (RSS, RDF, Atom, CDF, JSON Feed) | it is read, however invalid. The validator's rows say what is invalid, which is no reason to refuse |
| it is no feed | it is refused |
| it is broken, or reaches for a file or a server by an external entity | either |
| the suite states the feed's title or link, an entry's title, link, id, summary or content, the number of entries, or the encoding | that is equal too: texts without markup, links made absolute |
| the suite asks for what a peer does not keep (the rights of a feed, say) | the document is read |
| an entry has nothing to show (a link without an address, say) | the entry is not kept, and not counted |
| always | nothing panics or takes long |

**gofeed** is the parser below, alone, on the same bytes and with the same questions.

`

// rowCounts counts the rows of a suite and kind.
type rowCounts struct{ rows, passed, gofeed, better, worse int }

func (t *rowCounts) add(o outcome) {
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

func (t *rowCounts) line(name string) string {
	return fmt.Sprintf("| %s | %d | %d | %d | %d | %d | %d | %d |\n",
		name, t.rows, t.passed, t.rows-t.passed, t.gofeed, t.rows-t.gofeed, t.better, t.worse)
}

// conformanceTable is docs/conformance.md.
func conformanceTable(rows []conformanceRow, results map[string]outcome, known map[string]string, classes []string) string {
	var out strings.Builder
	out.WriteString(conformanceIntro)
	out.WriteString("| suite, kind | documents | passed | failed | gofeed passed | gofeed failed | only feedring passes | only gofeed passes |\n")
	out.WriteString("| --- | --- | --- | --- | --- | --- | --- | --- |\n")
	tallies, all := make(map[string]*rowCounts), rowCounts{}
	failed, worse := make(map[string]int), make(map[string]int)
	for _, row := range rows {
		name, o := row.suite+", "+row.kind, results[row.file]
		if tallies[name] == nil {
			tallies[name] = new(rowCounts)
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
