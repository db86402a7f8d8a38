package fetch

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/origin/document"
)

const rssDoc = `<rss version="2.0"><channel><title>News</title>
<item><title>One</title><link>https://site.example/1</link><guid>g1</guid><pubDate>Fri, 02 Jan 2026 03:04:05 +0100</pubDate></item>
<item><title>Two</title><link>https://site.example/2</link></item>
<item><description>Three</description></item>
</channel></rss>`

func parse(t testing.TB, body string) *document.Document {
	t.Helper()
	doc, err := document.Parse(document.Source{URL: "https://origin.example/feed.xml"}, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

var start = time.Date(2026, 1, 10, 12, 0, 0, 500, time.UTC)

// items makes a document of guid, link, title and day of January, newest first.
func items(t testing.TB, rows ...[4]string) *document.Document {
	var b strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&b, "<item><guid isPermaLink='false'>%s</guid><link>%s</link><title>%s</title>", r[0], r[1], r[2])
		if r[3] != "" {
			fmt.Fprintf(&b, "<pubDate>%s Jan 2026 00:00:00 GMT</pubDate>", r[3])
		}
		b.WriteString("</item>")
	}
	return parse(t, "<rss version='2.0'><channel><title>F</title>"+b.String()+"</channel></rss>")
}

func titles(entries []feedring.Entry) string {
	var s []string
	for _, e := range entries {
		s = append(s, fmt.Sprintf("%s/%d", e.Title, e.Version))
	}
	return strings.Join(s, " ")
}

func TestDiff(t *testing.T) {
	found, state := Diff(State{URL: "u"}, items(t, [4]string{"1", "http://a/1", "one", "03"}, [4]string{"2", "http://a/2", "two", "02"}), start)
	if got := titles(found); got != "two/1 one/1" {
		t.Errorf("first: %s", got)
	}
	one := found[1]
	found, next := Diff(state, items(t, [4]string{"3", "http://a/3", "three", ""}, [4]string{"1", "http://a/1", "ONE", "03"}), start.Add(time.Hour))
	if got := titles(found); got != "ONE/2 three/1" {
		t.Errorf("second: %s", got)
	}
	if found[0].ID != one.ID || !found[0].Published.Equal(one.Published) {
		t.Errorf("another id or date: %+v", found[0])
	}
	if state.Known() != 2 || next.Known() != 3 {
		t.Errorf("known %d, %d: the old state was changed", state.Known(), next.Known())
	}
	if found, _ := Diff(next, items(t, [4]string{"2", "http://a/2", "two", "09"}), start); len(found) != 0 {
		t.Errorf("a new date alone is news: %s", titles(found))
	}
}

// TestDeleted: what an Atom feed says it took back is told once, whether or not
// it is remembered; and not what it still has.
func TestDeleted(t *testing.T) {
	atom := func(entries, tombstones string) *document.Document {
		t.Helper()
		return parse(t, `<feed xmlns="http://www.w3.org/2005/Atom" xmlns:at="http://purl.org/atompub/tombstones/1.0"><title>T</title>`+
			tombstones+entries+`</feed>`)
	}
	entry := func(n string) string {
		return `<entry><id>urn:` + n + `</id><title>` + n + `</title><updated>2026-01-02T03:04:05Z</updated></entry>`
	}
	tombstone := func(n string) string {
		return `<at:deleted-entry ref="urn:` + n + `" when="2026-01-03T00:00:00Z"><at:by><name>somebody</name></at:by></at:deleted-entry>`
	}
	found, state := Diff(State{}, atom(entry("1")+entry("2"), ""), start)
	if len(found) != 2 {
		t.Fatalf("%d entries", len(found))
	}
	id := found[1].ID // of "1": the last in a document is the oldest
	found, state = Diff(state, atom(entry("2"), tombstone("1")+tombstone("2")+tombstone("9")+tombstone("1")), start)
	if len(found) != 2 || found[0].ID != id || !found[0].Retracted || !found[1].Retracted || found[0].Title != "" {
		t.Fatalf("taken back: %+v", found)
	}
	if found, _ = Diff(restarted(t, state), atom(entry("2"), tombstone("1")+tombstone("9")), start); len(found) != 0 {
		t.Errorf("again: %+v", found)
	}

	var many strings.Builder
	for n := range document.MaxItems + 100 {
		many.WriteString(tombstone(fmt.Sprint("many", n)))
	}
	found, state = Diff(state, atom(entry("2")+entry("3"), many.String()), start)
	if len(found) != document.MaxItems-1 {
		t.Errorf("%d of very many", len(found))
	}
	restarted(t, state)
}

