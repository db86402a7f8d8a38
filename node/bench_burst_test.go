package node

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/feedring/feedring"
)

// BenchmarkMembersBurst has one publisher of a group of five find b.N entries of 1 KB,
// as documents of 5,000, and waits until all peers hold all: fetched, read, signed,
// stored, polled, checked, indexed. Allocations and processor time are those of all
// five.
func BenchmarkMembersBurst(b *testing.B) {
	const peers, perFeed = 5, 5000
	w := &benchNet{b: b}
	feeds := (b.N + perFeed - 1) / perFeed
	items := make([][]string, feeds)
	for i := range b.N {
		items[i%feeds] = append(items[i%feeds], fmt.Sprintf(`<item><title>entry %d</title><guid isPermaLink="false">%d</guid><description>%s</description></item>`, i, i, burstText(i)))
	}
	show := make(chan struct{})
	origin := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body := ""
		select {
		case <-show:
			var feed int
			_, _ = fmt.Sscanf(r.URL.Path, "/%d", &feed)
			body = strings.Join(items[feed], "")
		default:
		}
		fmt.Fprintf(rw, `<?xml version="1.0"?><rss version="2.0"><channel><title>burst</title><link>https://example.org/</link><description>x</description>%s</channel></rss>`, body)
	}))
	b.Cleanup(origin.Close)
	var specs []feedring.FeedSpec
	for feed := range feeds {
		specs = append(specs, feedring.FeedSpec{URL: fmt.Sprintf("%s/%d", origin.URL, feed), Theme: "news", Provider: "burst.example"})
	}
	publisher := w.start("news", "burst.example", func(c *Config) { c.AllowPrivateFeeds, c.Feeds = true, specs })
	for i := range peers - 1 {
		w.start("news", fmt.Sprintf("p%d.example", i))
	}
	w.formed("news", peers)
	for _, spec := range specs {
		_, err := publisher.Ping(b.Context(), spec.URL)
		check(b, err)
	}
	close(show)
	runtime.GC()
	before := computing(b)
	b.ResetTimer()
	for _, spec := range specs {
		_, err := publisher.Ping(b.Context(), spec.URL)
		check(b, err)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "published/s")
	w.spreadEntries(b.N)
	b.StopTimer()
	reportRate(b, computing(b)-before, "entries/s")
}

var burstWords = strings.Fields(`the of and to council minister city water energy price school report after before new old court game season team
bank market weather storm river bridge law vote party doctor patient study data model ocean forest fire road train port ship music film book`)

// burstText is a kilobyte of prose, another one for each n, which compresses as prose
// does.
func burstText(n int) string {
	const size = 1000
	var b strings.Builder
	for state := uint64(n)*2862933555777941757 + 1; b.Len() < size; {
		state = state*6364136223846793005 + 1442695040888963407
		b.WriteString(burstWords[state>>33%uint64(len(burstWords))])
		b.WriteByte(' ')
	}
	return b.String()[:size]
}
