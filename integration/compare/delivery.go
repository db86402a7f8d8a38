package main

import (
	"bufio"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	servedWithin  = 2 * time.Minute
	arrivesWithin = time.Minute
	newestShown   = 20 // entries in the document of a growing feed
)

// delivery publishes entries at a steady pace and times them to the readers.
func (b *bench) delivery() {
	what := fmt.Sprintf("%d entries a second to %d readers at %d peers (NATS: three servers)", time.Second/b.pace, b.readers, b.peers)
	plain, checking := what+", that trust their server", what+", that check signatures"
	b.inTurn(what,
		side{feedring, func() { b.deliverFeedring(plain, b.streams) }},
		side{jetStream, func() { b.deliverNATS(plain) }},
		side{gossipSub, func() { b.deliverGossip(plain) }},
		side{feedring, func() { b.deliverFeedring(checking, b.followCommands) }})
}

// deliver publishes probes until every reader is served, and then what counts.
func (b *bench) deliver(side, what string, got *arrivals, publish func(title, body string)) {
	n := 0
	next := func(kind string) {
		n++
		publish(kind+strconv.FormatInt(time.Now().UnixNano(), 10), text(n))
	}
	var last time.Time
	b.until(servedWithin, "all readers served", func() bool {
		if time.Since(last) > time.Second {
			last = time.Now()
			next(probes)
		}
		return got.served() == b.readers
	})
	all := b.entries * b.readers
	used := use(b.everything(), func() {
		for range b.entries {
			begun := time.Now()
			next(counts)
			b.wait(b.pace - time.Since(begun))
		}
		b.until(arrivesWithin, "all entries at all readers", func() bool { return got.count() >= all })
	})
	b.table.add(side, what, "p50, ms", got.percentile(50))
	b.table.add(side, what, "p99, ms", got.percentile(99))
	b.table.add(side, what, "CPU of all for one at one reader, µs", float64(used.cpu.Microseconds())/float64(all))
}

// deliverFeedring puts each entry into the feed's document and pings the
// publisher's peer, as a site that publishes does.
func (b *bench) deliverFeedring(what string, follow func([]*peer, *arrivals)) {
	o := b.origin(1, newestShown)
	peers, got := b.group(b.peers, o), &arrivals{}
	follow(peers, got)
	b.deliver(feedring, what, got, func(title, body string) {
		o.add(0, title, body)
		peers[0].ping(o.URL + path(0))
	})
}

// streams reads the event streams of all peers.
func (b *bench) streams(peers []*peer, got *arrivals) {
	transport := &http.Transport{DisableCompression: true}
	for i := range b.readers {
		p := peers[i%len(peers)]
		req := must(http.NewRequestWithContext(b.ctx, http.MethodGet, p.HTTP+"/api/v1/stream?theme=news&limit=1", nil))
		resp := must(transport.RoundTrip(req))
		if resp.StatusCode != http.StatusOK {
			check(errors.New("event stream: " + resp.Status))
		}
		go func() { // until the peer ends
			defer resp.Body.Close()
			lines := bufio.NewScanner(resp.Body)
			for lines.Scan() {
				got.add(strconv.Itoa(i), lines.Text(), p == peers[0])
			}
		}()
	}
}

// followCommands runs "feedring follow" for each reader. It is served by the
// peer that the manager names, and checks every signature.
func (b *bench) followCommands(peers []*peer, got *arrivals) {
	publisher := fmt.Sprintf(`"via":%q`, peers[0].ID)
	for i := range b.readers {
		name := "reader" + strconv.Itoa(i)
		b.start(func(line string) { got.add(name, line, strings.Contains(line, publisher)) }, b.feedring, "follow", "--json", "--theme", "news",
			"--limit", "1", "--network", "compare", "--data", filepath.Join(b.dir, name), "--peer", peers[i%len(peers)].Addrs[0])
	}
}

func (b *bench) deliverNATS(what string) {
	urls, got := b.natsServers(replicas), &arrivals{}
	js := b.natsClient(urls[0])
	b.natsStream(js, replicas)
	for i := range b.readers {
		b.natsReader(urls[i%replicas], func(data []byte) { got.add(strconv.Itoa(i), string(data), false) })
	}
	b.deliver(jetStream, what, got, func(title, body string) {
		must(js.PublishAsync(subject, []byte(title+" "+body)))
	})
}

func (b *bench) deliverGossip(what string) {
	got := &arrivals{}
	publish := b.gossipHosts(got)
	b.deliver(gossipSub, what, got, func(title, body string) { publish(title + " " + body) })
}
