package fetch

import (
	"testing"
	"time"
)

func TestApplyPeerHints(t *testing.T) {
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	told := Last{At: now.Add(-time.Minute), Until: now.Add(time.Hour), Host: "a.example", Validators: Validators{ETag: `"2"`}}
	read := State{URL: "http://a.example/", LastFetch: now.Add(-time.Hour), LastSuccess: now.Add(-time.Hour), Validators: Validators{ETag: `"1"`}, Failures: 2, LastError: "500"}
	if s := read.ApplyLast(told, true, now); s.Validators.ETag != `"2"` || !s.LastFetch.Equal(told.At) || s.Held != told.Host || !s.NotBefore.Equal(told.Until) || s.Failures != 0 {
		t.Errorf("who read the feed goes on with %+v", s)
	}
	if s := read.ApplyLast(told, false, now); s.Validators.ETag != `"1"` {
		t.Errorf("who lacks entries asks with %q", s.Validators.ETag)
	}
	if s := (State{}).ApplyLast(told, true, now); s.Validators.ETag != "" || !s.LastFetch.Equal(told.At) {
		t.Errorf("who never read it goes on with %+v", s)
	}
	newer := read
	newer.LastFetch = now
	if s := newer.ApplyLast(told, true, now); !s.LastFetch.Equal(now) || s.Held != "" {
		t.Errorf("who looked later goes on with %+v", s)
	}
	told.Validators.ETag, told.At, told.Until = "a\r\nHost: b", now.Add(time.Hour), now.Add(1000*time.Hour)
	if s := read.ApplyLast(told, true, now); s.Validators.ETag != `"1"` || s.LastFetch.After(now) || s.NotBefore.After(now.Add(MaxHint)) {
		t.Errorf("a liar has it go on with %+v", s)
	}
	told = Last{At: now.Add(-time.Minute), Failures: 3, Again: now.Add(1000 * time.Hour)}
	if s := read.ApplyLast(told, false, now); s.Failures != 3 || s.LastError == "" || s.NextFetch.After(now.Add(24*time.Hour)) {
		t.Errorf("a liar has it fail on with %+v", s)
	}
	told.Gone = true
	if s := read.ApplyLast(told, false, now); !s.Gone || s.NextFetch.IsZero() || s.NextFetch.After(now.Add(24*time.Hour)) {
		t.Errorf("a liar has it give the feed up with %+v", s)
	}
	knows := read
	knows.Gone = true
	if s := knows.ApplyLast(told, false, now); !s.Gone || !s.NextFetch.IsZero() {
		t.Errorf("who was told itself that the feed is gone goes on with %+v", s)
	}
	told.Gone, told.Failures = false, 0
	if s := knows.ApplyLast(told, false, now); s.Gone || s.Failures != 0 {
		t.Errorf("who is told that a feed came back goes on with %+v", s)
	}
	unreached := State{LastFetch: now, LastSuccess: now.Add(-time.Hour), Unreached: true}
	if l := unreached.Last(); !l.At.Equal(unreached.LastSuccess) {
		t.Errorf("a look that reached nobody was at %v", l.At)
	}
}
