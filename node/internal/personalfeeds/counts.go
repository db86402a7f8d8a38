package personalfeeds

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// counts are of what personal feeds were given. Private entries are not among it:
// metrics ask for no token.
type counts struct {
	given   prometheus.Counter
	seconds prometheus.Histogram
}

func newCounts() *counts {
	return &counts{
		given: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: "feedring", Name: "given_total", Help: "Public entries put on lists of personal feeds as news, once for each list.",
		}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: "feedring", Name: "given_seconds", Help: "From a public entry's coming to the store, or from its follow, to its being on the lists of all personal feeds that want it.",
			Buckets: []float64{0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60},
		}),
	}
}

// Given implements personal.Peer.
func (c *counts) Given(lists int, since time.Time) {
	c.given.Add(float64(lists))
	if !since.IsZero() {
		c.seconds.Observe(time.Since(since).Seconds())
	}
}

// Metrics are those of personal feeds.
func (f *Feeds) Metrics() []prometheus.Collector {
	return []prometheus.Collector{f.counts.given, f.counts.seconds, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: "feedring", Name: "interests", Help: "What personal feeds of this peer ask for: those that ask the same are one.",
	}, func() float64 { return float64(f.Interests()) })}
}
