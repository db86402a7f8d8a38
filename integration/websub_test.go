package integration

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// callback is a WebSub subscriber that confirms everything.
type callback struct {
	*httptest.Server
	mu    sync.Mutex
	code  int // of its answers to contents
	modes []string
	lease string
	got   []posted
}

type posted struct {
	header http.Header
	body   string
}

func newCallback(t testing.TB) *callback {
	c := &callback{code: 204}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

func (c *callback) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.Method == http.MethodGet {
		q := r.URL.Query()
		c.modes, c.lease = append(c.modes, q.Get("hub.mode")), q.Get("hub.lease_seconds")
		_, _ = io.WriteString(w, q.Get("hub.challenge"))
		return
	}
	b, _ := io.ReadAll(r.Body)
	c.got = append(c.got, posted{r.Header, string(b)})
	w.WriteHeader(c.code)
}

func (c *callback) answer(code int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.code = code
}

// contents are those that hold a text.
func (c *callback) contents(text string) (all []posted) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.got {
		if strings.Contains(p.body, text) {
			all = append(all, p)
		}
	}
	return all
}

func (c *callback) asked() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.modes, " ")
}

// websub sends a form to a peer's hub.
func websub(t testing.TB, p *peer, mode, topic, callback string, more ...string) reply {
	t.Helper()
	form := url.Values{"hub.mode": {mode}, "hub.topic": {topic}, "hub.callback": {callback}}
	for i := 0; i < len(more); i += 2 {
		form.Set(more[i], more[i+1])
	}
	return call(t, p, "POST", "/hub", form.Encode(), header("Content-Type", "application/x-www-form-urlencoded"))
}

// TestWebSub subscribes to an own feed and to a personal feed by what their
// documents name, and gets what is new, over a kill of the peer.
func TestWebSub(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	news, secret := newFeed("news", 1), newFeed("secret", 1)
	topic := o.feed(news)
	n := newNetwork(t, "300ms")
	p := n.peer(nil, "news=news@"+topic)
	until(t, 20*time.Second, "entries", func() bool { return len(n.query(p, "--theme", "news").entries()) == 1 })
	sub := command(t, "subscription", "add", "--json", "--data", p.data, "fresh OR newer OR newest").objects[0]
	personal := sub.str("atom")
	links := fetch(t, personal).header.Get("Link")
	if !strings.Contains(links, `<`+personal+`>; rel="self"`) || !strings.Contains(links, `<`+p.http+`/hub>; rel="hub"`) {
		t.Fatalf("Link: %s", links)
	}
	if r := call(t, p, "POST", "/api/v1/feeds", `{"url":"`+o.feed(secret)+`"}`, p.token(t)); r.code != 201 {
		t.Fatal(r)
	}

	own, private := newCallback(t), newCallback(t)
	for _, r := range []reply{
		websub(t, p, "subscribe", topic, own.URL+"/?a=b", "hub.secret", "s3cret", "hub.lease_seconds", "3155760000"),
		websub(t, p, "subscribe", personal, private.URL),
	} {
		if r.code != 202 {
			t.Fatal(r)
		}
	}
	until(t, 10*time.Second, "verification", func() bool { return own.asked() == "subscribe" && private.asked() == "subscribe" })
	if own.lease != "2592000" {
		t.Errorf("a century became %s", own.lease)
	}
	hidden, none := websub(t, p, "subscribe", o.URL+"/secret", own.URL), websub(t, p, "subscribe", o.URL+"/nothing", own.URL)
	if hidden.code != 404 || hidden.String() != none.String() {
		t.Errorf("a private feed can be told from none: %v, %v", hidden, none)
	}

	// As titles: the interest's words stand in the personal feed's own title.
	news.add("fresh", "x", time.Time{})
	until(t, 20*time.Second, "the content", func() bool { return len(own.contents(">fresh<")) > 0 && len(private.contents(">fresh<")) > 0 })
	got := own.contents(">fresh<")[0]
	mac := hmac.New(sha256.New, []byte("s3cret"))
	mac.Write([]byte(got.body))
	if got.header.Get("X-Hub-Signature") != "sha256="+hex.EncodeToString(mac.Sum(nil)) {
		t.Errorf("signature %q", got.header.Get("X-Hub-Signature"))
	}
	if want := `<` + p.http + `/hub>; rel="hub", <` + topic + `>; rel="self"`; got.header.Get("Link") != want {
		t.Errorf("Link %s, want %s", got.header.Get("Link"), want)
	}
	if kind := got.header.Get("Content-Type"); !strings.Contains(kind, "xml") || !strings.HasPrefix(got.body, "<?xml") {
		t.Errorf("%s: %s", kind, tail(got.body))
	}
	if kind := private.contents(">fresh<")[0].header.Get("Content-Type"); kind != "application/atom+xml; charset=utf-8" {
		t.Error(kind)
	}

	p.kill()
	p.args = append(p.args, "--http", strings.TrimPrefix(p.http, "http://"))
	n.start(p)
	news.add("newer", "x", time.Time{})
	until(t, 20*time.Second, "the content after a restart", func() bool { return len(own.contents(">newer<")) > 0 && len(private.contents(">newer<")) > 0 })

	// A forged unsubscribe is no unsubscribe, a 410 is.
	forged := httptest.NewServer(http.NotFoundHandler())
	defer forged.Close()
	if r := websub(t, p, "unsubscribe", topic, forged.URL); r.code != 202 {
		t.Error(r)
	}
	private.answer(410)
	news.add("newest", "x", time.Time{})
	until(t, 20*time.Second, "the content", func() bool { return len(own.contents(">newest<")) > 0 && len(private.contents(">newest<")) > 0 })
	private.answer(204)
	news.add("newer still", "x", time.Time{})
	until(t, 20*time.Second, "the content", func() bool { return len(own.contents(">newer still<")) > 0 })
	if n := len(private.contents(">newer still<")); n > 0 {
		t.Error("told after a 410")
	}

	// A personal feed that is revoked has no subscribers.
	websub(t, p, "subscribe", personal, private.URL)
	until(t, 10*time.Second, "verification", func() bool { return private.asked() == "subscribe subscribe" })
	command(t, "subscription", "remove", sub.str("id"), "--data", p.data)
	until(t, 10*time.Second, "denial", func() bool { return private.asked() == "subscribe subscribe denied" })
	if r := websub(t, p, "subscribe", personal, private.URL); r.code != 404 {
		t.Error(r)
	}
}

