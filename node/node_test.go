package node

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/client"
	"github.com/feedring/feedring/internal/web"
)

// peerConfig is a peer on loopback that publishes one feed which no fetch ever
// reaches: entries are handed to its publisher.
func peerConfig(t testing.TB, provider string, join ...*Node) Config {
	cfg := Default()
	cfg.Data, cfg.Network, cfg.HTTP, cfg.Logger = t.TempDir(), "test", "off", quiet
	cfg.Listen = []string{"/ip4/127.0.0.1/udp/0/quic-v1"}
	cfg.Refresh, cfg.Interval = 500*time.Millisecond, time.Hour
	cfg.Feeds = []feedring.FeedSpec{{URL: "http://127.0.0.1:1/" + provider, Theme: testTheme, Provider: feedring.Provider(provider)}}
	for _, n := range join {
		cfg.Join = append(cfg.Join, n.Started().Addrs[0])
	}
	return cfg
}

func startPeer(t testing.TB, cfg Config) *Node {
	t.Helper()
	n, err := Start(context.Background(), cfg)
	check(t, err)
	t.Cleanup(func() { kill(n) })
	return n
}

// kill ends a peer that tells nobody.
func kill(n *Node) {
	n.closing.Do(func() { n.closed = n.release() })
}

func formed(t testing.TB, nodes ...*Node) {
	t.Helper()
	eventually(t, "one group", func() bool {
		first := nodes[0].loop.View().Groups[testTheme]
		for _, n := range nodes {
			c := n.loop.View().Groups[testTheme]
			if len(c.Peers) != len(nodes) || c.Manager != first.Manager || c.Manager == "" {
				return false
			}
		}
		return len(nodes) == 1 || first.Secondary != ""
	})
}

func (n *Node) testPublish(from, to int) error {
	spec := n.cfg.Feeds[0]
	list := entries(from, to)
	for i := range list {
		list[i].ID = feedring.NewEntryID(spec.URL, list[i].Title, "", "")
		list[i].Title += " of " + string(spec.Provider)
	}
	return n.effects.publisher.Publish(context.Background(), spec, list)
}

// TestPeersGoOn follows while peers are killed: the manager first, then whoever
// serves. Nothing is lost, nothing shown twice.
func TestPeersGoOn(t *testing.T) {
	a := startPeer(t, peerConfig(t, "a.example"))
	b := startPeer(t, peerConfig(t, "b.example", a))
	c := startPeer(t, peerConfig(t, "c.example", a, b))
	formed(t, a, b, c)
	reader, err := client.New(t.Context(), client.Config{
		Network: "test", Peers: []string{c.Started().Addrs[0], b.Started().Addrs[0]}, Logger: quiet,
	})
	check(t, err)
	defer reader.Close()
	var mu sync.Mutex
	shown := map[string]int{}
	begun := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = reader.Follow(ctx, feedring.Query{Theme: testTheme}, client.FollowOptions{
			First: func(client.Answer) error { close(begun); return nil },
		}, func(e feedring.Entry, _ feedring.Cursor) error {
			mu.Lock()
			defer mu.Unlock()
			shown[e.Title]++
			return nil
		})
	}()
	<-begun
	count := func() int { mu.Lock(); defer mu.Unlock(); return len(shown) }
	check(t, b.testPublish(1, 5))
	eventually(t, "5 entries shown", func() bool { return count() == 5 })
	kill(a)
	check(t, b.testPublish(6, 10))
	check(t, c.testPublish(1, 5))
	eventually(t, "15 entries shown", func() bool { return count() == 15 })
	eventually(t, "a new manager", func() bool {
		m := c.loop.View().Groups[testTheme].Manager
		return m != "" && m != a.ID()
	})
	cancel()
	<-ended
	for title, times := range shown {
		if times != 1 {
			t.Errorf("%q was shown %d times", title, times)
		}
	}
}

// TestCloseUnderLoad closes a peer that publishes, is asked and is followed.
func TestCloseUnderLoad(t *testing.T) {
	a := startPeer(t, peerConfig(t, "a.example"))
	b := startPeer(t, peerConfig(t, "b.example", a))
	formed(t, a, b)
	var busy sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for range 10 {
		busy.Go(func() {
			_ = a.Follow(ctx, web.Ask{Query: feedring.Query{Theme: testTheme}}, func(web.Update) error { return nil })
		})
		busy.Go(func() {
			for ctx.Err() == nil {
				_, _ = a.Query(ctx, web.Ask{Query: feedring.Query{Theme: testTheme}})
			}
		})
	}
	busy.Go(func() {
		for n := 0; ctx.Err() == nil; n += 10 {
			_ = a.effects.publisher.Publish(ctx, a.cfg.Feeds[0], entries(n, n+9))
		}
	})
	eventually(t, "load", func() bool { return a.Status().Entries > 100 && a.Status().Clients > 5 })
	began := time.Now()
	check(t, a.Close(context.Background()))
	// What each step may take adds up to two seconds; slow machines add to it.
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("closed after %s", took)
	}
	check(t, a.Close(context.Background()))
	cancel()
	busy.Wait()
	eventually(t, "the other one manages", func() bool {
		return b.loop.View().Groups[testTheme].Manager == b.ID()
	})
}

