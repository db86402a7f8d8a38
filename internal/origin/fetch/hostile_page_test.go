//go:build !race

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
	hostilePage = "../../../docs/hostile.md"

	hostileHead = `# Hostile documents and servers

What a peer does with documents and servers that harm a trusting reader. ` + "`go test ./internal/origin/fetch -run TestHostilePage -rewrite`" + `
writes this page; the tests fail if it is out of date.

- ` + "`TestHostile`" + ` serves each class to the reader that a peer uses, and compares the kind of the error and its text. "read: N" means that
  the document was read as a feed of N entries, because it is harmless or a feed in spite of its faults. Classes named "nearly" are just within the limits.
- ` + "`TestHostileCost`" + ` repeats each class in a process of its own, which may use 64 MiB of memory above its start and 2 s of CPU, as the kernel counts them.
- ` + "`internal/safehttp/private_test.go`" + ` has the addresses that a peer must not connect to: more than a hundred spellings of private addresses, names that
  lead to them or change, and every way in which an answer may lead there.

| limits of | are in |
| --- | --- |
| size, depth, numbers, and what the parser would copy | ` + "`internal/origin/{decode,repair}/limits.go`" + ` |
| time, redirects, headers | ` + "`internal/safehttp`" + ` |
| compressed bodies | 100 : 1 |
`
)

// TestHostilePage: the page lists every class, its result and the text of its error.
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
		fmt.Fprintf(&out, "\n## %s\n\n| class | result | error contains |\n| --- | --- | --- |\n", g.title)
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
	return hostileHead + fmt.Sprintf("\n%d classes; %d are refused with an error of their own.\n", total, refused) + out.String()
}
