package integration

import (
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// newSpreadFleet is a publisher of news and so many peers of one fleet, each on a machine of
// its own. The data of the last one is on a disk of its own where small says how large.
// The publisher is the first peer of the network.
func newSpreadFleet(t *testing.T, build func(string) *machine, news *feed, size int, small string) (f *fleetOf, hosts map[*peer]*machine) {
	t.Helper()
	n := newNetwork(t, "1s")
	at := build("publisher")
	publisher := at.peer(n, nil, "news=news@"+at.origin().feed(news))
	n.formed(map[string]int{"news": 1})
	f = &fleetOf{network: n, key: filepath.Join(n.dir, "fleet.key")}
	if r := command(t, "fleet", "new", f.key); r.code != 0 {
		t.Fatalf("fleet new: %v", r)
	}
	n.extra = []string{"--fleet-key", f.key, "--read", "news", "--interests", "10000"}
	hosts = make(map[*peer]*machine)
	for k := range size {
		if small != "" && k == size-1 {
			tmpfs(t, filepath.Join(n.dir, fmt.Sprintf("p%d", len(n.peers))), small)
		}
		m := build(fmt.Sprintf("fleet%d", k))
		p := m.peer(n, []*peer{publisher})
		m.publish(p)
		f.peers, hosts[p] = append(f.peers, p), m
	}
	f.whole(size)
	return f, hosts
}

// newReadFleet is a spread fleet of three on an internet, with 40 personal feeds that show at
// each peer what was published.
func newReadFleet(t *testing.T, small string) (f *fleetOf, hosts map[*peer]*machine, news *feed) {
	t.Helper()
	news = newFeed("news", 3)
	f, hosts = newSpreadFleet(t, newInternet(t).public, news, 3, small)
	f.subscribe(f.peers[0], 40)
	f.polled("news story 2", f.peers...)
	return f, hosts, news
}

// publish makes the web address of a peer on the machine reachable for this process, as a
// server before it does for everybody.
func (m *machine) publish(p *peer) {
	m.net.t.Helper()
	inside := strings.TrimPrefix(p.http, "http://")
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	must(m.net.t, err)
	m.net.t.Cleanup(func() { _ = l.Close() })
	p.http = "http://" + l.Addr().String()
	go func() {
		for {
			outer, err := l.Accept()
			if err != nil {
				return
			}
			var inner net.Conn
			err = m.enter(func() (err error) {
				inner, err = net.Dial("tcp4", inside)
				return err
			})
			if err != nil {
				_ = outer.Close()
				continue
			}
			pass := func(to, from net.Conn) {
				_, _ = io.Copy(to, from)
				_, _ = to.Close(), from.Close()
			}
			go pass(outer, inner)
			go pass(inner, outer)
		}
	}()
}

// answered polls every feed of the ledger once at a peer, and counts the answers by status.
func (f *fleetOf) answered(at *peer) map[int]int {
	f.t.Helper()
	count := make(map[int]int)
	for _, path := range f.ledger {
		count[call(f.t, at, "GET", path, "").code]++
	}
	return count
}

// delete ends the first feed of the ledger with the owner's token, and returns its path.
func (f *fleetOf) delete(at *peer) (path string) {
	f.t.Helper()
	path, f.ledger = f.ledger[0], f.ledger[1:]
	until(f.t, 30*time.Second, "a personal feed is deleted", func() bool { // 503 while nobody knows yet that a peer is away
		for _, o := range command(f.t, "subscription", "list", "--json", "--data", at.data).objects {
			if strings.HasSuffix(o.str("atom"), path) {
				return call(f.t, at, "DELETE", "/api/v1/subscriptions/"+o.str("id"), "", at.token(f.t)).code == 204
			}
		}
		return false
	})
	return path
}

// TestFleetIsCut cuts one of three peers off. Both sides go on with what they hold: nobody
// is told that a feed is gone, what is made on either side is there when they meet again,
// and what one side deleted stays deleted.
func TestFleetIsCut(t *testing.T) {
	t.Parallel()
	f, hosts, news := newReadFleet(t, "")
	a, b, c := f.peers[0], f.peers[1], f.peers[2]

	hosts[c].cable("down")
	news.add("story of the two", "x", time.Time{})
	t.Logf("first good answers after one was cut off: %s at most", f.polled("story of the two", a, b))
	until(t, 60*time.Second, "the one that is cut off knows it", func() bool {
		count := f.answered(c)
		if count[200]+count[503] != len(f.ledger) {
			t.Fatalf("the one that is cut off answered %v", count)
		}
		return count[200] > len(f.ledger)/3 // it holds two thirds of them
	})
	gone := f.delete(a)
	f.subscribe(a, 10)
	f.subscribe(c, 10)

	hosts[c].cable("up")
	f.whole(3)
	f.polled("story of the two", a, b, c)
	until(t, 30*time.Second, "a deleted feed is gone everywhere", func() bool {
		for _, p := range f.peers {
			if call(t, p, "GET", gone, "").code != 404 {
				return false
			}
		}
		return true
	})
}

// TestFleetDiskFills fills the disk of one of three peers, and kills it full. What was
// answered with 201 meanwhile is at the others, and it answers for that as soon as it is back.
func TestFleetDiskFills(t *testing.T) {
	t.Parallel()
	f, hosts, news := newReadFleet(t, "160m")
	a, b, c := f.peers[0], f.peers[1], f.peers[2]

	room := fill(t, c.data, 0)
	news.add("story while a disk is full", "x", time.Time{})
	f.polled("story while a disk is full", a, b)
	f.subscribe(a, 20, 507) // of the one whose disk is full
	f.polled("story while a disk is full", a, b)
	if count := f.answered(c); count[404]+count[410] > 0 {
		t.Errorf("the one whose disk is full answered %v", count)
	}

	c.kill()
	room()
	c.process = hosts[c].start(c.args...)
	f.ready(c)
	hosts[c].publish(c)
	f.polled("story while a disk is full", a, b, c)
}
