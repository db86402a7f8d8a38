package integration

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// network is peers on loopback.
type network struct {
	t       testing.TB
	dir     string
	refresh string
	extra   []string
	peers   []*peer
}

// peer is one "feedring serve".
type peer struct {
	*process
	binary string // of another version; empty: the one under test
	env    []string
	args   []string
	data   string
	id     string
	addr   string
	addrs  []string
	http   string
}

func newNetwork(t testing.TB, refresh string, extra ...string) *network {
	return &network{t: t, dir: t.TempDir(), refresh: refresh, extra: extra}
}

// peer starts a peer that joins through others; feeds are --feed values.
func (n *network) peer(join []*peer, feeds ...string) *peer {
	n.t.Helper()
	p := n.prepare(join, feeds...)
	n.start(p)
	return p
}

// prepare makes a peer without starting it.
func (n *network) prepare(join []*peer, feeds ...string) *peer {
	p := &peer{data: filepath.Join(n.dir, fmt.Sprintf("p%d", len(n.peers)))}
	p.args = []string{"serve", "--json", "--data", p.data, "--allow-private-feeds",
		"--listen", "/ip4/127.0.0.1/udp/0/quic-v1", "--listen", "/ip4/127.0.0.1/tcp/0", "--http", "127.0.0.1:0",
		"--refresh", n.refresh, "--freshness", "72h", "--interval", "1s"}
	for _, j := range join {
		p.args = append(p.args, "--join", j.addr)
	}
	for _, f := range feeds {
		p.args = append(p.args, "--feed", f)
	}
	p.args = append(p.args, n.extra...)
	n.peers = append(n.peers, p)
	return p
}

// start runs the peer, again after it ended.
func (n *network) start(p *peer) {
	n.t.Helper()
	p.process = &process{cmd: exec.Command(cmp.Or(p.binary, binary), p.args...)}
	p.cmd.Env = append(os.Environ(), p.env...)
	p.run(n.t)
	n.ready(p)
}

// ready waits until a peer that was started is ready.
func (n *network) ready(p *peer) {
	n.t.Helper()
	ready, _ := p.event(n.t, 60*time.Second, "ready", func(o object) bool { return o.str("event") == "ready" })
	p.id, p.http = ready.str("peer"), ready.str("http")
	p.addrs = nil
	for _, a := range ready.list("addrs") {
		p.addrs = append(p.addrs, a.(string))
	}
	p.addr = p.addrs[0]
}

func (n *network) query(p *peer, args ...string) result {
	n.t.Helper()
	return command(n.t, append([]string{"query", "--json", "--peer", p.addr}, args...)...)
}

func (n *network) follow(p *peer, args ...string) *process {
	n.t.Helper()
	return start(n.t, append([]string{"follow", "--json", "--peer", p.addr}, args...)...)
}

func (n *network) catalogue(p *peer, theme string) object {
	r := command(n.t, "catalog", "--json", "--peer", p.addr, theme)
	if r.code != 0 || len(r.objects) != 1 {
		return nil
	}
	return r.objects[0]
}

// ownView is the catalogue as p itself has it, asked on its socket.
func (n *network) ownView(p *peer, theme string) object {
	r := command(n.t, "catalog", "--json", "--data", p.data, theme)
	if r.code != 0 || len(r.objects) != 1 {
		return nil
	}
	return r.objects[0]
}

// ring returns the number of peers by theme, as p sees the ring.
func (n *network) ring(p *peer) map[string]int {
	r := command(n.t, "ring", "--json", "--peer", p.addr)
	themes := make(map[string]int)
	for _, g := range r.objects {
		themes[g.str("theme")] = g.num("peers")
	}
	return themes
}

// formed waits until every peer that runs sees this ring.
func (n *network) formed(want map[string]int, peers ...*peer) {
	n.t.Helper()
	for _, p := range peers {
		until(n.t, 60*time.Second, fmt.Sprintf("a ring of %v", want), func() bool {
			return fmt.Sprint(n.ring(p)) == fmt.Sprint(want)
		})
	}
}

// manager waits until the peers asked agree on a manager among them and
// returns it.
func (n *network) manager(theme string, among ...*peer) *peer {
	n.t.Helper()
	var found *peer
	until(n.t, 60*time.Second, "one manager of "+theme, func() bool {
		found = nil
		for _, p := range among {
			c := n.catalogue(p, theme)
			if c == nil {
				return false
			}
			for _, candidate := range among {
				if candidate.id == c.str("manager") {
					if found != nil && found != candidate {
						return false
					}
					found = candidate
				}
			}
			if found == nil || found.id != c.str("manager") {
				return false
			}
		}
		return true
	})
	return found
}

func others(all []*peer, not *peer) []*peer {
	var rest []*peer
	for _, p := range all {
		if p != not {
			rest = append(rest, p)
		}
	}
	return rest
}
