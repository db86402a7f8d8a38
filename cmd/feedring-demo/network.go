package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/feedring/feedring"
)

const (
	networkName  = "demo"
	refresh      = "2s"
	settleWithin = 60 * time.Second
	lookEvery    = 200 * time.Millisecond
)

// layout says which papers each peer publishes: four groups, each with two
// peers or more, and peers that are in two.
var layout = [][]string{
	{"harbour-courier", "tidewell-post"},
	{"echo-du-canal"},
	{"lindenauer-bote", "wetterwarte-lindenau"},
	{"backyard-observatory", "petits-savants"},
	{"moorforschung", "ruderverein-lindenau"},
	{"tidewell-athletic", "velo-club-canal"},
	{"harbour-weather"},
}

// network is the peers, and where they keep what they need.
type network struct {
	binary string
	dir    string
	peers  []*child
	asks   http.Client
}

func newNetwork(binary string) (*network, error) {
	dir, err := os.MkdirTemp("", "feedring-demo-")
	if err != nil {
		return nil, err
	}
	// An empty file keeps the settings of this machine's user out.
	n := &network{binary: binary, dir: dir, asks: http.Client{Timeout: 5 * time.Second}}
	return n, os.WriteFile(n.config(), nil, 0o600)
}

func (n *network) config() string { return filepath.Join(n.dir, "empty.toml") }

// start starts the first peer, then the others, which join through it.
func (n *network) start(ctx context.Context, from *origin, out io.Writer) error {
	var join []string
	for i, names := range layout {
		c, err := n.startPeer(i+1, from, names, join)
		if err != nil {
			return err
		}
		n.peers = append(n.peers, c)
		if i == 0 {
			if err := c.await(ctx); err != nil {
				return err
			}
			join = c.start.Addrs
		}
	}
	for i, c := range n.peers {
		if err := c.await(ctx); err != nil {
			return err
		}
		fmt.Fprintf(out, "%s is up: %s, publishes %s\n", title(c.name), c.start.HTTP, strings.Join(layout[i], ", "))
	}
	return nil
}

func (n *network) startPeer(number int, from *origin, names, join []string) (*child, error) {
	dir := filepath.Join(n.dir, strconv.Itoa(number))
	args := []string{
		"serve", "--json", "--config", n.config(), "--data", dir, "--log-level", "warn", "--network", networkName,
		"--listen", "/ip4/127.0.0.1/udp/0/quic-v1", "--listen", "/ip4/127.0.0.1/tcp/0", "--http", "127.0.0.1:0",
		"--allow-private-feeds", "--refresh", refresh, "--interval", "2s",
	}
	for _, address := range join {
		args = append(args, "--join", address)
	}
	for _, p := range from.papers {
		for _, name := range names {
			if p.name == name {
				args = append(args, "--feed", fmt.Sprintf("%s=%s@%s/%s", p.theme, p.provider(), from.base, p.file()))
			}
		}
	}
	return startChild(n.binary, fmt.Sprint("peer ", number), dir, args)
}

// contact is the peer that readers of the demo ask. It manages no news, so it
// survives what -crash does.
func (n *network) contact() *child { return n.peers[len(n.peers)-1] }

// nameOf is what the demo calls a peer.
func (n *network) nameOf(id feedring.PeerID) string {
	for _, c := range n.peers {
		if c.start.Peer == id {
			return c.name
		}
	}
	return id.Short()
}

// ring asks the contact for the groups.
func (n *network) ring(ctx context.Context) (groups []feedring.RingGroup, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, n.contact().start.HTTP+"/api/v1/ring", nil)
	if err != nil {
		return nil, err
	}
	resp, err := n.asks.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", req.URL, resp.Status)
	}
	return groups, json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&groups)
}

// settle waits until every group has all its peers, a manager and a secondary.
func (n *network) settle(ctx context.Context) ([]feedring.RingGroup, error) {
	return n.waitRing(ctx, "the groups to be complete", complete)
}

func complete(groups []feedring.RingGroup) bool {
	want := map[feedring.Theme]int{"news": 3, "science": 2, "sport": 2, "weather": 2}
	for _, g := range groups {
		if g.Peers != want[g.Theme] || g.Manager == "" || g.Secondary == "" {
			return false
		}
		delete(want, g.Theme)
	}
	return len(want) == 0
}

// waitRing looks at the ring until it is as wanted.
func (n *network) waitRing(ctx context.Context, what string, ok func([]feedring.RingGroup) bool) ([]feedring.RingGroup, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, settleWithin, fmt.Errorf("waited %s for %s", settleWithin, what))
	defer cancel()
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		groups, err := n.ring(ctx)
		if err == nil && ok(groups) {
			return groups, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%w; last seen: %+v, %v", context.Cause(ctx), groups, err)
		case <-n.contact().done:
			return nil, n.contact().failed("ended")
		case <-ticker.C:
		}
	}
}

// ended returns the name of a peer that ended by itself.
func (n *network) ended() error {
	for _, c := range n.peers {
		select {
		case <-c.done:
			if !c.ending.Load() {
				return c.failed("ended by itself")
			}
		default:
		}
	}
	return nil
}

// close ends all peers and removes what they kept.
func (n *network) close(out io.Writer) error {
	fmt.Fprintf(out, "\nStopping %d peers.\n", len(n.peers))
	n.asks.CloseIdleConnections()
	for _, late := range stopAll(n.peers) {
		fmt.Fprintf(out, "%s did not end within five seconds and was killed.\n", title(late.name))
	}
	return os.RemoveAll(n.dir)
}

func title(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
