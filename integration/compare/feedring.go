package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// peer is one "feedring serve".
type peer struct {
	ID    string   `json:"peer"`
	Addrs []string `json:"addrs"`
	HTTP  string   `json:"http"`
	token string
}

// group starts peers of the theme news. The first publishes the feeds of an
// origin; the others keep what it publishes.
func (b *bench) group(peers int, o *origin) (all []*peer) {
	for i := range peers {
		var args []string
		if i > 0 {
			args = []string{"--read", "news", "--join", all[0].Addrs[0]}
		} else {
			for feed := range o.feeds {
				args = append(args, "--feed", "news=compare@"+o.URL+path(feed))
			}
		}
		all = append(all, b.peer(args...))
	}
	b.until(startWithin, "one group with the first entries", func() bool {
		for _, p := range all {
			var c struct {
				Manager, Secondary string
				Peers              []struct{}
			}
			_ = p.get("catalog/news", &c)
			if len(c.Peers) != peers || c.Manager == "" || peers > 1 && c.Secondary == "" || p.entries() != o.count() {
				return false
			}
		}
		return true
	})
	return all
}

// peer starts a peer and waits until it is ready. An hour's interval keeps its
// own fetches out of what is measured.
func (b *bench) peer(args ...string) *peer {
	data := filepath.Join(b.dir, fmt.Sprintf("peer%d", len(b.running)))
	ready := make(chan *peer, 1)
	b.start(func(line string) {
		if strings.Contains(line, `"event":"ready"`) {
			p := &peer{}
			_ = json.Unmarshal([]byte(line), p)
			ready <- p
		}
	}, b.feedring, append([]string{"serve", "--json", "--data", data, "--network", "compare", "--allow-private-feeds", "--interval", "1h",
		"--http", "127.0.0.1:0", "--listen", "/ip4/127.0.0.1/udp/0/quic-v1", "--listen", "/ip4/127.0.0.1/tcp/0"}, args...)...)
	b.until(startWithin, "a peer", func() bool { return len(ready) > 0 })
	p := <-ready
	if len(p.Addrs) == 0 || p.HTTP == "" {
		check(fmt.Errorf("the ready line of %s has no addresses: build it from this tree", b.feedring))
	}
	p.token = strings.TrimSpace(string(must(os.ReadFile(filepath.Join(data, "token")))))
	return p
}

// get reads a path of the API.
func (p *peer) get(path string, into any) error {
	resp, err := http.Get(p.HTTP + "/api/v1/" + path)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return json.NewDecoder(resp.Body).Decode(into)
}

// entries is how many the peer's store holds, -1 if it does not say.
func (p *peer) entries() int {
	status := struct{ Entries int }{-1}
	_ = p.get("status", &status)
	return status.Entries
}

// ping has the peer fetch a feed now, and returns when it did.
func (p *peer) ping(url string) {
	req := must(http.NewRequest(http.MethodPost, p.HTTP+"/api/v1/ping", bytes.NewReader(fmt.Appendf(nil, `{"url":%q}`, url))))
	req.Header.Set("Authorization", "Bearer "+p.token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Prefer", "wait=120")
	resp := must(http.DefaultClient.Do(req))
	defer resp.Body.Close()
	if said := must(io.ReadAll(resp.Body)); resp.StatusCode != http.StatusOK {
		check(fmt.Errorf("ping: %s: %s", resp.Status, said))
	}
}
