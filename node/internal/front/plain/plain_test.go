package plain_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/readerfeeds/cache"
	"github.com/feedring/feedring/internal/web"
	"github.com/feedring/feedring/node/internal/front/plain"
)

const (
	feed = "https://www.a.example/rss/all%20news.xml"
	path = "/f/a.example/rss/all%20news.xml"
	hub  = "https://a.example/hub"

	secret   = "aSecretOfItsOwner"
	personal = "/feeds/" + secret + ".atom"
)

var now = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// stack is a front of one feed: with the short way, or of net/http alone.
type stack struct {
	feeds  *cache.Cache
	addr   string
	polls  *plain.Server // nil: net/http alone
	others atomic.Int64  // connections that net/http got
	server *http.Server
}

type adapter struct{ feeds *cache.Cache }

func (a adapter) Answer(w http.ResponseWriter, r *http.Request, hub string) error {
	err := a.feeds.Answer(w, r, hub)
	if errors.Is(err, cache.ErrUnknown) {
		return web.UnservedError{}
	}
	return err
}

// owner has one personal feed.
type owner struct{ web.Personal }

func (owner) State(given string) (web.PersonalState, bool) {
	return web.PersonalState{Subscription: web.Subscription{ID: "1", Secret: secret}, Version: 7, Modified: now}, given == secret
}

func (o owner) Read(context.Context, string) (web.PersonalState, []feedring.Entry, error) {
	state, _ := o.State(secret)
	return state, []feedring.Entry{{ID: "1", Title: "one", Published: now}}, nil
}

// patient answers those, too, who have ended their side: that is how exchange waits for
// the last answer.
type patient struct{ http.Handler }

func (p patient) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.Handler.ServeHTTP(w, r.WithContext(context.WithoutCancel(r.Context())))
}

type counted struct {
	net.Listener
	count *atomic.Int64
}

func (c counted) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err == nil {
		c.count.Add(1)
	}
	return conn, err
}

func feeds(t testing.TB) *cache.Cache {
	t.Helper()
	r, err := cache.Open(cache.Config{Dir: t.TempDir(), Now: func() time.Time { return now }, Always: web.Always()})
	check(t, err)
	if got := r.Offer(feed, "a.example"); got != path {
		t.Fatal(got)
	}
	r.Offer("https://www.a.example/none.xml", "a.example")
	take(r, "1")
	return r
}

func take(r *cache.Cache, items ...string) {
	var b strings.Builder
	b.WriteString("<?xml version=\"1.0\"?>\n<rss version=\"2.0\"><channel><title>A</title>")
	for _, item := range items {
		fmt.Fprintf(&b, "\n<item><guid>%s</guid><title>%[1]s</title><description>%s</description></item>", item, strings.Repeat("words of the entry ", 20))
	}
	r.Take(feed, cache.Fetched{Body: []byte(b.String() + "\n</channel></rss>"), ContentType: "text/xml", At: now})
}

func start(t testing.TB, short bool) *stack {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	return startAt(t, l, short)
}

func startAt(t testing.TB, l net.Listener, short bool) *stack {
	s := &stack{feeds: feeds(t), addr: l.Addr().String()}
	log := slog.New(slog.DiscardHandler)
	cfg := web.Config{Front: adapter{s.feeds}, Personal: owner{}, PublicURL: "https://a.example", Address: s.addr, Hub: "/hub", Logger: log}
	site := web.Handler(cfg)
	for _, ending := range []string{"atom", "rss", "json"} { // made ready
		site.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "http://a.example/feeds/"+secret+"."+ending, nil))
	}
	s.server = &http.Server{
		Handler: patient{site}, ReadHeaderTimeout: plain.HeadWithin, IdleTimeout: plain.IdleWithin, MaxHeaderBytes: plain.MaxHead,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	if short {
		s.polls = plain.Serve(l, s.feeds, site, cfg.HubAddress(), log)
		l = s.polls.Rest()
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = s.server.Serve(counted{l, &s.others}) // ends by being closed
	}()
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if s.polls != nil {
			s.polls.Close(ctx)
		}
		_ = s.server.Close()
		<-ended
	})
	return s
}

// exchange sends parts, one after the other, ends its side, and reads to the end.
func (s *stack) exchange(t testing.TB, parts ...string) string {
	t.Helper()
	c, err := net.Dial("tcp", s.addr)
	check(t, err)
	defer c.Close()
	check(t, c.SetDeadline(time.Now().Add(time.Minute)))
	for _, part := range parts {
		if _, err := io.WriteString(c, part); err != nil {
			break // refused before its end
		}
	}
	_ = c.(*net.TCPConn).CloseWrite()
	got, err := io.ReadAll(c)
	check(t, err)
	return string(got)
}

