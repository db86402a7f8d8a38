package integration

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestFeedOfVeryManyEntries: of a feed with more entries than a peer takes the
// newest are published, wherever they stand, and people are told how many.
func TestFeedOfVeryManyEntries(t *testing.T) {
	t.Parallel()
	const all, taken = 7312, 5000
	o := newOrigin(t)
	newest := time.Now().Add(-time.Hour)
	var extra atomic.Int32
	url := o.bytes("archive", "application/rss+xml", func() []byte {
		var b strings.Builder
		b.WriteString(`<?xml version="1.0"?><rss version="2.0"><channel><title>Archive</title>`)
		for n := range all { // the oldest first
			at := newest.Add(-time.Duration(all-n) * time.Hour)
			fmt.Fprintf(&b, "<item><guid isPermaLink=\"false\">%d</guid><title>story no%d</title><pubDate>%s</pubDate></item>", n, n, at.UTC().Format(time.RFC1123Z))
		}
		for n := range extra.Load() {
			fmt.Fprintf(&b, "<item><guid isPermaLink=\"false\">x%d</guid><title>extra no%d</title><pubDate>%s</pubDate></item>", n, n, time.Now().UTC().Format(time.RFC1123Z))
		}
		return []byte(b.String() + "</channel></rss>")
	})
	n := newNetwork(t, "500ms")
	p := n.peer(nil, "news=archive.example@"+url)
	feedOf := func() object {
		r := command(t, "feed", "list", "--json", "--data", p.data)
		if r.code != 0 || len(r.objects) != 1 {
			t.Fatalf("feed list: %v", r)
		}
		return r.objects[0]
	}
	// What was taken of the document is told when the entries are stored.
	until(t, 60*time.Second, "the newest entries", func() bool { f := feedOf(); return f.num("entries") == taken && f.num("taken") == taken })
	if f := feedOf(); f.str("error") != "" || f.num("document_entries") != all {
		t.Errorf("feed list --json: %v", f)
	}
	for _, words := range []string{fmt.Sprintf("no%d", all-1), fmt.Sprintf("no%d", all-taken)} {
		if r := n.query(p, "--theme", "news", words); len(r.entries()) != 1 {
			t.Errorf("%s is not there: %v", words, r)
		}
	}
	if r := n.query(p, "--theme", "news", fmt.Sprintf("no%d", all-taken-1)); len(r.entries()) != 0 {
		t.Errorf("an older entry was taken: %v", r)
	}
	const told = "took the newest 5,000 of 7,312 entries"
	for _, args := range [][]string{{"feed", "list"}, {"status"}} {
		if r := command(t, append(args, "--data", p.data)...); !strings.Contains(r.stdout, told) {
			t.Errorf("%v does not say %q: %v", args, told, r)
		}
	}
	if log := p.errors(); strings.Count(log, "more entries than are taken") != 1 {
		t.Errorf("the log does not say it once:\n%s", tail(log))
	}
	extra.Store(1)
	until(t, 30*time.Second, "a new entry", func() bool { return feedOf().num("entries") == taken+1 })
	if r := n.query(p, "--theme", "news", "extra"); len(r.entries()) != 1 {
		t.Errorf("the new entry: %v", r)
	}
}
