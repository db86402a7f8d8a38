package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring"
)

// What a duration flag shows can be typed again.
func TestDurationFlag(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "10s": "10s", "90s": "1m30s", "60m": "1h", "24h": "24h", "36h": "36h", "7d": "7d", "1w": "7d", "250ms": "250ms", "1.5h": "1h30m", "1h5s": "1h0m5s",
	} {
		var d, again durationFlag
		if err := d.Set(text); err != nil || d.String() != want {
			t.Errorf("%s shows as %s, want %s, %v", text, &d, want, err)
		}
		if err := again.Set(d.String()); err != nil || again != d {
			t.Errorf("%s cannot be typed again: %v", &d, err)
		}
	}
	var d durationFlag
	for _, text := range []string{"", "-1s", "1", "s", "1y", "1..5s"} {
		if d.Set(text) == nil {
			t.Errorf("%q is taken for %s", text, &d)
		}
	}
}

func TestTimeFlag(t *testing.T) {
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	at := timeFlag{now: func() time.Time { return now }}
	for text, want := range map[string]string{
		"36h": "2026-03-02T17:06:07Z", "7d": "2026-02-25T05:06:07Z", "2026-01-02": "2026-01-02T00:00:00Z", "2026-01-02T03:04:05+02:00": "2026-01-02T01:04:05Z",
	} {
		if err := at.Set(text); err != nil || at.String() != want {
			t.Errorf("%s: %s, %v", text, &at, err)
		}
	}
}

// Nothing that a feed says moves the cursor or colours the terminal.
func TestPrintable(t *testing.T) {
	if got := printable("a\x1b[31m\tb\r\nc\u202edd\x07\u009b"); got != "a[31m b  cdd" {
		t.Errorf("got %q", got)
	}
	if got := titleOf(&feedring.Entry{Title: " \x1b ", Summary: strings.Repeat("é", 300)}); len([]rune(got)) != 201 {
		t.Errorf("%d characters: %q", len([]rune(got)), got)
	}
}

func TestGridPlain(t *testing.T) {
	var b bytes.Buffer
	g := grid{head: []string{"A", "B"}}
	g.add("1", "two")
	if err := g.print(&b); err != nil || b.String() != "A\tB\n1\ttwo\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
}

// Every key of the file is a flag of serve, and the other way round.
func TestKeys(t *testing.T) {
	a := &app{now: time.Now}
	serve, _, err := a.root().Find([]string{"serve"})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys() {
		if serve.Flag(key) == nil {
			t.Errorf("key %s is no flag of serve", key)
		}
	}
}

// The own token is sent to no other machine unasked.
func TestOfThisMachine(t *testing.T) {
	for address, want := range map[string]bool{
		"http://127.0.0.1:7378": true, "http://localhost:1": true, "http://[::1]:1/": true,
		"https://news.example": false, "http://10.0.0.1": false, "http://localhost.example": false, "nonsense": false,
	} {
		if ofThisMachine(address) != want {
			t.Errorf("%s: %v", address, !want)
		}
	}
}
