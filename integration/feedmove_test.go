package integration

import (
	"bufio"
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// movingSite is a site that answers by http and https at one address, and writes
// its own address into guids and links, as many generators do.
type movingSite struct {
	address string // host:port

	mu        sync.Mutex
	titles    []string // the oldest first
	at        string   // the path where the feed is
	redirects bool     // http leads to https for good
	asked     map[string]int
}

// newMovingSite has the peers that are started later trust its certificate.
func newMovingSite(t *testing.T, titles ...string) *movingSite {
	t.Helper()
	s := &movingSite{titles: titles, at: "/feed.xml", asked: make(map[string]int)}
	sample := httptest.NewTLSServer(nil)
	certificate := sample.TLS.Certificates[0]
	root := filepath.Join(t.TempDir(), "root.pem")
	must(t, os.WriteFile(root, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: sample.Certificate().Raw}), 0o600))
	sample.Close()
	t.Setenv("SSL_CERT_FILE", root)
	both, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	s.address = both.Addr().String()
	plain, secure := newHandOver(both.Addr()), newHandOver(both.Addr())
	go func() {
		for {
			c, err := both.Accept()
			if err != nil {
				return
			}
			go func() {
				r := bufio.NewReader(c)
				switch first, err := r.Peek(1); {
				case err != nil:
					_ = c.Close()
				case first[0] == 0x16: // a TLS handshake
					secure.conns <- peeked{c, r}
				default:
					plain.conns <- peeked{c, r}
				}
			}()
		}
	}()
	servers := []*http.Server{{Handler: s}, {Handler: s}}
	go func() { _ = servers[0].Serve(plain) }()
	go func() {
		_ = servers[1].Serve(tls.NewListener(secure, &tls.Config{Certificates: []tls.Certificate{certificate}}))
	}()
	t.Cleanup(func() {
		_ = both.Close()
		for _, server := range servers {
			_ = server.Close()
		}
	})
	return s
}

// handOver is a listener for connections that another one took.
type handOver struct {
	addr  net.Addr
	conns chan net.Conn
	done  chan struct{}
	close sync.Once
}

func newHandOver(addr net.Addr) *handOver {
	return &handOver{addr: addr, conns: make(chan net.Conn), done: make(chan struct{})}
}

func (h *handOver) Accept() (net.Conn, error) {
	select {
	case c := <-h.conns:
		return c, nil
	case <-h.done:
		return nil, net.ErrClosed
	}
}
func (h *handOver) Close() error   { h.close.Do(func() { close(h.done) }); return nil }
func (h *handOver) Addr() net.Addr { return h.addr }

// peeked is a connection of which a byte was looked at.
type peeked struct {
	net.Conn
	r *bufio.Reader
}

func (p peeked) Read(b []byte) (int, error) { return p.r.Read(b) }

func (s *movingSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	scheme := "http://"
	if r.TLS != nil {
		scheme = "https://"
	}
	s.asked[scheme+s.address+r.URL.Path]++
	switch {
	case r.URL.Path != s.at:
		http.NotFound(w, r)
		return
	case s.redirects && r.TLS == nil:
		http.Redirect(w, r, "https://"+s.address+s.at, http.StatusMovedPermanently)
		return
	}
	var b strings.Builder
	b.WriteString(`<?xml version="1.0"?><rss version="2.0"><channel><title>Moving</title><link>` + scheme + s.address + `/</link><description>x</description>`)
	for i := len(s.titles) - 1; i >= 0; i-- {
		link := fmt.Sprintf("%s%s/%d", scheme, s.address, i)
		fmt.Fprintf(&b, "<item><title>%s</title><guid>%s</guid><link>%s</link></item>", s.titles[i], link, link)
	}
	b.WriteString("</channel></rss>")
	w.Header().Set("Content-Type", "application/rss+xml")
	_, _ = w.Write([]byte(b.String()))
}

// change alters the site.
func (s *movingSite) change(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
}

func (s *movingSite) publish(title string) { s.change(func() { s.titles = append(s.titles, title) }) }

// hits is how often an address was asked for.
func (s *movingSite) hits(address string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[address]
}

