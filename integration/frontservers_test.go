package integration

import (
	"compress/gzip"
	"encoding/xml"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// recipe is the block of a language in a document, as people copy it: the first, or one
// after it.
func recipe(t testing.TB, document, language string, which int) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", document))
	must(t, err)
	blocks := regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllSubmatch(text, -1)
	if len(blocks) <= which {
		t.Fatalf("%s has %d blocks for %s", document, len(blocks), language)
	}
	return string(blocks[which][1])
}

// webServer starts a real server on a free port of loopback, by a configuration
// that write makes for it and a directory, and returns its address.
func webServer(t testing.TB, what func(dir, address string) *exec.Cmd) string {
	t.Helper()
	for range 5 { // somebody else may take the port before the server does
		free, err := net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
		address := free.Addr().String()
		must(t, free.Close())
		p := &process{cmd: what(t.TempDir(), address)}
		p.run(t)
		if answers(t, p, address) {
			return "http://" + address
		}
		t.Logf("the server ended: %s", tail(p.errors()))
	}
	t.Fatal("the server does not start")
	return ""
}

// answers waits until a server takes connections; false: it ended.
func answers(t testing.TB, p *process, address string) bool {
	t.Helper()
	ended := false
	until(t, 10*time.Second, "the server", func() bool {
		select {
		case <-p.done:
			ended = true
			return true
		default:
		}
		c, err := net.Dial("tcp", address)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
	return !ended
}

// nginxFront serves the site of an origin, with the lines of docs/publishers.md for a peer.
func nginxFront(t testing.TB, peer, origin string) string {
	t.Helper()
	program, err := exec.LookPath("nginx")
	if err != nil {
		if program, err = exec.LookPath("/usr/sbin/nginx"); err != nil {
			lacking(t, "frontservers", "nginx is not installed")
		}
	}
	at := strings.NewReplacer("127.0.0.1:7378", peer, "127.0.0.1:8080", origin)
	above, inside := at.Replace(recipe(t, "docs/publishers.md", "nginx", 0)), at.Replace(recipe(t, "docs/publishers.md", "nginx", 1))
	return webServer(t, func(dir, address string) *exec.Cmd {
		config := fmt.Sprintf("daemon off; master_process off; pid %[1]s/pid; error_log stderr;\nevents {}\nhttp {\naccess_log off;\n"+
			"client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/fastcgi; uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi;\n"+
			"%[5]s\nserver {\nlisten %[2]s;\n%[3]s\nlocation / { proxy_pass http://%[4]s; proxy_set_header Host $host; }\n}\n}\n", dir, address, inside, origin, above)
		file := filepath.Join(dir, "nginx.conf")
		must(t, os.WriteFile(file, []byte(config), 0o600))
		return exec.Command(program, "-e", "stderr", "-p", dir, "-c", file)
	})
}

// caddyFront does the same.
func caddyFront(t testing.TB, peer, origin string) string {
	t.Helper()
	program, err := exec.LookPath("caddy")
	if err != nil {
		lacking(t, "frontservers", "caddy is not installed")
	}
	return webServer(t, func(dir, address string) *exec.Cmd {
		lines := strings.NewReplacer("127.0.0.1:7378", peer, "127.0.0.1:8080", origin, "www.example.org {", "http://"+address+" {").
			Replace(recipe(t, "docs/publishers.md", "caddy", 0))
		file := filepath.Join(dir, "Caddyfile")
		must(t, os.WriteFile(file, []byte("{\n\tadmin off\n\tauto_https off\n}\n"+lines), 0o600))
		cmd := exec.Command(program, "run", "--adapter", "caddyfile", "--config", file)
		cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
		return cmd
	})
}

// links are those of an RSS document, by their rel.
func links(t testing.TB, body []byte) map[string]string {
	t.Helper()
	var doc struct {
		Links []struct {
			XMLName xml.Name
			Rel     string `xml:"rel,attr"`
			Href    string `xml:"href,attr"`
		} `xml:"channel>link"`
	}
	if err := xml.Unmarshal(body, &doc); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	all := make(map[string]string)
	for _, l := range doc.Links {
		if l.XMLName.Space == "http://www.w3.org/2005/Atom" {
			all[l.Rel] = l.Href
		}
	}
	return all
}

// siteFront is a site whose feed a peer serves behind a real web server.
type siteFront struct {
	t      *testing.T
	origin *origin
	feed   *feed
	net    *network
	peer   *peer
	url    string // of the feed at the site
}

const frontProvider = "example.org" // as in the recipes

// newSiteFront follows a recipe. Neither the server nor the peer can be started
// first with the address of the other, so the peer's is kept free meanwhile.
func newSiteFront(t *testing.T, server func(t testing.TB, peer, origin string) string) *siteFront {
	s := &siteFront{t: t, origin: newOrigin(t), feed: newFeed("feed.xml", 3), net: newNetwork(t, "300ms")}
	s.origin.feed(s.feed)
	kept, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	address := kept.Addr().String()
	site := server(t, address, strings.TrimPrefix(s.origin.URL, "http://"))
	s.url = site + "/feed.xml"
	must(t, kept.Close())
	s.peer = s.net.prepare(nil, "news="+frontProvider+"@"+s.url)
	s.peer.args = append(s.peer.args, "--http", address)
	s.net.start(s.peer)
	return s
}

func (s *siteFront) get(headers ...string) *http.Response {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), "GET", s.url, nil)
	must(s.t, err)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableCompression: true, DisableKeepAlives: true}}).Do(req)
	must(s.t, err)
	s.t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// whole reads a document that must be there.
