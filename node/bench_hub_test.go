package node

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/readerfeeds/cache"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/websub/hub/ledger"
)

// BenchmarkCallback measures from an entry found, before it is stored, to the
// WebSub callback, of an own feed and of a personal feed.
func BenchmarkCallback(b *testing.B) {
	for _, of := range []string{"own", "personal"} {
		b.Run(of, func(b *testing.B) { benchCallback(b, of == "personal") })
	}
}

func benchCallback(b *testing.B, personal bool) {
	w := &benchNet{b: b}
	n := w.start("news", "p0.example", func(c *Config) { c.HTTP, c.AllowPrivateFeeds = "127.0.0.1:0", true })
	spec := feedring.FeedSpec{URL: nowhere("p0.example"), Theme: "news", Provider: "p0.example"}
	benchUntil(b, "a role", n.Ready)
	came := make(chan string, 16)
	callback := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, r.URL.Query().Get("hub.challenge"))
			return
		}
		body, _ := io.ReadAll(r.Body)
		came <- string(body)
	}))
	defer callback.Close()
	topic := spec.URL
	if personal {
		s, err := n.personal.Subscribe(b.Context(), "", feedring.Query{Theme: "news", Limit: 50}, true)
		check(b, err)
		topic = n.front.Reachable() + "/feeds/" + s.Secret + ".atom"
	}
	form := url.Values{"hub.mode": {"subscribe"}, "hub.topic": {topic}, "hub.callback": {callback.URL}, "hub.secret": {"secret"}}
	resp, err := http.PostForm(n.websub.HubAddress(), form)
	check(b, err)
	resp.Body.Close()
	benchUntil(b, "a subscription", func() bool {
		for range n.store.ListPrefix(store.BucketHub, "s") { // records of subscriptions
			return true
		}
		return false
	})

	var took []time.Duration
	tick := time.NewTicker(2 * ledger.Spacing)
	defer tick.Stop()
	for i := 0; b.Loop(); i++ {
		title := fmt.Sprintf("entry %d of the run", i)
		n.own.Take(spec.URL, cache.Fetched{Body: []byte(feedOfEntries(title)), ContentType: "application/rss+xml", At: time.Now()})
		entry := feedring.Entry{Version: 1, ID: feedring.EntryID(fmt.Sprintf("%032x", i+1)), Title: title, URL: "https://p0.example/" + fmt.Sprint(i)}
		begun := time.Now()
		check(b, n.effects.publisher.Publish(context.Background(), spec, []feedring.Entry{entry}))
		n.websub.FeedChanged(spec.URL)
		for body := range came {
			if strings.Contains(body, title) {
				break
			}
		}
		took = append(took, time.Since(begun))
		<-tick.C
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}