// ownFeed is one feed of a peer as "feed list" has it.
func ownFeed(t *testing.T, p *peer, url string) object {
	t.Helper()
	for _, f := range command(t, "feed", "list", "--json", "--data", p.data).objects {
		if f.str("url") == url {
			return f
		}
	}
	return nil
}

// goesOn waits for a new entry of a feed that moved, and checks that nothing was
// shown twice, that its name and path are what they were, and where it is now.
func goesOn(t *testing.T, n *network, p *peer, r *process, s *movingSite, front, first, now string) {
	t.Helper()
	title := fmt.Sprintf("news %d", len(s.titles))
	s.publish(title)
	until(t, 20*time.Second, title, func() bool { return titlesShown(t, r)[title] == 1 })
	for title, times := range titlesShown(t, r) {
		if times != 1 {
			t.Errorf("the follower was shown %q %d times", title, times)
		}
	}
	entries := n.query(p, "--theme", "news").entries()
	for _, e := range entries {
		if e.str("feed") != first {
			t.Errorf("an entry is of the feed %s", e.str("feed"))
		}
	}
	if len(entries) != len(s.titles) {
		t.Errorf("%d entries of %d", len(entries), len(s.titles))
	}
	f := ownFeed(t, p, first)
	if f.str("fetched") != now || f.str("error") != "" || !strings.HasSuffix(f.str("front"), front) {
		t.Errorf("the feed is %v", f)
	}
	until(t, 10*time.Second, "the document", func() bool { return strings.Contains(string(call(t, p, "GET", front, "").body), title) })
	r2 := call(t, p, "GET", front, "")
	if got := links(t, r2.body)["self"]; got != now {
		t.Errorf("self is %s, want %s", got, now)
	}
}

// TestFromHTTPToHTTPS: the same feed, with its path, its history and its identity,
// by whichever way it moves.
func TestFromHTTPToHTTPS(t *testing.T) {
	for name, move := range map[string]func(*testing.T, *network, *peer, *movingSite){
		"the site redirects": func(_ *testing.T, _ *network, _ *peer, s *movingSite) { s.change(func() { s.redirects = true }) },
		"the owner adds it": func(t *testing.T, _ *network, p *peer, s *movingSite) {
			if r := command(t, "feed", "add", "--data", p.data, "--theme", "news", "https://"+s.address+"/feed.xml"); r.code != 0 || !strings.Contains(r.stdout, "https://") {
				t.Fatal(r)
			}
		},
		"the owner starts it so": func(_ *testing.T, n *network, p *peer, s *movingSite) {
			p.kill()
			for i, arg := range p.args {
				p.args[i] = strings.Replace(arg, "http://"+s.address, "https://"+s.address, 1)
			}
			p.args = append(p.args, "--join", n.peers[1].addr) // it has another port now, and the follower asks that one
			n.start(p)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newMovingSite(t, "news 0", "news 1")
			first, now := "http://"+s.address+"/feed.xml", "https://"+s.address+"/feed.xml"
			n := newNetwork(t, "300ms")
			p := n.prepare(nil, "news=127.0.0.1@"+first)
			n.start(p)
			reader := n.peer([]*peer{p})
			until(t, 20*time.Second, "entries", func() bool { return len(n.query(reader, "--theme", "news").entries()) == 2 })
			r := n.follow(reader, "--theme", "news")
			until(t, 20*time.Second, "what there is", func() bool { return len(titlesShown(t, r)) == 2 })
			front := "/f/127.0.0.1/feed.xml"
			if got := call(t, p, "GET", front, ""); got.code != 200 {
				t.Fatal(got)
			}
			move(t, n, p, s)
			if got := call(t, p, "GET", front, ""); got.code != 200 { // at once, from what is kept
				t.Fatal(got)
			}
			until(t, 20*time.Second, "a look by https", func() bool { return s.hits(now) > 0 })
			goesOn(t, n, p, r, s, front, first, now)
			s.change(func() { s.redirects = true })
			p.kill()
			n.start(p)
			goesOn(t, n, p, r, s, front, first, now)
		})
	}
}