func (s *siteFront) whole() []byte {
	s.t.Helper()
	resp := s.get()
	body, err := io.ReadAll(resp.Body)
	must(s.t, err)
	if resp.StatusCode != 200 || !strings.Contains(string(body), "feed.xml story 0") {
		s.t.Fatalf("the site answers %d: %s", resp.StatusCode, tail(string(body)))
	}
	return body
}

// isOriginal tells a document of the site from the peer's by its links.
func (s *siteFront) isOriginal() bool {
	s.t.Helper()
	return len(links(s.t, s.whole())) == 0
}

func (s *siteFront) comesFromThePeer(when string) {
	s.t.Helper()
	until(s.t, 20*time.Second, when+": the peer's document at the site", func() bool { return !s.isOriginal() })
}

// TestFrontServers follows the recipes for web servers literally, with the
// servers themselves.
func TestFrontServers(t *testing.T) {
	t.Parallel()
	for name, server := range map[string]func(testing.TB, string, string) string{"nginx": nginxFront, "caddy": caddyFront} {
		t.Run(name, func(t *testing.T) {
			s := newSiteFront(t, server)
			s.comesFromThePeer("at first")
			t.Run("links", s.linksOfASiteAlone)
			t.Run("conditions", s.conditions)
			t.Run("its own looks", s.ownLooks)
			t.Run("failures", s.failures)
			t.Run("public", s.publicAddress)
		})
	}
}

// linksOfASiteAlone: nobody said where the web reaches the peer, so nothing
// points there.
func (s *siteFront) linksOfASiteAlone(t *testing.T) {
	got := links(t, s.whole())
	if got["self"] != s.url || got["hub"] != "" {
		t.Errorf("links %v, want self %s alone", got, s.url)
	}
	if told, want := s.get().Header.Get("Link"), "<"+s.url+`>; rel="self"`; told != want {
		t.Errorf("Link: %s, want %s", told, want)
	}
	for _, f := range command(t, "check", "--json", "--allow-private-feeds", s.url).objects {
		if name := f.str("check"); name == "self" && f.str("level") != "ok" || name == "hub" && f.str("level") != "warn" {
			t.Errorf("check says %v", f)
		}
	}
}

