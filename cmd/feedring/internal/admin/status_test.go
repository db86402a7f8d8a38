package admin

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring/cmd/feedring/internal/command"
)

// TestFeedListShowsWeights: where a weight was fixed it stands beside the readers, whom it
// replaces.
func TestFeedListShowsWeights(t *testing.T) {
	var stdout bytes.Buffer
	a := &commands{&command.Env{Stdout: &stdout, Now: time.Now}}
	err := a.printFeeds([]json.RawMessage{
		json.RawMessage(`{"url":"https://a.example/","theme":"news","readers":3,"weight":0.5}`),
		json.RawMessage(`{"url":"https://b.example/","theme":"news","readers":4}`),
	}, false)
	if got := stdout.String(); err != nil || strings.Count(got, "3 (weight 0.5)") != 1 || strings.Count(got, "weight") != 1 {
		t.Errorf("%v\n%s", err, got)
	}
}

// TestFeedTable shows what a person looks for, in 80 columns.
func TestFeedTable(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	a := &commands{&command.Env{Now: func() time.Time { return now }}}
	g := a.feedTable([]map[string]any{
		{"url": "https://a.example/", "theme": "news", "entries": 3, "last_fetch": "2026-01-02T03:03:05.123456789Z", "next_fetch": "x"},
		{"url": "https://b.example/", "entries": 0, "error": "gone"},
	})
	want := []string{
		"THEME      ENTRIES  LAST FETCH  READERS  FEED",
		"───────────────────────────────────────────────────────────",
		"news       3        59s ago     -        https://a.example/",
		"(private)  0        -           -        https://b.example/",
		"                                         gone",
	}
	var b bytes.Buffer
	if err := g.Render(&b, 80); err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	for i := range want {
		if len(got) != len(want) || strings.TrimRight(got[i], " ") != want[i] {
			t.Fatalf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}