// wordpress is the ping that WordPress 6 sends to an "Update Service": with the
// site's home page, and the feed last.
func wordpress(site string) string {
	return `<?xml version="1.0"?>
<methodCall>
<methodName>weblogUpdates.extendedPing</methodName>
<params>
<param><value><string>A blog</string></value></param>
<param><value><string>` + site + `/</string></value></param>
<param><value><string>` + site + `/a-post/</string></value></param>
<param><value><string>` + site + `/feed/</string></value></param>
</params></methodCall>
`
}

// TestPings has a peer that looks once an hour look at once, by each of the ways
// in which publishing tools say that something is new.
func TestPings(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	news, secret := newFeed("news", 1), newFeed("secret", 1)
	n := newNetwork(t, "300ms", "--interval", "1h")
	topic := o.feed(news)
	p := n.peer(nil, "news=news@"+topic)
	until(t, 20*time.Second, "entries", func() bool { return len(n.query(p, "--theme", "news").entries()) == 1 })
	if r := call(t, p, "POST", "/api/v1/feeds", `{"url":"`+o.feed(secret)+`"}`, p.token(t)); r.code != 201 {
		t.Fatal(r)
	}
	until(t, 20*time.Second, "the private feed", func() bool { return o.hits("secret", 0) > 0 })

	form := header("Content-Type", "application/x-www-form-urlencoded")
	looks := o.hits("secret", 0)
	for i, ping := range []func() reply{
		func() reply { return call(t, p, "POST", "/RPC2", wordpress(o.URL), header("Content-Type", "text/xml")) },
		func() reply {
			return call(t, p, "POST", "/hub", url.Values{"hub.mode": {"publish"}, "hub.url": {topic}}.Encode(), form)
		},
	} {
		title := "news of way " + string(rune('a'+i))
		news.add(title, "x", time.Time{})
		r := ping()
		if r.code/100 != 2 || strings.Contains(string(r.body), "fault") || strings.Contains(string(r.body), "<boolean>1") {
			t.Fatal(r)
		}
		until(t, 20*time.Second, title, func() bool {
			found := n.query(p, "--theme", "news", "--limit", "1").entries()
			return len(found) == 1 && found[0].str("title") == title
		})
	}
	for _, address := range []string{o.URL + "/secret", o.URL + "/nothing"} {
		if r := call(t, p, "POST", "/hub", url.Values{"hub.mode": {"publish"}, "hub.url": {address}}.Encode(), form); r.code != 404 {
			t.Errorf("%s: %v", address, r)
		}
	}
	if n := o.hits("secret", 0); n != looks {
		t.Errorf("a stranger had a private feed looked at %d times", n-looks)
	}
	if r := call(t, p, "POST", "/RPC2", wordpress(o.URL), header("Origin", "https://evil.example"), header("Sec-Fetch-Site", "cross-site")); r.code != 403 {
		t.Errorf("a page of another origin: %v", r)
	}
}