// normal is a series of answers without Date, with each header in order.
func normal(answers string) string {
	var b strings.Builder
	for answers != "" {
		head, rest, whole := strings.Cut(answers, "\r\n\r\n")
		if !whole || !strings.HasPrefix(answers, "HTTP/") {
			i := strings.Index(answers[1:], "HTTP/1.") + 1
			if i == 0 {
				i = len(answers)
			}
			b.WriteString(answers[:i])
			answers = answers[i:]
			continue
		}
		lines := strings.Split(head, "\r\n")
		slices.Sort(lines[1:])
		for _, line := range lines {
			if !strings.HasPrefix(line, "Date: ") {
				b.WriteString(line + "\n")
			}
		}
		b.WriteString("\n")
		answers = rest
	}
	return b.String()
}

func get(path string, lines ...string) string {
	return "GET " + path + " HTTP/1.1\r\nHost: a.example\r\n" + strings.Join(append(lines, ""), "\r\n") + "\r\n"
}

// same holds a request against net/http alone. It returns whether the short way was
// gone to the end, and the answer.
func same(t testing.TB, short, long *stack, parts ...string) (plain bool, answer string) {
	t.Helper()
	before := short.others.Load()
	answer = normal(short.exchange(t, parts...))
	if want := normal(long.exchange(t, parts...)); answer != want {
		t.Errorf("%q\n got %q\nwant %q", strings.Join(parts, ""), answer, want)
	}
	if got, want := short.feeds.Counts(), long.feeds.Counts(); got != want {
		t.Errorf("%q: counted %v, want %v", parts, got, want)
	}
	return short.others.Load() == before, answer
}

type odd struct {
	raw    string
	plain  bool
	status string // of the first answer; empty: none
}

