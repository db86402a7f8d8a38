package holes

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// hole is a bug, put back.
type hole struct {
	name    string
	title   string
	breaks  string   // a sentence of docs/protocol.md
	expects []string // the invariants that may notice it, the likeliest first
	script  string   // of the faults that show it; empty: those by chance do
	edits   []edit
}

// edit changes one place of one file, which must be there exactly once.
type edit struct {
	file     string // from the module's root
	old, new string
}

// parse reads a hole:
//
//	title
//	breaks: a sentence of docs/protocol.md
//	expects: S2 L1
//	script: the faults that show it, where those by chance are too rare
//
//	== group/terms.go
//	<<<
//	old text
//	---
//	new text
//	>>>
//
// Texts may end within a line.
func parse(name, text string) (hole, error) {
	h := hole{name: name}
	head, rest, _ := strings.Cut(text, "\n==")
	for i, line := range strings.Split(strings.TrimSpace(head), "\n") {
		key, value, _ := strings.Cut(line, ": ")
		switch {
		case i == 0:
			h.title = line
		case key == "breaks":
			h.breaks = value
		case key == "expects":
			h.expects = strings.Fields(value)
		case key == "script":
			h.script = value
		default:
			return h, fmt.Errorf("%s: line %q is not breaks, expects or script", name, line)
		}
	}
	for _, part := range strings.Split(rest, "\n==") {
		file, blocks, _ := strings.Cut(part, "\n")
		edits, err := parseBlocks(strings.TrimSpace(file), blocks)
		if err != nil {
			return h, fmt.Errorf("%s: %w", name, err)
		}
		h.edits = append(h.edits, edits...)
	}
	if h.title == "" || h.breaks == "" || len(h.expects) == 0 {
		return h, fmt.Errorf("%s: a hole has a title, breaks, expects and an edit", name)
	}
	return h, nil
}

func parseBlocks(file, text string) ([]edit, error) {
	var edits []edit
	for text = strings.TrimLeft(text, "\n"); text != ""; text = strings.TrimLeft(text, "\n") {
		body, ok := strings.CutPrefix(text, "<<<\n")
		body, rest, closed := strings.Cut(body, ">>>\n")
		before, after, parted := strings.Cut(body, "---\n")
		if !ok || !closed || !parted || before == "" {
			return nil, fmt.Errorf("an edit of %q is not <<<, old text, ---, new text, >>>", file)
		}
		edits = append(edits, edit{file, strings.TrimSuffix(before, "\n"), strings.TrimSuffix(after, "\n")})
		text = rest
	}
	if len(edits) == 0 {
		return nil, fmt.Errorf("nothing of %q is changed", file)
	}
	return edits, nil
}

// load reads all holes, in order of name.
func load(t *testing.T) []hole {
	t.Helper()
	files, err := filepath.Glob("testdata/*.hole")
	if err != nil || len(files) == 0 {
		t.Fatal("no holes: ", err)
	}
	slices.Sort(files)
	var all []hole
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		h, err := parse(strings.TrimSuffix(filepath.Base(f), ".hole"), string(text))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, h)
	}
	return all
}

// apply makes the edited files: by their name, the text.
func (h hole) apply(root string) (map[string]string, error) {
	texts := map[string]string{}
	for _, e := range h.edits {
		text, begun := texts[e.file]
		if !begun {
			data, err := os.ReadFile(filepath.Join(root, e.file))
			if err != nil {
				return nil, fmt.Errorf("hole %s: %w", h.name, err)
			}
			text = string(data)
		}
		if n := strings.Count(text, e.old); n != 1 {
			return nil, fmt.Errorf("hole %s: its old text is %d times in %s, not once: the product changed, quote the lines as they are now:\n%s",
				h.name, n, e.file, e.old)
		}
		texts[e.file] = strings.Replace(text, e.old, e.new, 1)
	}
	return texts, nil
}
