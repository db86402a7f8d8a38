package integration

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// internet is machines with public addresses on one wire, and others behind
// routers of their own. It is made of network namespaces: nothing leaves it.
type internet struct {
	t        testing.TB
	machines int
}

// machine is one network namespace.
type machine struct {
	net   *internet
	space string
	addr  string // its public address, or its router's
}

func newInternet(t testing.TB) *internet {
	t.Helper()
	if os.Getuid() != 0 {
		lacking(t, "netns", "network namespaces need root")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		lacking(t, "netns", "the ip command is not here (package iproute2)")
	}
	i := &internet{t: t}
	i.space("wire")
	i.ip("-n", i.name("wire"), "link", "add", "wire", "type", "bridge")
	i.ip("-n", i.name("wire"), "link", "set", "wire", "up")
	return i
}

func (i *internet) name(machine string) string {
	return fmt.Sprintf("feedring-%d-%s-%s", os.Getpid(), strings.ReplaceAll(i.t.Name(), "/", "-"), machine)
}

func (i *internet) ip(args ...string) {
	i.t.Helper()
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		i.t.Fatalf("ip %v: %v: %s", args, err, out)
	}
}

func (i *internet) space(name string) string {
	i.t.Helper()
	space := i.name(name)
	if out, err := exec.Command("ip", "netns", "add", space).CombinedOutput(); err != nil {
		lacking(i.t, "netns", "network namespaces cannot be made here: %s", out)
	}
	i.t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", space).Run() })
	i.ip("-n", space, "link", "set", "lo", "up")
	return space
}

// public adds a machine with a public address, as libp2p sees it.
func (i *internet) public(name string) *machine {
	i.t.Helper()
	i.machines++
	m := &machine{net: i, space: i.space(name), addr: fmt.Sprintf("25.7.0.%d", i.machines)}
	i.ip("link", "add", "out", "netns", m.space, "type", "veth", "peer", "name", fmt.Sprintf("to%d", i.machines), "netns", i.name("wire"))
	i.ip("-n", i.name("wire"), "link", "set", fmt.Sprintf("to%d", i.machines), "master", "wire", "up")
	i.ip("-n", m.space, "addr", "add", m.addr+"/24", "dev", "out")
	i.ip("-n", m.space, "link", "set", "out", "up")
	return m
}

// router is what homes have: who is inside may talk to everybody, under the
// router's address, and only answers come in. What comes from each machine
// outside is counted by the rule with its address as comment.
const router = `
table ip home {
  chain out {
    type nat hook postrouting priority 100
    oifname "out" masquerade
  }
  chain here {
    type filter hook input priority 0
    iifname "out" ct state established,related accept
    iifname "out" drop
  }
  chain through {
    type filter hook forward priority 0
    iifname "out" ct state established,related jump count
    iifname "out" drop
  }
  chain count {
    counted
    accept
  }
}
`

// behindRouter adds a machine with a private address behind a router of its
// own. The router counts what it lets in from each of those outside.
func (i *internet) behindRouter(name string) *machine {
	i.t.Helper()
	if _, err := exec.LookPath("nft"); err != nil {
		lacking(i.t, "nat", "the nft command is not here (package nftables)")
	}
	r := i.public(name + "-router")
	m := &machine{net: i, space: i.space(name), addr: r.addr}
	i.ip("link", "add", "in", "netns", r.space, "type", "veth", "peer", "name", "lan", "netns", m.space)
	i.ip("-n", r.space, "addr", "add", "192.168.7.1/24", "dev", "in")
	i.ip("-n", r.space, "link", "set", "in", "up")
	i.ip("-n", m.space, "addr", "add", "192.168.7.2/24", "dev", "lan")
	i.ip("-n", m.space, "link", "set", "lan", "up")
	i.ip("-n", m.space, "route", "add", "default", "via", "192.168.7.1")
	if out, err := r.command("sh", "-c", "echo 1 >/proc/sys/net/ipv4/ip_forward").CombinedOutput(); err != nil {
		lacking(i.t, "nat", "the kernel does not forward: %s", out)
	}
	var count strings.Builder
	for k := 1; k <= 8; k++ {
		fmt.Fprintf(&count, "ip saddr 25.7.0.%d counter\n", k)
	}
	rules := r.command("nft", "-f", "-")
	rules.Stdin = strings.NewReader(strings.Replace(router, "counted", count.String(), 1))
	if out, err := rules.CombinedOutput(); err != nil {
		lacking(i.t, "nat", "the kernel cannot translate addresses (nft masquerade): %s", out)
	}
	return m
}

// command runs something on the machine.
func (m *machine) command(args ...string) *exec.Cmd {
	return exec.Command("ip", append([]string{"netns", "exec", m.space}, args...)...)
}