// conditions pass through, and so does what is compressed.
func (s *siteFront) conditions(t *testing.T) {
	before := s.origin.hits("feed.xml", 0)
	resp := s.get("Accept-Encoding", "gzip")
	if resp.Header.Get("Content-Encoding") != "gzip" {
		t.Fatalf("not compressed: %v", resp.Header)
	}
	z, err := gzip.NewReader(resp.Body)
	must(t, err)
	if body, err := io.ReadAll(z); err != nil || links(t, body)["self"] != s.url {
		t.Errorf("%v: %s", err, body)
	}
	if again := s.get("Accept-Encoding", "gzip", "If-None-Match", resp.Header.Get("ETag")); again.StatusCode != 304 {
		t.Errorf("status %d for the same ETag", again.StatusCode)
	}
	for range 200 {
		s.whole()
	}
	// The peer itself looks once a second.
	if asked := s.origin.hits("feed.xml", 0) - before; asked > 50 {
		t.Errorf("the original was asked %d times", asked)
	}
}

// ownLooks reach the original, though they go to the site's address.
func (s *siteFront) ownLooks(t *testing.T) {
	s.feed.add("fresh from the site", "x", time.Time{})
	until(t, 20*time.Second, "a new entry", func() bool {
		return strings.Contains(s.net.query(s.peer, "--theme", "news", "fresh").stdout, "fresh from the site")
	})
	until(t, 10*time.Second, "a new entry at the site", func() bool { return strings.Contains(string(s.whole()), "fresh from the site") })
	for _, f := range command(t, "feed", "list", "--json", "--data", s.peer.data).objects {
		if f.str("error") != "" {
			t.Errorf("%v", f)
		}
	}
}

// failures of the peer do not reach the site's readers.
func (s *siteFront) failures(t *testing.T) {
	address := strings.TrimPrefix(s.peer.http, "http://")
	s.peer.kill()
	if !s.isOriginal() {
		t.Error("with the peer stopped, who answers?")
	}
	status := make(chan int, 1)
	hung := make(chan struct{})
	l, err := net.Listen("tcp", address)
	must(t, err)
	sick := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		code := <-status
		if code == 0 {
			<-hung
			return
		}
		w.WriteHeader(code)
	})}}
	sick.Start()
	for _, code := range []int{404, 500, 502, 503, 508, 0} {
		status <- code
		if !s.isOriginal() {
			t.Errorf("with %d from the peer, who answers?", code)
		}
	}
	close(hung)
	sick.Close()
	s.net.start(s.peer)
	s.comesFromThePeer("after a restart")
}

// publicAddress is where the web reaches the hub; the feed stays the site's.
func (s *siteFront) publicAddress(t *testing.T) {
	s.peer.kill()
	s.peer.args = append(s.peer.args, "--public-url", "https://peer.example.org")
	s.net.start(s.peer)
	until(t, 20*time.Second, "the hub in the site's feed", func() bool {
		return links(t, s.whole())["hub"] == "https://peer.example.org/hub"
	})
	if got := links(t, s.whole()); got["self"] != s.url {
		t.Errorf("links %v, want self %s", got, s.url)
	}
	callback := newCallback(t)
	form := url.Values{"hub.mode": {"subscribe"}, "hub.topic": {s.url}, "hub.callback": {callback.URL}}
	if r := call(t, s.peer, "POST", "/hub", form.Encode(), header("Content-Type", "application/x-www-form-urlencoded")); r.code != 202 {
		t.Fatal(r)
	}
	until(t, 10*time.Second, "verification", func() bool { return callback.asked() == "subscribe" })
	s.feed.add("told at once", "x", time.Time{})
	until(t, 20*time.Second, "the content", func() bool { return len(callback.contents("told at once")) > 0 })
	got := callback.contents("told at once")[0]
	if told := links(t, []byte(got.body)); told["self"] != s.url || !strings.Contains(got.header.Get("Link"), "<"+s.url+`>; rel="self"`) {
		t.Errorf("told with self %v, Link %s", told, got.header.Get("Link"))
	}
}
