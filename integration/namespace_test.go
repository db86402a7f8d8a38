package integration

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// namespaces is two machines of one local network, as far as the kernel can
// tell.
type namespaces struct {
	t     testing.TB
	names [2]string
}

func newNamespaces(t testing.TB) *namespaces {
	t.Helper()
	if _, err := exec.LookPath("ip"); err != nil || os.Getuid() != 0 {
		lacking(t, "netns", "network namespaces need root and the ip command (package iproute2)")
	}
	s := &namespaces{t: t}
	for i := range s.names {
		s.names[i] = fmt.Sprintf("feedring-%d-%s-%d", os.Getpid(), strings.ReplaceAll(t.Name(), "/", "-"), i)
		if out, err := exec.Command("ip", "netns", "add", s.names[i]).CombinedOutput(); err != nil {
			lacking(t, "netns", "network namespaces cannot be made here: %s", out)
		}
		t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", s.names[i]).Run() })
	}
	s.ip("link", "add", "lan0", "netns", s.names[0], "type", "veth", "peer", "name", "lan0", "netns", s.names[1])
	for i, name := range s.names {
		s.ip("-n", name, "link", "set", "lo", "up")
		s.ip("-n", name, "addr", "add", fmt.Sprintf("10.77.0.%d/24", i+1), "dev", "lan0")
		s.ip("-n", name, "link", "set", "lan0", "up")
		s.ip("-n", name, "route", "add", "224.0.0.0/4", "dev", "lan0")
	}
	return s
}

func (s *namespaces) ip(args ...string) {
	s.t.Helper()
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		s.t.Fatalf("ip %v: %v: %s", args, err, out)
	}
}

// peer starts a peer of news in a namespace. Its origin is nowhere.
func (s *namespaces) peer(n *network, in int, args ...string) *peer {
	s.t.Helper()
	p := n.prepare(nil, fmt.Sprintf("news=p%d@http://127.0.0.1:1/p%d", len(n.peers), len(n.peers)))
	p.args = append(p.args, args...)
	for i, a := range p.args {
		p.args[i] = strings.Replace(a, "/ip4/127.0.0.1/", fmt.Sprintf("/ip4/10.77.0.%d/", in+1), 1)
	}
	p.process = &process{cmd: exec.Command("ip", append([]string{"netns", "exec", s.names[in], binary}, p.args...)...)}
	p.run(s.t)
	n.ready(p)
	return p
}

// read is a file as it is inside a namespace.
func (s *namespaces) read(in int, path string) string {
	s.t.Helper()
	out, err := exec.Command("ip", "netns", "exec", s.names[in], "cat", path).CombinedOutput()
	if err != nil {
		s.t.Fatalf("%s: %v: %s", path, err, out)
	}
	return string(out)
}

// multicastsIn reads from /proc/net/netstat how many IPv4 packets were sent to a
// group: multicast DNS, and questions for routers that open ports.
func multicastsIn(t testing.TB, netstat string) int {
	t.Helper()
	var names []string
	for line := range strings.Lines(netstat) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] != "IpExt:" {
			continue
		}
		if names == nil {
			names = fields
			continue
		}
		if i := slices.Index(names, "OutMcastPkts"); i >= 0 && i < len(fields) {
			if sent, err := strconv.Atoi(fields[i]); err == nil {
				return sent
			}
		}
	}
	t.Fatalf("no count of multicast packets: %s", netstat)
	return 0
}

// mdnsGroup is 224.0.0.251 as /proc/net/igmp writes it.
const mdnsGroup = "FB0000E0"

// together waits until all peers see one group of all of them under one
// manager, and returns it.
func together(n *network, all ...*peer) (manager string) {
	n.t.Helper()
	until(n.t, 40*time.Second, fmt.Sprintf("one group of %d", len(all)), func() bool {
		manager = ""
		for _, p := range all {
			c := n.ownView(p, "news")
			if c == nil || len(c.list("peers")) < len(all) || manager != "" && c.str("manager") != manager {
				return false
			}
			manager = c.str("manager")
		}
		return managerAmong(manager, all)
	})
	return manager
}

func managerAmong(manager string, all []*peer) bool {
	for _, p := range all {
		if p.id == manager {
			return true
		}
	}
	return false
}

// TestLAN is two peers on one local network that were told nothing of each
// other: they find together with --lan, and without it neither says a word.
func TestLAN(t *testing.T) {
	t.Parallel()
	s := newNamespaces(t)
	n := newNetwork(t, "500ms")
	quiet := []*peer{s.peer(n, 0), s.peer(n, 1)}
	for i, p := range quiet {
		if strings.Contains(s.read(i, "/proc/net/igmp"), mdnsGroup) {
			t.Error("a peer without --lan listens to multicast DNS")
		}
		until(t, 10*time.Second, "roles", func() bool { return n.ownView(p, "news") != nil })
	}
	for i := range quiet {
		if sent := multicastsIn(t, s.read(i, "/proc/net/netstat")); sent != 0 {
			t.Errorf("a peer without --lan sent %d packets to everybody", sent)
		}
	}
	loud := []*peer{s.peer(n, 0, "--lan"), s.peer(n, 1, "--lan")}
	together(n, loud...)
	for i := range loud {
		if multicastsIn(t, s.read(i, "/proc/net/netstat")) == 0 {
			t.Error("a peer with --lan sent nothing to everybody")
		}
		if !strings.Contains(s.read(i, "/proc/net/igmp"), mdnsGroup) {
			t.Error("a peer with --lan does not listen to multicast DNS")
		}
	}
	for _, p := range quiet {
		if c := n.ownView(p, "news"); c == nil || len(c.list("peers")) != 1 {
			t.Errorf("a peer without --lan was found: %v", c)
		}
	}
}

// TestPartition cuts a group in two halves and joins them again.
func TestPartition(t *testing.T) {
	t.Parallel()
	s := newNamespaces(t)
	n := newNetwork(t, "500ms")
	first := s.peer(n, 0)
	halves := [2][]*peer{{first, s.peer(n, 0, "--join", first.addr)}, {s.peer(n, 1, "--join", first.addr), s.peer(n, 1, "--join", first.addr)}}
	all := append(append([]*peer{}, halves[0]...), halves[1]...)
	together(n, all...)
	s.ip("-n", s.names[0], "link", "set", "lan0", "down")
	for _, half := range halves {
		until(t, 20*time.Second, "a manager in each half", func() bool {
			m := ""
			for _, p := range half {
				c := n.ownView(p, "news")
				if c == nil || m != "" && c.str("manager") != m {
					return false
				}
				m = c.str("manager")
			}
			return managerAmong(m, half)
		})
	}
	s.ip("-n", s.names[0], "link", "set", "lan0", "up")
	begun := time.Now()
	together(n, all...)
	t.Logf("healed within %s", time.Since(begun))
	// A peer of each half is stopped and killed: the healed group goes on.
	halves[0][0].signal(syscall.SIGKILL)
	<-halves[0][0].done
	until(t, 20*time.Second, "one manager of the rest", func() bool {
		m := ""
		for _, p := range all[1:] {
			c := n.ownView(p, "news")
			if c == nil || m != "" && c.str("manager") != m {
				return false
			}
			m = c.str("manager")
		}
		return managerAmong(m, all[1:])
	})
}
