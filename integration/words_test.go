package integration

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// callers counts the connections that are made to a port of a machine.
type callers struct {
	mu   sync.Mutex
	from map[string]int // by IP address
}

// count listens at a port of the machine, and ends every connection at once.
func (m *machine) count(port int) *callers {
	m.net.t.Helper()
	var l net.Listener
	m.inside(func() (err error) {
		l, err = net.Listen("tcp4", fmt.Sprintf("%s:%d", m.addr, port))
		return err
	})
	m.net.t.Cleanup(func() { _ = l.Close() })
	c := &callers{from: make(map[string]int)}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			c.mu.Lock()
			c.from[conn.RemoteAddr().(*net.TCPAddr).IP.String()]++
			c.mu.Unlock()
			_ = conn.Close()
		}
	}()
	return c
}

func (c *callers) of(m *machine) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.from[m.addr]
}

// knows gives the machine names for addresses.
func (m *machine) knows(hosts string) {
	m.net.t.Helper()
	dir := filepath.Join("/etc/netns", m.space) // "ip netns exec" shows it as /etc
	must(m.net.t, os.MkdirAll(dir, 0o755))
	m.net.t.Cleanup(func() { _ = os.RemoveAll(dir) })
	must(m.net.t, os.WriteFile(filepath.Join(dir, "hosts"), []byte("127.0.0.1 localhost\n"+hosts), 0o644))
}

// TestStrangersWordsCauseFewRequests has a peer offer hundreds of feeds at names that
// lead to somebody else's machine, some of one domain and some of domains of their own:
// the others, who look whether those sites name that peer, leave the machine alone.
func TestStrangersWordsCauseFewRequests(t *testing.T) {
	t.Parallel()
	i := newInternet(t)
	victim, evil := i.public("victim"), i.public("evil")
	honest := []*machine{i.public("a"), i.public("b")}
	var hosts strings.Builder
	var feeds []string
	for k := range 300 {
		name := fmt.Sprintf("n%d.victim.example", k)
		if k%2 == 1 {
			name = fmt.Sprintf("victim%d.example", k)
		}
		fmt.Fprintf(&hosts, "%s %s\n", victim.addr, name)
		feeds = append(feeds, fmt.Sprintf("news=evil%d@http://%s/feed.xml", k, name))
	}
	for _, m := range append(honest, evil) {
		m.knows(hosts.String())
	}
	calls := victim.count(443)
	n := newNetwork(t, "500ms")
	first := honest[0].peer(n, nil, "news=one@"+honest[0].origin().feed(newFeed("one", 1)))
	second := honest[1].peer(n, []*peer{first}, "news=two@"+honest[1].origin().feed(newFeed("two", 1)))
	together(n, first, second)
	begun := time.Now()
	evil.peer(n, []*peer{first}, feeds...)
	until(t, time.Minute, "both to have looked", func() bool { return calls.of(honest[0]) > 0 && calls.of(honest[1]) > 0 })
	attack := time.NewTimer(15 * time.Second)
	<-attack.C
	for k, m := range honest {
		took := time.Since(begun)
		got, most := calls.of(m), 5+int(took/time.Minute)
		t.Logf("peer %d connected %d times in %s", k, got, took.Round(time.Second))
		if got > most {
			t.Errorf("peer %d connected %d times in %s, at most %d may be", k, got, took, most)
		}
	}
}