// TestFeedMove is "feed move": the feed of one site goes on at another one.
func TestFeedMove(t *testing.T) {
	old, other := newMovingSite(t, "news 0", "news 1"), newMovingSite(t, "news 0", "news 1")
	other.change(func() { other.at = "/rss" })
	first, now := "http://"+old.address+"/feed.xml", "http://"+other.address+"/rss"
	front := "/f/moving.example/feed.xml"
	n := newNetwork(t, "300ms")
	p := n.prepare(nil, "news=moving.example@"+first)
	n.start(p)
	until(t, 20*time.Second, "entries", func() bool { return len(n.query(p, "--theme", "news").entries()) == 2 })
	r := n.follow(p, "--theme", "news")
	until(t, 20*time.Second, "what there is", func() bool { return len(titlesShown(t, r)) == 2 })
	second := newFeed("second", 1)
	o := newOrigin(t)
	if r := command(t, "feed", "add", "--data", p.data, o.feed(second)); r.code != 0 {
		t.Fatal(r)
	}

	for _, tt := range []struct{ from, to, says string }{
		{"http://" + old.address + "/none", now, "not one of this peer's feeds"},
		{first, o.URL + "/second", "is a feed of this peer's already"},
		{first, "http://" + other.address + "/none", "404"},
		{first, o.URL + "/none", "404"},
	} {
		if r := command(t, "feed", "move", "--data", p.data, tt.from, tt.to); r.code != 1 || !strings.Contains(r.stderr, tt.says) {
			t.Errorf("%s to %s: %v", tt.from, tt.to, r)
		}
	}
	if r := command(t, "feed", "move", "--data", p.data, first); r.code != 2 {
		t.Error(r)
	}
	moved := command(t, "feed", "move", "--json", "--data", p.data, first, now)
	if moved.code != 0 || moved.objects[0].str("feed") != first || moved.objects[0].str("fetched") != now {
		t.Fatal(moved)
	}
	old.change(func() { old.at = "/gone" })
	goesOn(t, n, p, r, other, front, first, now)
	if got := call(t, p, "GET", "/f/moving.example/rss", ""); got.code != 200 { // by the recipe, with the new path
		t.Error(got)
	}
	for i, topic := range []string{first, now, p.http + front} { // a callback that does not confirm is asked twice
		if r := websub(t, p, "subscribe", topic, fmt.Sprint(o.URL, "/callback", i)); r.code != 202 {
			t.Errorf("a subscription to %s: %v", topic, r)
		}
	}
	if list := command(t, "opml", "export", "--data", p.data).stdout; !strings.Contains(list, now) || strings.Contains(list, first) {
		t.Errorf("the list names %s", list)
	}
	if c := n.catalogue(p, "news"); !strings.Contains(fmt.Sprint(c), first) {
		t.Errorf("the catalogue: %v", c)
	}
	if r := command(t, "ping", "--data", p.data, now); r.code != 0 {
		t.Error(r)
	}

	// A private feed moves likewise.
	private, there := o.URL+"/second", o.bytes("third", "application/rss+xml", second.render)
	if r := command(t, "feed", "move", "--data", p.data, private, there); r.code != 0 {
		t.Fatal(r)
	}
	o.serve("second", http.NotFound)
	second.add("third time", "x", time.Time{})
	until(t, 20*time.Second, "a private entry", func() bool { return ownFeed(t, p, private).num("entries") == 2 })

	// After a restart it is the same feed, by whichever address it is named.
	for _, named := range []string{first, "moving.example@" + now, now} {
		p.kill()
		for i, arg := range p.args {
			if strings.HasPrefix(arg, "news=") {
				p.args[i] = "news=" + named
				if named == first {
					p.args[i] = "news=moving.example@" + first
				}
			}
		}
		n.start(p)
		r.kill()
		r = n.follow(p, "--theme", "news")
		goesOn(t, n, p, r, other, front, first, now)
		if f := ownFeed(t, p, private); f.str("fetched") != there || f.num("entries") != 2 || f.str("error") != "" {
			t.Errorf("the private feed is %v", f)
		}
	}

	// And back again.
	old.change(func() { old.at, old.titles = "/feed.xml", append([]string(nil), other.titles...) })
	if r := command(t, "feed", "move", "--data", p.data, now, first); r.code != 0 {
		t.Fatal(r)
	}
	goesOn(t, n, p, r, old, front, first, first)
}
