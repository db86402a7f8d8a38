package repair

import (
	"strings"
	"testing"
)

// FuzzNewest: what is left of a document is no longer than it was, and never
// panics, whatever it is.
func FuzzNewest(f *testing.F) {
	f.Add([]byte("<rss><channel>" + strings.Repeat("<item/>", 3) + "<item><pubDate>Mon, 02 Jan 2006 15:04:05 GMT</pubDate>"))
	f.Add([]byte(`{"items":[` + strings.Repeat("{},", 3) + `{"date_published":"2020-01-01"}]}`))
	f.Add([]byte("<feed><entry><updated>"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, walk := range []func([]byte, int, func(rawItem)){xmlItems, jsonItems} {
			end := 0
			walk(text, 0, func(it rawItem) {
				if it.begin < end || it.end <= it.begin || it.end > len(text) {
					t.Fatalf("an entry from %d to %d of %d, after one to %d", it.begin, it.end, len(text), end)
				}
				end = it.end
			})
		}
		for at := range text {
			if text[at] != '<' && (at > 0 || text[at] != '{') {
				continue
			}
			if out, _, err := within(text, at); err == nil && len(out) > len(text) {
				t.Fatal("it grew")
			}
		}
	})
}
