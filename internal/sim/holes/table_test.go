package holes

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

const table = "testdata/found.txt"

const tableHead = "# Which seed finds which hole, by which invariant. Without the hole the seed violates nothing.\n" +
	"# Made by: go test ./internal/sim/holes -run TestHoles -search 10000 -timeout 0\n"

// readTable reads which seed finds which hole.
func readTable(t *testing.T) map[string]found {
	t.Helper()
	data, err := os.ReadFile(table)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	all := map[string]found{}
	for line := range strings.Lines(string(data)) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] == "#" {
			continue
		}
		if len(fields) < 3 {
			t.Fatalf("%s: %q is not a hole, a seed and an invariant", table, line)
		}
		seed, err := strconv.ParseUint(fields[1], 10, 64)
		if err != nil {
			t.Fatalf("%s: %q: %v", table, line, err)
		}
		all[fields[0]] = found{Seed: seed, Invariant: fields[2]}
	}
	return all
}

// writeTable writes the table. What was not found is left out of it.
func writeTable(t *testing.T, holes []hole, all map[string]found) {
	t.Helper()
	var b bytes.Buffer
	b.WriteString(tableHead)
	for _, h := range holes {
		if f := all[h.name]; f.Seed > 0 {
			fmt.Fprintf(&b, "%-24s %5d %-4s %s\n", h.name, f.Seed, f.Invariant, h.title)
		}
	}
	write(t, table, b.Bytes())
}