// TestWatchedFile publishes by writing a file: nothing is fetched, and the feed
// keeps its file over a kill.
func TestWatchedFile(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	news := newFeed("news", 1)
	path := filepath.Join(t.TempDir(), "feed.xml")
	publish := func() {
		t.Helper()
		if err := os.WriteFile(path+".new", news.render(), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	n := newNetwork(t, "300ms", "--interval", "1h")
	p := n.peer(nil)
	if r := command(t, "feed", "add", o.URL+"/news", "--theme", "news", "--file", path, "--data", p.data); r.code != 0 {
		t.Fatal(r)
	}
	until(t, 20*time.Second, "what is wrong", func() bool {
		return strings.Contains(command(t, "feed", "list", "--json", "--data", p.data).stdout, "no such file")
	})
	shows := func(title string) {
		t.Helper()
		until(t, 20*time.Second, title, func() bool {
			found := n.query(p, "--theme", "news", "--limit", "1").entries()
			return len(found) == 1 && found[0].str("title") == title && found[0].str("feed") == o.URL+"/news"
		})
	}
	publish()
	shows("news story 0")
	news.add("by a file", "x", time.Time{})
	publish()
	shows("by a file")
	p.kill()
	n.start(p)
	news.add("after a kill", "x", time.Time{})
	publish()
	shows("after a kill")
	if n := o.hits("news", 0); n > 0 {
		t.Errorf("the origin was asked %d times", n)
	}
	if r := call(t, p, "GET", "/api/v1/status", ""); strings.Contains(string(r.body), path) {
		t.Error("everybody is told the path")
	}
	if r := call(t, p, "POST", "/api/v1/feeds", `{"url":"https://a.example/","theme":"news","file":"/etc/passwd"}`); r.code != 401 {
		t.Error(r)
	}
	if r := call(t, p, "POST", "/api/v1/feeds", `{"url":"https://a.example/","theme":"news","file":"feed.xml"}`, p.token(t)); r.code != 400 {
		t.Error(r)
	}
}

// TestHubElsewhere has a peer learn from another's hub, which the feed names,
// what it would look for an hour later only.
func TestHubElsewhere(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	news := newFeed("news", 1)
	var hub string
	topic := o.bytes("news", "application/rss+xml", func() []byte {
		link := `<channel><atom:link xmlns:atom="http://www.w3.org/2005/Atom" rel="hub" href="` + hub + `"/>`
		return []byte(strings.Replace(string(news.render()), "<channel>", link, 1))
	})
	n := newNetwork(t, "300ms", "--interval", "1h")
	p := n.peer(nil)
	hub = p.http + "/hub"
	if r := call(t, p, "POST", "/api/v1/feeds", `{"url":"`+topic+`","theme":"news"}`, p.token(t)); r.code != 201 {
		t.Fatal(r)
	}
	other := newNetwork(t, "300ms", "--interval", "1h") // no peer that would tell it
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()
	q := other.prepare(nil, "news=news@"+topic)
	q.args = append(q.args, "--http", address, "--public-url", "http://"+address)
	other.start(q)
	shows := func(p *peer, title string) {
		t.Helper()
		until(t, 20*time.Second, title, func() bool {
			found := n.query(p, "--theme", "news", "--limit", "1").entries()
			return len(found) == 1 && found[0].str("title") == title
		})
	}
	shows(p, "news story 0")
	shows(q, "news story 0")
	form := header("Content-Type", "application/x-www-form-urlencoded")
	// It is not told from outside when a subscription is confirmed, so the feed
	// goes on publishing.
	count := 0
	until(t, 30*time.Second, "news by the other's hub", func() bool {
		count++
		news.add(fmt.Sprint("news ", count), "x", time.Time{})
		if r := call(t, p, "POST", "/hub", url.Values{"hub.mode": {"publish"}, "hub.url": {topic}}.Encode(), form); r.code/100 != 2 && r.code != 429 {
			t.Fatal(r)
		}
		return len(n.query(q, "--theme", "news").entries()) > 1
	})
}
