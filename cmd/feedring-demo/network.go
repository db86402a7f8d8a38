package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/feedring/feedring"
)

const peers, memberships = 7, 9

// network is the peers, and the directory that holds what they keep.
type network struct {
	binary, dir string
	out         io.Writer
	peers       []*child
	names       map[feedring.PeerID]string
	running     sync.WaitGroup
	dead        chan *child     // those that ended
	ctx         context.Context // of the peers: they end with it
	stop        context.CancelFunc
}

func newNetwork(binary string, out io.Writer) (*network, error) {
	dir, err := os.MkdirTemp("", "feedring-demo-")
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	return &network{
		binary: binary, dir: dir, out: out, names: make(map[feedring.PeerID]string), dead: make(chan *child, peers), ctx: ctx, stop: stop,
	}, nil
}

// start starts the peers, which join through the first.
func (n *network) start(from *origin) error {
	fmt.Fprintf(n.out, "Origin: %d feeds of invented newspapers at %s\n", len(from.papers), from.base)
	for i := 1; i <= peers; i++ {
		var names []string
		args := []string{
			"serve", "--json", "--config", os.DevNull, "--data", filepath.Join(n.dir, strconv.Itoa(i)),
			"--log-level", "warn", "--network", "demo", "--listen", "/ip4/127.0.0.1/udp/0/quic-v1", "--listen", "/ip4/127.0.0.1/tcp/0",
			"--http", "127.0.0.1:0", "--allow-private-feeds", "--refresh", "2s", "--interval", "2s",
		}
		for _, p := range from.papers {
			if p.Peer == i {
				names, args = append(names, p.Name), append(args, "--feed", fmt.Sprintf("%s=%s@%s/%s", p.Theme, p.provider(), from.base, p.Name))
			}
		}
		if i > 1 {
			args = append(args, "--join", n.peers[0].start.Addrs[0])
		}
		c, err := n.run(fmt.Sprint("peer ", i), args)
		if err != nil {
			return err
		}
		n.peers = append(n.peers, c)
		n.names[c.start.Peer] = c.name
		fmt.Fprintf(n.out, "Peer %d is up: %s, process %d, publishes %s\n", i, c.start.HTTP, c.cmd.Process.Pid, strings.Join(names, ", "))
	}
	return nil
}

// contact is the peer that readers of the demo ask: the last that runs.
func (n *network) contact() *child { return n.peers[len(n.peers)-1] }

// ended tells of a peer that has ended, and how to see who took its place. The
// error is of the last peer.
func (n *network) ended(c *child, binary string) error {
	n.peers = slices.DeleteFunc(n.peers, func(p *child) bool { return p == c })
	if len(n.peers) == 0 {
		return c.failed("ended by itself, and no peer is left")
	}
	fmt.Fprintf(n.out, "  %s; the others go on. Who manages its groups now (a takeover may need some seconds):\n\n  %s ring --api %s\n\n",
		c.failed("ended by itself"), binary, n.contact().start.HTTP)
	return nil
}

// settle waits until every group has all its peers, a manager and a secondary.
func (n *network) settle(ctx context.Context) (groups []feedring.RingGroup, err error) {
	late := time.After(time.Minute)
	for !complete(groups) {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case c := <-n.dead:
			return nil, c.failed("ended by itself")
		case <-late:
			return nil, fmt.Errorf("the groups were not complete within a minute: %+v", groups)
		case <-time.After(200 * time.Millisecond):
		}
		if resp, err := http.Get(n.contact().start.HTTP + "/api/v1/ring"); err == nil {
			groups = nil
			_ = json.NewDecoder(resp.Body).Decode(&groups) // else the next time
			_ = resp.Body.Close()
		}
	}
	return groups, nil
}

func complete(groups []feedring.RingGroup) bool {
	members := 0
	for _, g := range groups {
		if g.Manager == "" || g.Secondary == "" {
			return false
		}
		members += g.Peers
	}
	return members == memberships
}

// close ends all processes and removes what they kept.
func (n *network) close() error {
	if len(n.peers) > 0 {
		fmt.Fprintf(n.out, "\nStopping %d peers.\n", len(n.peers))
	}
	n.stop()
	n.running.Wait()
	return os.RemoveAll(n.dir)
}

// child is one running process.
type child struct {
	name  string // for people: "peer 3"
	cmd   *exec.Cmd
	log   strings.Builder
	start struct { // the event that a peer prints when it is ready
		Peer  feedring.PeerID `json:"peer"`
		Addrs []string        `json:"addrs"`
		HTTP  string          `json:"http"`
	}
}

// run starts a peer, and waits for the event that says that it is ready.
func (n *network) run(name string, args []string) (*child, error) {
	c, lines, err := n.begin(name, args)
	if err != nil {
		return nil, err
	}
	if lines.Decode(&c.start) != nil {
		_ = c.cmd.Wait() // how it ended shows in its log
		return nil, c.failed("ended at once")
	}
	n.watch(c, lines, func(arrival) {})
	return c, nil
}

// begin starts the program. When the network is closed it is told to end, and
// killed five seconds later.
func (n *network) begin(name string, args []string) (*child, *json.Decoder, error) {
	c := &child{name: name, cmd: exec.CommandContext(n.ctx, n.binary, args...)}
	c.cmd.Cancel = func() error { return c.cmd.Process.Signal(syscall.SIGTERM) }
	c.cmd.WaitDelay = 5 * time.Second
	c.cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "FEEDRING_") })
	c.cmd.Stderr = &c.log
	out, err := c.cmd.StdoutPipe()
	if err = errors.Join(err, c.cmd.Start()); err != nil {
		return nil, nil, fmt.Errorf("%s cannot be started: run \"make build\", or name it with -feedring: %w", n.binary, err)
	}
	return c, json.NewDecoder(out), nil
}

// watch calls each for every line, and tells when the process has ended.
func (n *network) watch(c *child, lines *json.Decoder, each func(arrival)) {
	n.running.Go(func() {
		for a := (arrival{}); lines.Decode(&a) == nil; a = (arrival{}) {
			each(a)
		}
		_ = c.cmd.Wait()
		select {
		case n.dead <- c:
		case <-n.ctx.Done():
		}
	})
}

// failed shows the end of the log of a peer that has ended, if it logged anything.
func (c *child) failed(what string) error {
	log := strings.TrimSpace(c.log.String())
	if log == "" {
		return fmt.Errorf("%s %s", c.name, what)
	}
	return fmt.Errorf("%s %s; the end of its log:\n%s", c.name, what, log[max(0, len(log)-1000):])
}
