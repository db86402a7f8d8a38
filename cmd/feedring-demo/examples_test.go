package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/match"
)

// TestExamplesFindSomething asks what the pages for readers show as examples of the demo, as it
// has just started.
func TestExamplesFindSomething(t *testing.T) {
	o := served(t)
	for page, least := range map[string]int{"README.md": 5, "docs/readers.md": 6} {
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(page)))
		if err != nil {
			t.Fatal(err)
		}
		examples := regexp.MustCompile(`(?m)^feedring (?:query|follow|subscription add) .*$`).FindAllString(string(text), -1)
		if len(examples) < least {
			t.Errorf("%s: examples %q", page, examples)
		}
		for _, line := range examples {
			if !strings.Contains(line, " --peer ADDR ") && !strings.Contains(line, "subscription add") {
				continue // it goes on with another one
			}
			if !findsSomething(t, o, line) {
				t.Errorf("%s: %q finds nothing", page, line)
			}
		}
	}
}

// findsSomething reports whether an example finds one of the first items.
func findsSomething(t *testing.T, o *origin, line string) bool {
	t.Helper()
	line, _, _ = strings.Cut(line, " #")
	var words []string
	flags := map[string]string{}
	args := regexp.MustCompile(`'[^']*'|\S+`).FindAllString(line, -1)
	args = args[slices.IndexFunc(args, func(a string) bool { return strings.HasPrefix(a, "--") }):]
	for i := 0; i < len(args); i++ {
		name, isFlag := strings.CutPrefix(args[i], "--")
		if !isFlag {
			words = append(words, strings.Trim(args[i], "'"))
			continue
		}
		i++
		flags[name] = args[i]
	}
	expr, err := match.Parse(strings.Join(words, " "))
	if err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	for _, p := range o.papers {
		if theme := flags["theme"]; theme != "" && theme != string(p.Theme) {
			continue
		}
		for _, e := range o.items[p.Name] {
			if feedring.Provider(p.provider()).Matches(flags["provider"]) && expr.Match(match.TextOf(&e)) {
				return true
			}
		}
	}
	return false
}
