//go:build !race

package document

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

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
