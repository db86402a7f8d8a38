package show

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

const (
	anID      = "12D3KooWGX4F7uYf3t4gJZ4aoxusgfDdyTDF2yi9nzHJDo6Eqhxr"
	anAddress = "https://www.news.example/a/rather/long/path/that/no/narrow/terminal/can/hold/in/one/line/feed.xml"
)

// rendered is a table on a terminal of that width.
func rendered(t *testing.T, g *Table, width int) (lines []string) {
	t.Helper()
	var b bytes.Buffer
	if err := g.Render(&b, width); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

// TestGridBreaksNoWord checks that what a person copies is in one piece, and
// that everything else fits the terminal.
func TestGridBreaksNoWord(t *testing.T) {
	for _, width := range []int{40, 80, 200} {
		g := &Table{Head: []string{"THEME", "FEED", "ERROR"}, Stack: []int{1, 2}}
		g.Add("news", anAddress, "the origin answers that it is too busy and wants to be left alone for an hour or so")
		g.Add("sport", "https://a.example/é", "-")
		lines := rendered(t, g, width)
		whole := 0
		for _, line := range lines {
			if strings.HasSuffix(line, anAddress) {
				whole++
				continue
			}
			if n := utf8.RuneCountInString(line); n > width {
				t.Errorf("%d columns on %d: %s", n, width, line)
			}
		}
		if whole != 1 || !strings.HasPrefix(lines[len(lines)-1], "sport  https://a.example/é") {
			t.Errorf("on %d columns:\n%s", width, strings.Join(lines, "\n"))
		}
	}
}

// Ids are shortened only where they do not fit, and never with --wide.
func TestGridShortensLate(t *testing.T) {
	for _, c := range []struct {
		width       int
		wide, whole bool
	}{{80, false, true}, {40, false, false}, {40, true, true}} {
		g := &Table{Head: []string{"PEER", "FEED"}, Whole: c.wide}
		g.Add(anID, "https://a.example/")
		if all := strings.Join(rendered(t, g, c.width), "\n"); strings.Contains(all, anID) != c.whole || !strings.Contains(all, anID[44:]) {
			t.Errorf("%+v:\n%s", c, all)
		}
	}
}

func TestAgo(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for before, want := range map[time.Duration]string{
		-time.Hour: "0s ago", 1500 * time.Millisecond: "1s ago", 3 * time.Minute: "3m ago", 5 * time.Hour: "5h ago", 50 * time.Hour: "2d ago",
	} {
		if got := Ago(now, now.Add(-before)); got != want {
			t.Errorf("%s: %q", before, got)
		}
	}
	if got := Ago(now, time.Time{}); got != "-" {
		t.Errorf("never: %q", got)
	}
}
