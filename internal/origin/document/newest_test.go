package document

import (
	"errors"
	"fmt"
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