func odds(t testing.TB, s *stack) []odd {
	t.Helper()
	_, head, _ := strings.Cut(s.exchange(t, get(path)), "Etag: ")
	tag, _, _ := strings.Cut(head, "\r\n")
	both := get(path) + get(path, "If-None-Match: "+tag) + "HEAD" + get(path, "Connection: close")[3:]
	return []odd{
		{get(path), true, "200"},
		{"HEAD" + get(path)[3:], true, "200"},
		{get(path, "Accept-Encoding: gzip"), true, "200"},
		{get(path, "aCCEPT-eNCODING:\t br;q=0.5, gzip;q=0.1 "), true, "200"},
		{get(path, "Accept-Encoding: gzip;q=0", "Accept-Encoding: br"), true, "200"},
		{get(path, "Accept-Encoding: identity;q=0, *"), true, "200"},
		{get(path, "If-None-Match: "+tag), true, "304"},
		{get(path, `If-None-Match: "x", W/`+tag), true, "304"},
		{get(path, `If-None-Match: "x"`, "If-None-Match: *"), true, "304"},
		{"HEAD" + get(path, `If-None-Match: *`)[3:], true, "304"},
		{get(path, `If-None-Match: "x"`, "If-Modified-Since: Wed, 04 Mar 2026 12:00:00 GMT"), true, "200"},
		{get(path, "If-None-Match:", "If-Modified-Since: Wed, 04 Mar 2026 12:00:00 GMT"), true, "200"},
		{get(path, "If-Modified-Since: Wed, 04 Mar 2026 12:00:00 GMT"), true, "304"},
		{get(path, "If-Modified-Since: Wednesday, 04-Mar-26 12:00:01 GMT"), true, "304"},
		{get(path, "If-Modified-Since: Wed, 04 Mar 2026 11:59:59 GMT"), true, "200"},
		{get(path, "If-Modified-Since: soon"), true, "200"},
		{get(path, "A-IM: feed"), true, "200"},
		{get(path, "A-IM: feed", "If-None-Match: "+tag), true, "304"},
		{get(path, "Cdn-Loop: cloudflare"), true, "200"},
		{get(path, "User-Agent: Feedly/1.0 (7 subscribers)", "X-Forwarded-For: 192.0.2.1"), true, "200"},
		{get(path, "User-Agent: A/1", "User-Agent: B/1"), false, "200"},
		{get(path, "Connection: Close"), true, "200"},
		{get(path, "Connection: Keep-Alive"), true, "200"},
		{get(path, "Keep-Alive: timeout=5"), true, "200"},
		{get(path, "Connection: close, x"), false, "200"},
		{get(path, "Connection: keep-alive", "Connection: close"), false, "200"},
		{get(path, "Connection: Upgrade", "Upgrade: h2c"), false, "200"},
		{get(path, "Upgrade: websocket"), false, "200"},
		{get(path, "Expect: 100-continue"), false, "200"},
		{get(path, "Expect: nonsense"), false, "417"},
		{get(path, "Range: bytes=0-5"), false, "200"},
		{get(path, "Content-Length: 0"), false, "200"},
		{get(path, "Content-Length: 3") + "abc" + get(path), false, "200"},
		{get(path, "Transfer-Encoding: chunked") + "0\r\n\r\n" + get(path), false, "200"},
		{get(path, "Content-Length: 3", "Transfer-Encoding: chunked") + "0\r\n\r\n", false, "200"},
		{get(path, "Transfer-Encoding : chunked") + "0\r\n\r\n", false, "400"},
		{get(path, "Content-Length: -1"), false, "400"},
		{get(path, "X-Long: "+strings.Repeat("x", 10<<10)), true, "200"},
		{get(path, "X-Long: "+strings.Repeat("x", 33<<10)), false, "200"},
		{get(path, "X-Text: b\xe9p\x80"), false, "200"},
		{get(path, "X-Text: a\x00b"), false, "400"},
		{get(path, "X-Text: a\rb"), false, "400"},
		{get(path, "X Text: a"), false, "400"},
		{get(path, ": a"), false, "400"},
		{get(path, "X"), false, "400"},
		{get(path, "X: a", " folded"), false, "200"},
		{get(path, " folded"), false, "400"},
		{get(path, "Host: b.example"), false, "400"},
		{"GET " + path + " HTTP/1.1\r\n\r\n", false, "400"},
		{"GET " + path + " HTTP/1.1\r\nHost: \r\n\r\n", false, "200"},
		{"GET " + path + " HTTP/1.1\r\nHost: a b\r\n\r\n", false, "400"},
		{"GET " + path + " HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", true, "200"},
		{"GET " + path + " HTTP/1.1\nHost: a.example\n\n", false, "200"},
		{"GET " + path + " HTTP/1.1\r\nHost: a.example\n\r\n", false, "200"},
		{"GET " + path + " HTTP/1.0\r\nHost: a.example\r\n\r\n" + get(path), true, "200"},
		{"HEAD " + path + " HTTP/1.0\r\nHost: a.example\r\nConnection: Keep-Alive\r\n\r\n" + get(path), true, "200"},
		{"GET " + path + " HTTP/1.0\r\nHost: a.example\r\nConnection: close\r\n\r\n", true, "200"},
		{"GET " + path + " HTTP/1.0\r\n\r\n", false, "200"},
		{"GET " + path + " HTTP/1.2\r\nHost: a.example\r\n\r\n", false, "200"},
		{"GET " + path + " HTTP/2.0\r\nHost: a.example\r\n\r\n", false, "505"},
		{"GET  " + path + " HTTP/1.1\r\nHost: a.example\r\n\r\n", false, "400"},
		{"GET " + path + "\r\n\r\n", false, "400"},
		{"get " + path + " HTTP/1.1\r\nHost: a.example\r\n\r\n", false, "405"},
		{"GET http://a.example" + path + " HTTP/1.1\r\nHost: b.example\r\n\r\n", false, "200"},
		{"POST" + get(path)[3:], false, "405"},
		{"OPTIONS" + get("*")[3:], false, "200"},
		{"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", false, "403"},
		{"\r\n" + get(path), false, "400"},
		{get(path + "?"), true, "200"},
		{get(path + "?page=2&x=%zz"), true, "200"},
		{get(path + "#part"), false, "404"},
		{get("/f/a.example/rss/all%2"), false, "400"},
		{get("/f/a.example/rss/all%zz"), false, "400"},
		{get("/f/a.example/rss/all news.xml"), false, "400"},
		{get("/f/a.example/rss/all+news.xml"), false, "404"},
		{get("/f/a.example/rss/../rss/all%20news.xml"), false, "404"},
		{get("/f/a.example/none.xml"), false, "503"},
		{get("/f/"), false, "404"},
		{get("/f"), false, "307"},
		{get(personal, "Accept-Encoding: gzip"), true, "200"},
		{get(personal), false, "200"},
		{"HEAD" + get(personal)[3:], true, "200"},
		{get(personal, "If-None-Match: *"), true, "304"},
		{get(personal+"?x=1", "Accept-Encoding: br, GZip", "If-None-Match: \"x\""), true, "200"},
		{get(personal, "If-Modified-Since: Wed, 04 Mar 2026 12:00:00 GMT"), true, "304"},
		{get(personal, "If-None-Match:", "If-Modified-Since: Wed, 04 Mar 2026 12:00:00 GMT"), false, "200"},
		{get(personal, "Accept-Encoding: gzip", "A-IM: feed"), false, "200"},
		{get("/feeds/"+secret+".rss", "Accept-Encoding: gzip") + get("/feeds/"+secret+".json", "If-None-Match: *") + get(path), true, "200"},
		{"GET " + personal + " HTTP/1.0\r\nHost: a.example\r\nAccept-Encoding: gzip\r\n\r\n", true, "200"},
		{"GET " + personal + " HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept-Encoding: gzip\r\n\r\n", true, "200"},
		{"GET " + personal + " HTTP/1.1\r\nHost: b.example\r\nAccept-Encoding: gzip\r\n\r\n", false, "403"},
		{get("/feeds/other.atom"), false, "404"},
		{get("/feeds/" + secret), false, "404"},
		{get("/feeds/" + secret + ".txt"), false, "404"},
		{get("/feeds/" + secret + "%2eatom"), false, "200"},
		{get("/feeds/../" + personal[1:]), false, "307"},
		{get("/feeds//" + secret + ".atom"), false, "307"},
		{get(personal + "/"), false, "404"},
		{"POST" + get(personal)[3:], false, "405"},
		{both, true, "200"},
		{both + get(path), true, "200"},
		{get(path) + "POST" + get(path)[3:] + get(path), false, "200"},
		{get(path) + get("/f/none") + get(path), false, "200"},
		{get(path) + "\r\n" + get(path), false, "200"},
		{get(path) + "GET /f/a", false, "200"},
		{get(path) + "G", true, "200"},
		{get(path) + "\r\n", true, "200"},
		{get(path) + "\r\n\r\n", false, "200"},
		{"GET", false, "400"},
		{"x", false, "400"},
		{"", true, ""},
	}
}