// eventLog keeps what it is told.
type eventLog struct {
	mu     sync.Mutex
	events []Event
}

func (l *eventLog) Take(e Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, e)
}

func TestPeerAlone(t *testing.T) {
	cfg := peerConfig(t, "a.example")
	cfg.HTTP, cfg.Feeds, cfg.AllowPrivateFeeds = "127.0.0.1:0", nil, true
	var told eventLog
	cfg.Events = &told
	n := startPeer(t, cfg)
	if !n.Ready() {
		t.Error("a peer without feeds waits for nothing")
	}
	spec := feedring.FeedSpec{URL: "http://127.0.0.1:1/p", Provider: "p"}
	check(t, addFeed(t, n, spec))
	check(t, n.effects.publisher.Publish(t.Context(), spec, entries(1, 3)))
	got, err := n.Query(t.Context(), web.Ask{Private: true})
	if err != nil || len(got.Entries) != 3 {
		t.Errorf("private: %d entries, %v", len(got.Entries), err)
	}
	if got, _ = n.Query(t.Context(), web.Ask{}); len(got.Entries) != 0 {
		t.Errorf("%d private entries told", len(got.Entries))
	}
	ctx, cancel := context.WithCancel(t.Context())
	var first, later int
	var at feedring.Cursor
	_ = n.Follow(ctx, web.Ask{Private: true}, func(u web.Update) error {
		switch {
		case u.Final != nil:
			return n.effects.publisher.Publish(ctx, spec, entries(4, 4))
		case u.Cursor == nil && later == 0:
			first++
		default:
			at = u.Cursor
			later++
			cancel()
		}
		return nil
	})
	if first+later != 4 {
		t.Errorf("followed %d and %d entries, up to %v", first, later, at)
	}
	theme := feedring.FeedSpec{URL: "http://127.0.0.1:1/q", Provider: "q", Theme: testTheme}
	check(t, addFeed(t, n, theme))
	eventually(t, "a role", n.Ready)
	check(t, n.Close(context.Background()))
	told.mu.Lock()
	defer told.mu.Unlock()
	events := told.events
	if len(events) < 2 || events[0].Event != "ready" || !strings.HasPrefix(events[0].HTTP, "http://127.0.0.1:") {
		t.Errorf("events %+v", events)
	}
}

func TestStartLeavesNothingBehind(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	defer taken.Close()
	running := startPeer(t, peerConfig(t, "a.example"))
	before := runtime.NumGoroutine()
	for _, test := range []struct {
		name   string
		change func(*Config)
		want   string
	}{
		{"flag", func(c *Config) { c.Refresh = 0 }, "refresh 0s"},
		{"port in use", func(c *Config) { c.HTTP = taken.Addr().String() }, "address already in use"},
		{"locked", func(c *Config) { c.Data = running.cfg.Data }, running.cfg.Data},
		{"listen", func(c *Config) { c.Listen = []string{"nonsense"} }, "listen \"nonsense\""},
		{"identity", func(c *Config) {
			check(t, os.WriteFile(filepath.Join(c.Data, "identity.key"), []byte("x"), 0o600))
		}, "identity"},
		{"twice", func(c *Config) {
			again := c.Feeds[0]
			again.Theme = "sport"
			c.Feeds = append(c.Feeds, again)
		}, "twice"},
		{"data", func(c *Config) {
			c.Data = filepath.Join(c.Data, "file")
			check(t, os.WriteFile(c.Data, nil, 0o600))
		}, "data directory"},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg := peerConfig(t, "b.example")
			test.change(&cfg)
			n, err := Start(t.Context(), cfg)
			if err == nil {
				kill(n)
				t.Fatal("it started")
			}
			if !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("the error is %q", err)
			}
			if _, err := os.Stat(cfg.SocketFile()); err == nil && cfg.Data != running.cfg.Data {
				t.Error("the socket is still there")
			}
		})
	}
	eventually(t, fmt.Sprintf("%d goroutines as before", before), func() bool { return runtime.NumGoroutine() <= before+5 })
	if _, err := os.Stat(running.cfg.SocketFile()); err != nil {
		t.Errorf("the running peer lost its socket: %v", err)
	}
}
