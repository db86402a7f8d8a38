package watch

import (
	"net/http"
	"time"
)

var start = time.Date(2026, 1, 10, 12, 0, 0, 500, time.UTC)

const rssDoc = `<rss version="2.0"><channel><title>News</title>
<item><title>One</title><link>https://site.example/1</link><guid>g1</guid><pubDate>Fri, 02 Jan 2026 03:04:05 +0100</pubDate></item>
<item><title>Two</title><link>https://site.example/2</link></item>
<item><description>Three</description></item>
</channel></rss>`

// origins are what a test says of them; nil: of strangers', asked at any time.
type origins struct {
	ours  func(url string) bool
	local func(url string) bool
	part  func(url string) Part
}

func (o origins) Ours(url string) bool  { return o.ours != nil && o.ours(url) }
func (o origins) Local(url string) bool { return o.local != nil && o.local(url) }

func (o origins) Part(url string) Part {
	if o.part == nil {
		return Part{}
	}
	return o.part(url)
}

// preparer is a fetch.Preparer of a function.
type preparer func(url string, h http.Header)

func (p preparer) Prepare(url string, h http.Header) { p(url, h) }

// allVouched are sites that name this peer.
type allVouched struct{}

func (allVouched) Vouched(string) bool { return true }