func TestDatesAreNeverAfterTheFetch(t *testing.T) {
	found, state := Diff(State{}, items(t, [4]string{"1", "", "future", "30"}, [4]string{"2", "", "none", ""}), start)
	for _, e := range found {
		if want := start.Truncate(time.Second); !e.Published.Equal(want) || !e.Seen.IsZero() {
			t.Errorf("%s: published %v, seen %v", e.Title, e.Published, e.Seen)
		}
	}
	found, _ = Diff(state, items(t, [4]string{"2", "", "other", ""}), start.Add(time.Hour))
	if !found[0].Published.Equal(start.Truncate(time.Second)) {
		t.Errorf("a new version without a date is from %v", found[0].Published)
	}
}

func TestNewGuidsOnEachRun(t *testing.T) {
	run := func(n int, extra ...[4]string) *document.Document {
		rows := extra
		for i := range 10 {
			rows = append(rows, [4]string{fmt.Sprintf("run%d-%d", n, i), fmt.Sprintf("http://a/%d", i), fmt.Sprintf("t%d", i), "02"})
		}
		return items(t, rows...)
	}
	_, state := Diff(State{}, run(1), start)
	found, state := Diff(state, run(2, [4]string{"run2-new", "http://a/new", "new", "03"}), start)
	if titles(found) != "new/1" || !state.ByLink {
		t.Errorf("second run: %s, by link %v", titles(found), state.ByLink)
	}
	found, _ = Diff(state, run(3, [4]string{"run3-new", "http://a/new", "newer", "03"}), start)
	if titles(found) != "newer/2" {
		t.Errorf("third run: %s", titles(found))
	}
	// One link for everything tells nothing.
	_, state = Diff(State{}, items(t, [4]string{"1", "http://a/", "a", ""}, [4]string{"2", "http://a/", "b", ""}, [4]string{"3", "http://a/", "c", ""}), start)
	found, _ = Diff(state, items(t, [4]string{"4", "http://a/", "d", ""}, [4]string{"5", "http://a/", "e", ""}, [4]string{"6", "http://a/", "f", ""}), start)
	if titles(found) != "f/1 e/1 d/1" {
		t.Errorf("shared link: %s", titles(found))
	}
}

func TestKnownIsBounded(t *testing.T) {
	var state State
	for run := range 8 {
		doc := &document.Document{}
		for i := range 1000 {
			title := fmt.Sprint(run, "-", i)
			doc.Items = append(doc.Items, document.Item{Entry: feedring.Entry{ID: feedring.NewEntryID("u", title, "", ""), Title: title}, Hash: document.HashOf(title)})
		}
		var found []feedring.Entry
		if found, state = Diff(state, doc, start.Add(time.Duration(run)*time.Hour)); len(found) != 1000 {
			t.Fatalf("run %d: %d", run, len(found))
		}
		if again, _ := Diff(state, doc, start); len(again) != 0 {
			t.Fatalf("run %d was forgotten at once", run)
		}
	}
	if state.Known() != maxKnown+1000 {
		t.Errorf("known %d", state.Known())
	}
	checkRoundTrip(t, state)
}

// restarted is a state as it is read after it was kept.
func restarted(t *testing.T, state State) (again State) {
	t.Helper()
	raw, err1 := state.MarshalBinary()
	known, err2 := state.MarshalKnown()
	if err := cmp.Or(err1, err2, again.UnmarshalBinary(raw)); err != nil {
		t.Fatal(err)
	}
	if again.Loaded() {
		t.Error("the entries are kept twice")
	}
	if err := again.LoadKnown(known); err != nil {
		t.Fatal(err)
	}
	return again
}

func checkRoundTrip(t *testing.T, state State) {
	t.Helper()
	got := restarted(t, state)
	if !reflect.DeepEqual(got, state) {
		t.Errorf("round trip:\n got %+v\nwant %+v", got, state)
	}
}

func TestStateRoundTrip(t *testing.T) {
	_, state := Diff(State{URL: "http://a/"}, parse(t, rssDoc), start)
	state.take(Answer{Validators: Validators{ETag: "\"\xff\""}, BodyHash: BodyHash{1}, Moved: "http://b/"}, start)
	checkRoundTrip(t, state)
	raw, _ := state.MarshalBinary()
	for _, bad := range [][]byte{nil, {9}, {1, 200}, raw[:len(raw)-1], append([]byte{1, 2}, "{]"...)} {
		var s State
		if err := s.UnmarshalBinary(bad); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
	known, _ := state.MarshalKnown()
	if err := state.LoadKnown(known[1:]); err == nil {
		t.Error("half an entry was read")
	}
}

func FuzzState(f *testing.F) {
	_, state := Diff(State{URL: "http://a/"}, parse(f, rssDoc), start)
	raw, _ := state.MarshalBinary()
	f.Add(raw)
	f.Add([]byte{1, 2, '{', '}'})
	f.Fuzz(func(t *testing.T, b []byte) {
		var s State
		if s.UnmarshalBinary(b) != nil {
			return
		}
		if _, err := s.MarshalBinary(); err != nil {
			t.Fatalf("read but not written: %v", err)
		}
		if _, err := s.MarshalKnown(); err != nil {
			t.Fatalf("entries read but not written: %v", err)
		}
	})
}
