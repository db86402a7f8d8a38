package client_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/node"
)

// examplePeer is a peer of the network "example" on this machine, which publishes
// the entries of one site in the group "news".
type examplePeer struct {
	Addr string // for client.Config.Peers

	node   *node.Node
	site   *httptest.Server
	data   string
	mu     sync.Mutex
	titles []string
}

// startExamplePeer returns when the entries can be found.
func startExamplePeer(titles ...string) *examplePeer {
	p := &examplePeer{titles: titles}
	p.site = httptest.NewServer(http.HandlerFunc(p.feed))
	var err error
	if p.data, err = os.MkdirTemp("", "feedring-example"); err != nil {
		panic(err)
	}
	cfg := node.Default()
	cfg.Data, cfg.Network, cfg.HTTP, cfg.Logger = p.data, "example", "off", slog.New(slog.DiscardHandler)
	cfg.Listen, cfg.AllowPrivateFeeds = []string{"/ip4/127.0.0.1/udp/0/quic-v1"}, true
	cfg.Refresh, cfg.Interval = 500*time.Millisecond, 100*time.Millisecond
	cfg.Feeds = []feedring.FeedSpec{{URL: p.site.URL + "/feed", Theme: "news", Provider: "observatory"}}
	if p.node, err = node.Start(context.Background(), cfg); err != nil {
		panic(err)
	}
	p.Addr = p.node.Started().Addrs[0]
	for look := time.NewTicker(5 * time.Millisecond); !p.node.Ready() || p.node.Status().Entries < len(titles); {
		<-look.C
	}
	return p
}

// Publish adds an entry to the site, where the peer finds it.
func (p *examplePeer) Publish(title string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.titles = append(p.titles, title)
}

func (p *examplePeer) feed(w http.ResponseWriter, _ *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var items strings.Builder
	for i, title := range p.titles {
		at := time.Now().Add(time.Duration(i-len(p.titles)) * time.Minute)
		fmt.Fprintf(&items, "<item><title>%s</title><link>%s/%d</link><guid>%d</guid><pubDate>%s</pubDate></item>",
			title, p.site.URL, i, i, at.Format(time.RFC1123Z))
	}
	_, _ = io.WriteString(w, "<rss version=\"2.0\"><channel><title>Observatory</title>"+items.String()+"</channel></rss>")
}

func (p *examplePeer) Close() {
	_ = p.node.Close(context.Background())
	p.site.Close()
	_ = os.RemoveAll(p.data)
}
