package watch

import "time"

var start = time.Date(2026, 1, 10, 12, 0, 0, 500, time.UTC)

const rssDoc = `<rss version="2.0"><channel><title>News</title>
<item><title>One</title><link>https://site.example/1</link><guid>g1</guid><pubDate>Fri, 02 Jan 2026 03:04:05 +0100</pubDate></item>
<item><title>Two</title><link>https://site.example/2</link></item>
<item><description>Three</description></item>
</channel></rss>`
