package fetch

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write docs/hostile.md anew")

const (
	hostilePage = "../../docs/hostile.md"

	hostileHead = `# Hostile documents and servers

What a peer makes of documents and servers that harm a reader which believes them. Written by
` + "`go test ./internal/origin/fetch -run TestHostilePage -rewrite`" + `; the tests fail when this page is no longer true.

` + "`TestHostile`" + ` serves each class to the reader that a peer uses and compares the kind of the error and its words.
` + "`TestHostileCost`" + ` does so with each class in a process of its own, which may take 64 MiB of memory beyond what it
takes before and 2 s of CPU, start included, as the kernel counts them. What is "read" is a feed for all that is wrong with it,
or is harmless: then the number of its entries is compared. Classes that begin with "nearly" are just within the limits.
What a peer must not connect to has a table of its own in ` + "`internal/safehttp/private_test.go`" + `: more than a hundred spellings of
private addresses, names that lead to them or change, and every way in which an answer may lead there.

The limits are those of ` + "`internal/origin/document/limits.go`" + ` (size, depth, numbers, and what the parser below would copy), of
` + "`internal/safehttp`" + ` (time, redirects, headers), and 100 : 1 for what is compressed.
`
)

// TestHostilePage: the page lists every class and what is said of it.
func TestHostilePage(t *testing.T) {
	page := page()
	if *rewrite {
		if err := os.WriteFile(hostilePage, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	there, err := os.ReadFile(hostilePage)
	if err != nil {
		t.Fatal(err)
	}
	if string(there) != page {
		t.Errorf("%s is no longer true: write it anew with -rewrite", hostilePage)
	}
}

func page() string {
	var out strings.Builder
	total, refused := 0, 0
	for _, g := range groups() {
		fmt.Fprintf(&out, "\n## %s\n\n| class | becomes | of which the words are |\n| --- | --- | --- |\n", g.title)
		for _, c := range g.classes() {
			total++
			becomes := fmt.Sprintf("read: %d", c.entries)
			if c.kind != 0 {
				refused++
				becomes = c.kind.String()
			}
			fmt.Fprintf(&out, "| %s | %s | %s |\n", c.name, becomes, cmp.Or(strings.ReplaceAll(c.words, "|", "\\|"), "-"))
		}
	}
	return hostileHead + fmt.Sprintf("\n%d classes, of which %d are refused by name.\n", total, refused) + out.String()
}