// feedring runs the binary on the machine to its end.
func (m *machine) feedring(args ...string) result {
	m.net.t.Helper()
	p := m.start(args...)
	select {
	case <-p.done:
	case <-time.After(40 * time.Second):
		m.net.t.Fatalf("%v: still running", args)
	}
	var out strings.Builder
	for _, l := range p.output() {
		out.WriteString(l.text + "\n")
	}
	return result{code: p.cmd.ProcessState.ExitCode(), objects: objects(p.output()), stdout: out.String(), stderr: p.errors()}
}

// start runs the binary on the machine.
func (m *machine) start(args ...string) *process {
	m.net.t.Helper()
	p := &process{cmd: m.command(atNormalPriority(append([]string{binary}, args...)...)...)}
	p.run(m.net.t)
	return p
}

// atNormalPriority has a command wait for a test that was given a priority over others: its
// packets are to go on in time.
func atNormalPriority(command ...string) []string {
	raw, _, errno := syscall.Syscall(syscall.SYS_GETPRIORITY, syscall.PRIO_PROCESS, 0, 0) // 20 less what nice says
	if above := int(raw) - 20; errno == 0 && above > 0 {
		return append([]string{"nice", "-n", strconv.Itoa(above)}, command...)
	}
	return command
}

// peer starts a peer with the default ports on the machine.
func (m *machine) peer(n *network, join []*peer, feeds ...string) *peer {
	m.net.t.Helper()
	p := &peer{data: filepath.Join(n.dir, fmt.Sprintf("p%d", len(n.peers)))}
	n.peers = append(n.peers, p)
	p.args = []string{"serve", "--json", "--data", p.data, "--allow-private-feeds", "--http", "127.0.0.1:0",
		"--refresh", n.refresh, "--freshness", "72h", "--interval", "1s"}
	for _, j := range join {
		p.args = append(p.args, "--join", j.addr)
	}
	for _, f := range feeds {
		p.args = append(p.args, "--feed", f)
	}
	p.args = append(p.args, n.extra...)
	p.process = m.start(p.args...)
	n.ready(p)
	return p
}

// origin is a site that only the machine itself reaches.
func (m *machine) origin() *origin { return m.originAt("127.0.0.1:0") }

// originAt is a site at an address of the machine.
func (m *machine) originAt(address string) *origin {
	m.net.t.Helper()
	o := &origin{docs: make(map[string]http.HandlerFunc), count: make(map[string]map[int]int)}
	o.Server = httptest.NewUnstartedServer(o)
	_ = o.Listener.Close()
	o.Listener = m.listen(address)
	o.Start()
	m.net.t.Cleanup(o.Close)
	return o
}

// listen opens a port of the machine for this process.
func (m *machine) listen(address string) net.Listener {
	m.net.t.Helper()
	var l net.Listener
	m.inside(func() (err error) {
		l, err = net.Listen("tcp4", address)
		return err
	})
	return l
}

// inside runs what opens sockets or devices of the machine for this process:
// they stay in the namespace of the thread that made them.
func (m *machine) inside(open func() error) {
	m.net.t.Helper()
	if _, ok := setns[runtime.GOARCH]; !ok {
		lacking(m.net.t, "netns", "entering a namespace is unknown on %s", runtime.GOARCH)
	}
	must(m.net.t, m.enter(open))
}

// setns is the system call that package syscall does not name.
var setns = map[string]uintptr{"amd64": 308, "arm64": 268}

// enter is inside, for any goroutine.
func (m *machine) enter(open func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // for ever: the thread ends with this goroutine
		f, err := os.Open("/run/netns/" + m.space)
		if err != nil {
			done <- err
			return
		}
		defer f.Close()
		if _, _, errno := syscall.Syscall(setns[runtime.GOARCH], f.Fd(), syscall.CLONE_NEWNET, 0); errno != 0 {
			done <- errno
			return
		}
		done <- open()
	}()
	return <-done
}

// letIn is how many packets from another machine the router before m let in.
func (m *machine) letIn(from *machine) int {
	m.net.t.Helper()
	out, err := exec.Command("ip", "netns", "exec", m.space+"-router", "nft", "list", "chain", "ip", "home", "count").CombinedOutput()
	if err != nil {
		m.net.t.Fatalf("nft: %v: %s", err, out)
	}
	_, after, _ := strings.Cut(string(out), "ip saddr "+from.addr+" counter packets ")
	count, _, _ := strings.Cut(after, " ")
	packets, err := strconv.Atoi(count)
	if err != nil {
		m.net.t.Fatalf("nft says %s", out)
	}
	return packets
}

// multicasts is how many packets the machine sent to everybody around it.
func (m *machine) multicasts() int {
	m.net.t.Helper()
	out, err := m.command("cat", "/proc/net/netstat").CombinedOutput()
	if err != nil {
		m.net.t.Fatalf("%v: %s", err, out)
	}
	return multicastsIn(m.net.t, string(out))
}
