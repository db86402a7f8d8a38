package main

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/node"
)

// growing is an origin whose one feed grows.
type growing struct {
	mu    sync.Mutex
	items []string
}

func (g *growing) add(title string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.items = append(g.items, title)
}

func (g *growing) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	w.Header().Set("Content-Type", "application/rss+xml")
	fmt.Fprint(w, `<rss version="2.0"><channel><title>G</title>`)
	for _, title := range g.items {
		fmt.Fprintf(w, `<item><guid isPermaLink="false">%s</guid><title>%s</title></item>`, title, title)
	}
	fmt.Fprint(w, `</channel></rss>`)
}

// alonePeer runs a peer with one feed and returns its address and directory.
func alonePeer(t *testing.T, feed string) (address, data string) {
	cfg := node.Default()
	cfg.Network = "small"
	cfg.Data, cfg.HTTP, cfg.Listen = t.TempDir(), "off", []string{"/ip4/127.0.0.1/tcp/0"}
	cfg.AllowPrivateFeeds, cfg.Interval, cfg.Refresh = true, 100*time.Millisecond, time.Second
	cfg.Logger = slog.New(slog.DiscardHandler)
	spec, err := feedring.ParseFeedSpec("news=grow@" + feed)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Feeds = append(cfg.Feeds, spec)
	n, err := node.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := n.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return n.Started().Addrs[0], cfg.Data
}

// printed runs a command that must end well and returns the titles it printed.
func printed(t *testing.T, args ...string) []string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := run(args, &stdout, &stderr); code != 0 {
		t.Fatalf("%q: exit %d: %s", args, code, &stderr)
	}
	var titles []string
	for line := range strings.Lines(stdout.String()) {
		if cells := strings.Split(line, "\t"); len(cells) > 2 {
			titles = append(titles, cells[2])
		}
	}
	return titles
}

// Three entries at a time under a name, over the network and through a running
// peer: each is printed once, whether --count ends within the first answer,
// with it, or with what came later.
func TestCountAndResume(t *testing.T) {
	for _, way := range []string{"network", "socket"} {
		t.Run(way, func(t *testing.T) {
			g := &growing{}
			for i := range 5 {
				g.add(fmt.Sprintf("old %d", i))
			}
			origin := httptest.NewServer(g)
			defer origin.Close()
			address, data := alonePeer(t, origin.URL)
			args := []string{"follow", "--theme", "news", "--resume", "name", "--data", data, "--timeout", "20s"}
			if way == "network" {
				args = append(args, "--data", t.TempDir(), "--peer", address, "--network", "small")
			}
			ready := append([]string{"query", "--theme", "news"}, args[5:]...)
			for start := time.Now(); len(printed(t, ready...)) < 5; {
				if time.Since(start) > 20*time.Second {
					t.Fatal("the peer has no five entries")
				}
			}
			seen := make(map[string]int)
			total := 0
			for _, count := range []int{3, 1, 3, 2, 1} {
				if total >= 4 {
					for range count {
						g.add(fmt.Sprintf("new %d", len(g.items)))
					}
				}
				for _, title := range printed(t, append(args, "--count", fmt.Sprint(count), "--since", fmt.Sprintf("%dh", 1+count))...) {
					seen[title]++
					total++
				}
				if way == "network" { // the name is enough from then on
					args = slices.Clone(args[:11])
				}
			}
			if total != 10 || len(seen) != 10 {
				t.Errorf("%d printed, %d different: %v", total, len(seen), seen)
			}
		})
	}
}