// TestAsNetHTTP holds the short way against net/http alone, and against which
// requests it is meant for.
func TestAsNetHTTP(t *testing.T) {
	short, long := start(t, true), start(t, false)
	_ = short.exchange(t, get(path)) // as odds does
	for _, tt := range odds(t, long) {
		plain, answer := same(t, short, long, tt.raw)
		_, status, _ := strings.Cut(answer, " ")
		status, _, _ = strings.Cut(status, " ")
		if plain != tt.plain || status != tt.status {
			t.Errorf("%.200q: plain %t, %q; want %t, %q", tt.raw, plain, status, tt.plain, tt.status)
		}
	}
}

// TestOddLinesAsNetHTTP puts odd request lines, hosts and headers together.
func TestOddLinesAsNetHTTP(t *testing.T) {
	short, long := start(t, true), start(t, false)
	lines := []string{
		"GET %s HTTP/1.1", "HEAD %s HTTP/1.1", "GET %s HTTP/1.0", "HEAD %s HTTP/1.0", "PUT %s HTTP/1.0", "GET %s  HTTP/1.1", "GET %s HTTP/1.2", "GET %s HTTP/0.9", "GET %s http/1.1",
		"GET %s", " GET %s HTTP/1.1", "GET\t%s HTTP/1.1", "GET %s HTTP/1.1 ", "\nGET %s HTTP/1.1", "GET %s HTTP/1.1\nX: y", "GET %s HTTP/1.1\rX: y", "GET %s HTTP/1.10", "GET %s\x00 HTTP/1.1", "GET %s\x7f HTTP/1.1",
	}
	hosts := []string{
		"Host: a.example", "Host: localhost:80", "Host: A.EXAMPLE.", "Host: b.example", "Host:", "Host: a b", "Host: [::1]:80", "Host: a/b", "Host:a.example", "Host: x@a.example", "Host: \xe9", "X: y",
		"Host: a.example\r\nhost: a.example", "Host : a.example",
	}
	headers := []string{
		"X: y", "accept-encoding: gzip, br", "Accept-Encoding: br;q=0.5, gzip;q=0.4", "Accept-Encoding: *", "Accept-Encoding: gzip;q=0", "Accept-Encoding:", "Accept-Encoding: gzip\r\nAccept-Encoding: br",
		"Accept-Encoding:\tgzip \t", "Accept-Encoding : gzip", "If-None-Match: ,", "If-None-Match: \"x\", *", "If-Match: \"x\"", "If-Modified-Since: x", "If-Modified-Since:", "A-IM: feed\r\nIf-None-Match: *",
		"If-Modified-Since: Wed, 04 Mar 2026 12:00:00 GMT\r\nIf-Modified-Since: x", "Connection: close", "Connection: keep-alive", "Connection: close, keep-alive", "Connection:", "Connection: x",
		"Connection: keep-alive\r\nConnection: close", "Content-Length: 5", "Content-Length: 1\r\nContent-Length: 2", "Transfer-Encoding: identity", "Transfer_Encoding: chunked", "transfer-encoding: x",
		"Upgrade: h2c\r\nHTTP2-Settings: AA", "Trailer: x", "TE: trailers", "Proxy-Connection: close", "Pragma: no-cache", "Cookie: a=b", "Authorization: Bearer x", "Origin: http://other.example", "Sec-Fetch-Site: cross-site",
		"X-Forwarded-For: 198.51.100.1\r\nX-Forwarded-For: 198.51.100.2", "User-Agent:", "User-Agent: a\tb", "User-Agent: a\r\n\tb", "\tx: y", "CDN-Loop: a\r\nCDN-Loop: b", "a\x00: c", "\xe9: c", "X: a\nY: b", "X: \x7f",
		"Via: 1.1 a", "Date: now", "Expect:", "Range:", "Content-Length:", "Upgrade:",
	}
	for _, path := range []string{path, personal} {
		for _, line := range lines {
			for _, host := range hosts {
				same(t, short, long, strings.Replace(line, "%s", path, 1)+"\r\n"+host+"\r\n\r\n"+get(path))
			}
		}
		for _, line := range lines[:4] {
			for _, header := range headers {
				same(t, short, long, strings.Replace(line, "%s", path, 1)+"\r\nHost: a.example\r\n"+header+"\r\n\r\n"+get(path))
			}
		}
	}
}

