package admin

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/feedring/feedring/internal/readerfeeds/cache"
	"github.com/feedring/feedring/internal/refusals"
	"github.com/feedring/feedring/internal/store"
)

// Metrics serves Prometheus text: gauges are read when they are asked for.
func (d *Admin) Metrics() http.Handler {
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	gauge := func(name, help string, value func() float64) {
		r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "feedring", Name: name, Help: help}, value))
	}
	counter := func(name, help string, value func() uint64) {
		r.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Namespace: "feedring", Name: name, Help: help},
			func() float64 { return float64(value()) }))
	}
	gauge("peers", "Peers of the network that are connected.", func() float64 { return float64(len(d.cfg.Host.Peers())) })
	gauge("groups", "Groups that this peer is a member of.", func() float64 { return float64(len(d.cfg.Loop.View().Memberships)) })
	gauge("ring_groups", "Groups on the ring, as this peer sees it.", func() float64 { return float64(len(d.cfg.Loop.View().Ring)) })
	gauge("clients", "Clients that this peer serves.", func() float64 { return float64(d.Status().Clients) })
	gauge("entries", "Entries in the store, without those of private feeds.", func() float64 { return float64(d.publicEntries()) })
	gauge("feeds_failing", "Own published feeds whose last fetch failed.", func() float64 { return float64(d.cfg.Feeds.Failing()) })
	counter("looks_total", "Fetches of own published feeds that ended, whatever came of them.", d.cfg.Feeds.Looks)
	counter("steps_total", "Inputs that the machine took.", d.cfg.Loop.Steps)
	counter("messages_sent_total", "Messages written to other peers.", d.cfg.Links.Sent)
	counter("messages_dropped_total", "Messages that could not be sent.", d.cfg.Links.Dropped)
	counter("messages_refused_total", "Messages of others that were malformed or wrongly signed.", d.cfg.Server.Refused)
	gauge("store_refuses_writes", "1 while the store takes no entries, most likely since its disk is full.", func() float64 {
		return oneIf(d.cfg.Storage.Check(time.Now()) != nil)
	})
	gauge("store_damaged_entries", "Entries that the store found damaged since the peer began, and lost; they are polled again.", func() float64 {
		return float64(d.cfg.Store.Damaged())
	})
	gauge("identity_elsewhere", "1 while another process runs with this peer's key.", func() float64 {
		is := d.cfg.Identity.Status()
		return oneIf(is != nil && is.Elsewhere)
	})
	d.frontMetrics(r)
	r.MustRegister(d.cfg.Personal.Metrics()...)
	r.MustRegister(refusalCounter{d.cfg.Refused})
	return promhttp.HandlerFor(r, promhttp.HandlerOpts{})
}

// refusalCounter tells what was refused, where and why.
type refusalCounter struct{ counts *refusals.Counts }

var refusedTotal = prometheus.NewDesc("feedring_refused_total", "What was not done for others, by where it was refused and why.", []string{"where", "reason"}, nil)

// Describe implements prometheus.Collector.
func (c refusalCounter) Describe(to chan<- *prometheus.Desc) { to <- refusedTotal }

// Collect implements prometheus.Collector.
func (c refusalCounter) Collect(to chan<- prometheus.Metric) {
	times := make(map[refusals.Count]uint64)
	for _, known := range refusals.Known {
		times[known] = 0
	}
	for _, one := range c.counts.All() {
		times[refusals.Count{Where: one.Where, Reason: one.Reason}] = one.Times
	}
	for of, n := range times {
		to <- prometheus.MustNewConstMetric(refusedTotal, prometheus.CounterValue, float64(n), string(of.Where), string(of.Reason))
	}
}

func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// publicEntries counts what anybody may know of.
func (d *Admin) publicEntries() int { return d.cfg.Store.Entries(public) }

func public(h *store.Head) bool { return !h.Private }

// frontMetrics tells of own feeds served to pollers.
func (d *Admin) frontMetrics(r *prometheus.Registry) {
	requests := func(kind int, answer string) {
		r.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Namespace: "feedring", Name: "front_requests_total", Help: "Requests of pollers for own feeds, by answer.",
			ConstLabels: prometheus.Labels{"answer": answer},
		}, func() float64 { return float64(d.cfg.Cache.Counts()[kind]) }))
	}
	for kind, answer := range cache.Answers {
		requests(kind, answer)
	}
	r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: "feedring", Name: "front_readers", Help: "Readers of own feeds within a day, estimated from what pollers say.",
	}, func() float64 { return float64(d.readers()) }))
}

func (d *Admin) readers() int {
	sum := 0
	for _, url := range d.cfg.Feeds.Published() {
		sum += d.cfg.Cache.Readers(url)
	}
	return sum
}
