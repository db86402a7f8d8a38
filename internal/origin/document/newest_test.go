package document

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring/internal/origin/failure"
)

// tooMany is how many entries the documents of these tests have.
const tooMany = MaxItems + 2312

var firstDay = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// titled returns the titles of a document's items as numbers, in order.
func titled(t *testing.T, text string) (numbers []int, omitted int) {
	t.Helper()
	d, err := Parse(Source{URL: "https://a.example/feed"}, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, it := range d.Items {
		var n int
		if _, err := fmt.Sscan(it.Entry.Title, &n); err != nil {
			t.Fatal(err)
		}
		numbers = append(numbers, n)
	}
	return numbers, d.Omitted
}

// numbers are those from a to b, b aside.
func numbers(a, b int) (all []int) {
	for i := a; i < b; i++ {
		all = append(all, i)
	}
	return all
}

// TestTheNewestAreTaken: of a document with more than MaxItems entries the newest
// are taken, in whatever order and format it has them, and the others are counted.
// The number of an entry is its age in days.
func TestTheNewestAreTaken(t *testing.T) {
	day := func(n int) time.Time { return firstDay.AddDate(0, 0, -n) }
	rssItem := func(n int, inside string) string {
		return fmt.Sprintf("\n <item><guid>g%d</guid><title>%d</title>%s</item>", n, n, inside)
	}
	pubDate := func(n int) string { return "<pubDate>" + day(n).Format(time.RFC1123Z) + "</pubDate>" }
	rss := func(order []int, item func(int) string) string {
		var b strings.Builder
		for _, n := range order {
			b.WriteString(item(n))
		}
		return "<?xml version='1.0'?><!DOCTYPE rss><rss version='2.0'><channel><title>T</title>" + b.String() + "\n<generator>G</generator></channel></rss>"
	}
	atom := func(order []int) string {
		var b strings.Builder
		for _, n := range order {
			fmt.Fprintf(&b, "<entry><id>g%d</id><title>%d</title><published>%s</published><updated>2024-01-01T00:00:00Z</updated></entry>", n, n, day(n).Format(time.RFC3339))
		}
		return `<feed xmlns="http://www.w3.org/2005/Atom"><title>T</title>` + b.String() + `</feed>`
	}
	json := func(order []int) string {
		var all []string
		for _, n := range order {
			all = append(all, fmt.Sprintf(`{"id":"g%d","title":"%d","content_text":"{[,\"","date_published":"%s","tags":["a","b"]}`, n, n, day(n).Format(time.RFC3339)))
		}
		return `{"version":"https://jsonfeed.org/version/1.1","title":"items","authors":[{"name":"a"}],"items":[ ` + strings.Join(all, ",\n ") + ` ],"_x":{"y":[{}]}}`
	}
	down, up, mixed := numbers(0, tooMany), numbers(0, tooMany), numbers(0, tooMany)
	slices.Reverse(up)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
	dated := func(n int) string { return rssItem(n, pubDate(n)) }
	for name, c := range map[string]struct{ text string }{
		"RSS, newest first":      {rss(down, dated)},
		"RSS, oldest first":      {rss(up, dated)},
		"RSS, in no order":       {rss(mixed, dated)},
		"RSS, undated":           {rss(down, func(n int) string { return rssItem(n, "") })},
		"RSS, of bad dates":      {rss(down, func(n int) string { return rssItem(n, "<pubDate>yesterday, at noon</pubDate>") })},
		"RSS, every third dated": {rss(down, func(n int) string { return rssItem(n, strings.Repeat(pubDate(n), (3-n%3)/3)) })},
		"RSS, the first undated": {rss(down, func(n int) string { return rssItem(n, strings.Repeat(pubDate(n), min(n/10, 1))) })},
		"RSS, items in items":    {rss(down, func(n int) string { return rssItem(n, "<x:item xmlns:x='u'>x</x:item>"[:0]+pubDate(n)) })},
		"RSS, dates of Dublin": {rss(mixed, func(n int) string {
			return rssItem(n, "<dc:date xmlns:dc='http://purl.org/dc/elements/1.1/'>"+day(n).Format(time.DateOnly)+"</dc:date>")
		})},
		"RSS, dates as CDATA": {rss(mixed, func(n int) string {
			return rssItem(n, "<pubDate> <![CDATA[ "+day(n).Format("02 Jan 2006 15:04 GMT")+" ]]></pubDate>")
		})},
		"RSS, items never closed": {rss(down, func(n int) string { return strings.TrimSuffix(rssItem(n, pubDate(n)), "</item>") + "</item>" })},
		"Atom":                    {atom(mixed)},
		"JSON, newest first":      {json(down)},
		"JSON, oldest first":      {json(up)},
		"JSON, in no order":       {json(mixed)},
	} {
		t.Run(name, func(t *testing.T) {
			got, omitted := titled(t, c.text)
			slices.Sort(got)
			if want := numbers(0, MaxItems); !slices.Equal(got, want) || omitted != tooMany-MaxItems {
				t.Errorf("%d entries, %d omitted", len(got), omitted)
			}
		})
	}
}

// TestOmittedIsOfTooMany: a document that is not too long is read as it is.
func TestOmittedIsOfTooMany(t *testing.T) {
	var b strings.Builder
	for n := range MaxItems {
		fmt.Fprintf(&b, "<item><guid>g%d</guid><title>%d</title></item>", n, n)
	}
	got, omitted := titled(t, "<rss version='2.0'><channel>"+b.String()+"</channel></rss>")
	if len(got) != MaxItems || omitted != 0 {
		t.Errorf("%d entries, %d omitted", len(got), omitted)
	}
}

// TestTooManyElsewhere: entries within an entry are too many all the same.
func TestTooManyElsewhere(t *testing.T) {
	for _, text := range []string{
		"<rss version='2.0'><channel><item><title>t</title>" + strings.Repeat("<item/>", tooMany) + "</item></channel></rss>",
		`{"items":[],"authors":[` + strings.Repeat(`{},`, tooMany) + `{}]}`,
		`{"items":[{}],"items":[` + strings.Repeat(`{},`, tooMany) + `{}]}`,
	} {
		var e *failure.Error
		if _, err := Parse(Source{URL: "https://a.example/feed"}, []byte(text)); !errors.As(err, &e) || e.Kind != failure.KindTooLarge {
			t.Errorf("%.60s: %v", text, err)
		}
	}
}