// TestByteByByte sends each request a byte at a time, and in two parts.
func TestByteByByte(t *testing.T) {
	short, long := start(t, true), start(t, false)
	for _, raw := range []string{
		get(path, "Accept-Encoding: br"), get(path) + "HEAD" + get(path)[3:], get(path) + "GET / HTTP", "GET " + path + " HTTP/1.1\nHost: a\n\n",
		get(path, "Content-Length: 2") + "ab" + get(path), get(path, "X: "+strings.Repeat("x", 5<<10)),
	} {
		want, _ := same(t, short, long, raw)
		if plain, _ := same(t, short, long, strings.Split(raw, "")...); plain != want {
			t.Errorf("%q byte by byte: plain %t, want %t", raw, plain, want)
		}
		for _, at := range []int{3, 20, len(raw) / 2, len(raw) - 3, len(raw) - 1} {
			same(t, short, long, raw[:at], raw[at:])
		}
	}
}

// FuzzAsNetHTTP: whatever comes, the answer is that of net/http alone.
func FuzzAsNetHTTP(f *testing.F) {
	short, long := start(f, true), start(f, false)
	for _, tt := range odds(f, long) {
		f.Add(tt.raw)
	}
	_ = short.exchange(f, get(path)) // as odds does
	f.Fuzz(func(t *testing.T, raw string) {
		if len(raw) > 4<<10 || asksForMore(raw) {
			t.Skip("net/http would leave something unread, or needs a whole peer")
		}
		same(t, short, long, raw)
	})
}

// asksForMore reports whether raw may ask for what only a whole peer has.
func asksForMore(raw string) bool {
	for _, line := range strings.Split(raw, "\n") {
		if strings.Contains(line, "HTTP/") && !strings.Contains(line, "/f/") && !strings.Contains(line, "/feeds/") || strings.Contains(strings.ToLower(line), "text/html") {
			return true
		}
	}
	return false
}

// TestVersionsOnOneConnection asks again on a connection when there is a new version.
func TestVersionsOnOneConnection(t *testing.T) {
	s := start(t, true)
	c, err := net.Dial("tcp", s.addr)
	check(t, err)
	defer c.Close()
	tags := make(map[string]bool)
	for _, items := range [][]string{{"1"}, {"1", "2"}, {"1", "2", "3"}} {
		take(s.feeds, items...)
		_, err := io.WriteString(c, get(path))
		check(t, err)
		head, body := readAnswer(t, c)
		tags[head.Get("Etag")] = true
		if n := bytes.Count(body, []byte("<item>")); n != len(items) {
			t.Errorf("%d entries, want %d", n, len(items))
		}
	}
	if len(tags) != 3 || s.others.Load() != 0 {
		t.Errorf("tags %v, %d connections at net/http", tags, s.others.Load())
	}
	last := ""
	for tag := range tags {
		last = tag // of any version: the answer is a delta, or nothing
	}
	_, err = io.WriteString(c, get(path, "A-IM: feed", "If-None-Match: "+last))
	check(t, err)
	readAnswer(t, c)
}
