package integration

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkFailover kills the manager of a group of five peers (refresh 1 s),
// or manager and secondary together, and measures until every peer that is
// left follows a new one. The killed come back before the next kill. Times are
// told in periods of refresh.
func BenchmarkFailover(b *testing.B) {
	b.Run("manager", func(b *testing.B) { benchFailover(b, false) })
	b.Run("both", func(b *testing.B) { benchFailover(b, true) })
}

func benchFailover(b *testing.B, both bool) {
	const peers = 5
	o := newOrigin(b)
	n := newNetwork(b, "1s", "--interval", "1h")
	for i := range peers {
		name := fmt.Sprintf("f%d", i)
		keepPorts(b, n.peer(n.peers[:min(i, 2)], "news="+name+"@"+o.feed(newFeed(name, 2))))
	}
	n.peers[0].args = append(n.peers[0].args, "--join", n.peers[1].addr) // it comes back too
	var took []time.Duration
	for b.Loop() {
		led := n.led(b)
		left := others(n.peers, n.byID(led.str("manager")))
		killed := []*peer{n.byID(led.str("manager"))}
		if both {
			killed = append(killed, n.byID(led.str("secondary")))
			left = others(left, killed[1])
		}
		begun := time.Now()
		for _, p := range killed {
			p.kill()
		}
		took = append(took, followed(b, begun, left, killed))
		for _, p := range killed {
			n.start(p)
		}
	}
	report(b, took, "r") // the period is one second
	b.ReportMetric(float64(len(took)), "kills")
}

// keepPorts has a peer take the same ports when it is started again, as a
// configured peer does.
func keepPorts(b *testing.B, p *peer) {
	b.Helper()
	status := command(b, "status", "--json", "--data", p.data)
	for _, a := range status.objects[0].list("addrs") {
		addr, _, _ := strings.Cut(a.(string), "/p2p/")
		transport := "/ip4/127.0.0.1/tcp/0"
		if strings.HasSuffix(addr, "/quic-v1") {
			transport = "/ip4/127.0.0.1/udp/0/quic-v1"
		}
		if i := slices.Index(p.args, transport); i >= 0 {
			p.args[i] = addr
		}
	}
}

// led waits until all peers see the same whole group and returns it.
func (n *network) led(b *testing.B) object {
	b.Helper()
	var led object
	until(b, 60*time.Second, "a whole group with manager and secondary", func() bool {
		led = catalogue(n.peers[0])
		for _, p := range n.peers {
			c := catalogue(p)
			if c.str("manager") == "" || c.str("secondary") == "" || len(c.list("peers")) != len(n.peers) ||
				c.str("manager") != led.str("manager") || c.str("secondary") != led.str("secondary") {
				return false
			}
		}
		return n.byID(led.str("manager")) != nil && n.byID(led.str("secondary")) != nil
	})
	return led
}

func (n *network) byID(id string) *peer {
	i := slices.IndexFunc(n.peers, func(p *peer) bool { return p.id == id })
	if i < 0 {
		return nil
	}
	return n.peers[i]
}

// followed waits until those that are left agree on a manager that is alive.
func followed(b *testing.B, begun time.Time, left, killed []*peer) time.Duration {
	b.Helper()
	until(b, 30*time.Second, "a new manager", func() bool {
		manager := catalogue(left[0]).str("manager")
		if manager == "" || slices.ContainsFunc(killed, func(p *peer) bool { return p.id == manager }) {
			return false
		}
		return !slices.ContainsFunc(left, func(p *peer) bool { return catalogue(p).str("manager") != manager })
	})
	return time.Since(begun)
}

// catalogue is a peer's own view of news, over its HTTP address: a process for
// each look would take as long as what is measured.
func catalogue(p *peer) object {
	c := http.Client{Timeout: time.Second}
	r, err := c.Get(p.http + "/api/v1/catalog/news")
	if err != nil {
		return nil
	}
	defer r.Body.Close()
	var o object
	if json.NewDecoder(r.Body).Decode(&o) != nil {
		return nil
	}
	return o
}

// report tells median and 99th percentile in seconds under another name for
// the unit, or in milliseconds.
func report(b *testing.B, took []time.Duration, unit string) {
	slices.Sort(took)
	at := func(q float64) float64 {
		d := took[int(q*float64(len(took)-1)+0.5)]
		if unit == "ms" {
			return float64(d.Microseconds()) / 1000
		}
		return d.Seconds()
	}
	b.ReportMetric(at(0.50), "p50-"+unit)
	b.ReportMetric(at(0.99), "p99-"+unit)
	b.ReportMetric(0, "ns/op")
}
