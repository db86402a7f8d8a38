package integration

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// BenchmarkRestingGroup has a group of processes in a network namespace of its own do
// nothing, and counts what all of them send in a minute: for each peer and second, with
// the headers of IP. Before that it leaves them alone for two minutes.
func BenchmarkRestingGroup(b *testing.B) {
	for _, size := range []int{5, 20, 50} {
		b.Run(fmt.Sprint("peers=", size), func(b *testing.B) {
			for b.Loop() {
				s := newNamespaces(b)
				n := newNetwork(b, "10s")
				all := []*peer{s.peer(n, 0)}
				for len(all) < size {
					all = append(all, s.peer(n, 0, "--join", all[0].addr))
				}
				until(b, 3*time.Minute, "one group", func() bool {
					for _, p := range all {
						if c := n.ownView(p, "news"); c == nil || len(c.list("peers")) < size {
							return false
						}
					}
					return true
				})
				<-time.After(2 * time.Minute)
				before := sentOnLoopback(b, s.read(0, "/proc/net/dev"))
				<-time.After(time.Minute)
				sent := sentOnLoopback(b, s.read(0, "/proc/net/dev")) - before
				b.ReportMetric(float64(sent)/1000/60/float64(size), "KB/s/peer")
				b.ReportMetric(0, "ns/op")
				for _, p := range all {
					p.kill()
				}
			}
		})
	}
}

// sentOnLoopback reads the bytes sent from /proc/net/dev.
func sentOnLoopback(t testing.TB, dev string) (sent int64) {
	t.Helper()
	_, line, _ := strings.Cut(dev, "lo:")
	var received, skipped int64
	if _, err := fmt.Sscan(line, &received, &skipped, &skipped, &skipped, &skipped, &skipped, &skipped, &skipped, &sent); err != nil {
		t.Fatalf("%v: %s", err, dev)
	}
	return sent
}
