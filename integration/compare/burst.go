package main

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

const (
	burstPeers = 5
	// documentMost is how many entries of one document feedring takes.
	documentMost = 5000
)

// burstEnds is how long a burst may take: far longer than it does on a busy machine.
func burstEnds(entries int) time.Duration {
	return 3*time.Minute + time.Duration(entries)*5*time.Millisecond
}

// bursts have one publisher publish very many entries at once.
func (b *bench) bursts() {
	for _, n := range []int{b.small, b.large} {
		what := fmt.Sprintf("%d entries of 1 KB to five peers (NATS: three servers, five readers)", n)
		b.inTurn(what, side{feedring, func() { b.burstFeedring(what, n) }}, side{jetStream, func() { b.burstNATS(what, n) }})
	}
}

// burst times one burst, which ends when all copies are complete.
func (b *bench) burst(side, what string, entries, copies int, publish func(), complete func() bool) {
	var members usage
	all := use(b.everything(), func() {
		members = use(b.pids(), func() {
			publish()
			b.until(burstEnds(entries), "all entries everywhere", complete)
		})
	})
	b.table.add(side, what, "entries a second", float64(entries)/members.took.Seconds())
	b.table.add(side, what, "bytes written for one in each copy", members.written/float64(entries*copies))
	b.table.add(side, what, "CPU of all for one, µs", float64(all.cpu.Microseconds())/float64(entries))
	b.table.add(side, what, "peak memory of a member, MB", median(members.peak))
}

// burstFeedring publishes documents of up to 5,000 entries, each a feed of the
// same publisher, and pings the peer for one after another.
func (b *bench) burstFeedring(what string, n int) {
	o := b.origin((n+documentMost-1)/documentMost, documentMost)
	peers := b.group(burstPeers, o)
	for i := range n {
		o.add(i%len(o.feeds), fmt.Sprintf("entry %d", i), text(i))
	}
	all := o.count()
	b.burst(feedring, what, n, burstPeers, func() {
		for feed := range o.feeds {
			peers[0].ping(o.URL + path(feed))
		}
	}, func() bool {
		return !slices.ContainsFunc(peers, func(p *peer) bool { return p.entries() != all })
	})
}

func (b *bench) burstNATS(what string, n int) {
	urls := b.natsServers(replicas)
	js := b.natsClient(urls[0])
	stream := b.natsStream(js, replicas)
	var read atomic.Int64
	for i := range burstPeers {
		b.natsReader(urls[i%replicas], func([]byte) { read.Add(1) })
	}
	var messages [][]byte
	for i := range n {
		messages = append(messages, fmt.Appendf(nil, "entry %d %s", i, text(i)))
	}
	b.burst(jetStream, what, n, replicas, func() {
		for _, m := range messages {
			must(js.PublishAsync(subject, m, jetstream.WithStallWait(burstEnds(n))))
		}
	}, func() bool { return read.Load() >= int64(n*burstPeers) && b.natsHold(stream, n) })
}
