package feedring_test

import (
	"os"
	"regexp"
	"slices"
	"testing"
)

// TestDirectDependenciesAreExplained holds the rows of docs/dependencies.md
// against the direct requirements of go.mod, in both directions.
func TestDirectDependenciesAreExplained(t *testing.T) {
	const most = 28
	required := found(t, "go.mod", `(?m)^\t(\S+) v\S+$`)
	var explained []string
	for _, row := range found(t, "docs/dependencies.md", "(?m)^\\| (`[^|]+`) \\|") {
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row, -1) {
			explained = append(explained, name[1])
		}
	}
	for _, module := range required {
		if !slices.Contains(explained, module) {
			t.Errorf("go.mod requires %s, and docs/dependencies.md has no row for it", module)
		}
	}
	for _, module := range explained {
		if !slices.Contains(required, module) {
			t.Errorf("docs/dependencies.md has a row for %s, which go.mod does not require directly", module)
		}
	}
	if len(required) > most {
		t.Errorf("%d direct dependencies, at most %d", len(required), most)
	}
}

// found returns the first group of every match in a file.
func found(t *testing.T, file, pattern string) (all []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1) {
		all = append(all, match[1])
	}
	return all
}
