package integration

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// frontProxy is a proxy before a peer's page, which may answer in its stead.
type frontProxy struct {
	*httptest.Server
	mu      sync.Mutex
	status  int // answered instead of the peer; 0: none
	after   int // its Retry-After, seconds; 0: none
	refused []time.Time
}

func newFrontProxy(t testing.TB, to string) *frontProxy {
	target, err := url.Parse(to)
	must(t, err)
	behind := &httputil.ReverseProxy{
		FlushInterval: -1,
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ErrorHandler:  func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	p := &frontProxy{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		status, after := p.status, p.after
		if status != 0 {
			p.refused = append(p.refused, time.Now())
		}
		p.mu.Unlock()
		switch {
		case status == 0:
			behind.ServeHTTP(w, r)
		case after > 0:
			w.Header().Set("Retry-After", fmt.Sprint(after))
			fallthrough
		default:
			w.WriteHeader(status)
		}
	}))
	t.Cleanup(func() {
		p.CloseClientConnections()
		p.Close()
	})
	return p
}

// answer makes the proxy answer so, and ends all that is open.
func (p *frontProxy) answer(status, after int) {
	p.mu.Lock()
	p.status, p.after, p.refused = status, after, nil
	p.mu.Unlock()
	if status != 0 {
		p.CloseClientConnections()
	}
}

// tries are the times at which something was refused.
func (p *frontProxy) tries() []time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.refused)
}

// live waits until the page follows.
func (p *tab) live() {
	p.t.Helper()
	p.until("a stream", "document.getElementById('live-state').textContent === 'Live'")
}

// TestPageReconnects: whatever a proxy answers in the peer's place, the page asks
// again, ever less often and not before it may, and then shows what came
// meanwhile, once.
func TestPageReconnects(t *testing.T) {
	t.Parallel()
	o, news := newOrigin(t), newFeed("news", 2)
	n := newNetwork(t, "300ms")
	p := n.peer(nil, "news=news@"+o.feed(news))
	until(t, 20*time.Second, "entries", func() bool { return len(n.query(p, "--theme", "news").entries()) == 2 })
	proxy := newFrontProxy(t, p.http)
	v := openBrowser(t, newBeacon(t)).tab(1280, false)
	v.open(proxy.URL + "/?theme=news")
	v.live()
	want := []string{"news story 0", "news story 1"}
	for _, test := range []struct{ status, after int }{{502, 0}, {429, 4}, {503, 0}} {
		proxy.answer(test.status, test.after)
		v.until("the loss told", "document.getElementById('live-state').textContent === 'Connection lost, trying again'")
		until(t, 30*time.Second, "another try", func() bool { return len(proxy.tries()) >= 2 })
		tries := proxy.tries()
		if gap := tries[1].Sub(tries[0]); gap < time.Second || gap < time.Duration(test.after)*time.Second {
			t.Errorf("%d: asked again after %v, Retry-After is %d", test.status, gap, test.after)
		}
		title := fmt.Sprint("while it answered ", test.status)
		news.add(title, "x", time.Time{})
		until(t, 20*time.Second, "the entry at the peer", func() bool {
			return strings.Contains(string(call(t, p, "GET", "/api/v1/entries?theme=news", "").body), title)
		})
		proxy.answer(0, 0)
		want = append([]string{title}, want...)
		until(t, 40*time.Second, "the entry on the page", func() bool { return strings.HasPrefix(v.titles(), title) })
		v.live()
		if got := v.titles(); got != strings.Join(want, ", ") {
			t.Errorf("shown are %s, want %q", got, want)
		}
	}
	v.picture("live")
}

// TestPageCutOff: a page whose peer reaches nobody says so, and shows what the
// peer holds, also when it is loaded then; and it says when that is over.
func TestPageCutOff(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	n := newNetwork(t, "300ms")
	p := n.peer(nil, "news=one@"+o.feed(newFeed("one", 2)))
	q := n.peer([]*peer{p}, "news=two@"+o.feed(newFeed("two", 2)))
	r := n.peer([]*peer{p}, "sport=sport@"+o.feed(newFeed("sport", 2)))
	n.formed(map[string]int{"news": 2, "sport": 1}, p, q, r)
	until(t, 20*time.Second, "entries", func() bool { return p.entriesHeld(t) == 4 })
	v := openBrowser(t, newBeacon(t)).tab(1280, false)
	v.open(p.http + "/")
	v.live()
	if v.eval("document.getElementById('reach').hidden") != true {
		t.Errorf("a peer in company says %q", v.str("document.getElementById('reach').textContent"))
	}
	q.signal(syscall.SIGSTOP)
	r.signal(syscall.SIGKILL)
	<-r.done
	const cut = "document.getElementById('reach').checkVisibility() && document.getElementById('reach').textContent.includes('reaches no other peer')"
	v.until("the cut told", "document.getElementById('live-state').textContent === 'Cut off' && "+cut)
	v.open(p.http + "/")
	if v.eval(cut) != true {
		t.Error("a page that is loaded now does not say so")
	}
	for _, title := range []string{"one story 0", "one story 1", "two story 0", "two story 1"} {
		if got := v.titles(); strings.Count(got, title) != 1 {
			t.Errorf("%s is not shown once: %s", title, got)
		}
	}
	v.until("the state told", "document.getElementById('live-state').textContent === 'Cut off'")
	v.picture("cutoff")
	v.whole("cut off")
	q.signal(syscall.SIGCONT)
	v.live()
	v.until("the note gone", "!document.getElementById('reach').checkVisibility()")

	n.start(r)
	n.formed(map[string]int{"news": 2, "sport": 1}, p, q, r)
	v.open(p.http + "/?theme=sport")
	v.live()
	r.signal(syscall.SIGKILL)
	v.until("the wait told", "document.getElementById('live-state').textContent === 'Waiting' && document.getElementById('reach').textContent.includes('sport')")
}

// TestPageTellsOlder: to a page that is open a feed with a history is one line, and
// what is new in it then is a card; loaded again, the page has all by date.
func TestPageTellsOlder(t *testing.T) {
	t.Parallel()
	o, old := newOrigin(t), backlog("old", 60, true)
	n := newNetwork(t, "300ms")
	p := n.peer(nil, "news=known@"+o.feed(newFeed("known", 2)))
	until(t, 20*time.Second, "entries", func() bool { return p.entriesHeld(t) == 2 })
	v := openBrowser(t, newBeacon(t)).tab(360, false)
	v.open(p.http + "/?theme=news")
	v.live()
	shows := func(when, want string) {
		t.Helper()
		if got := v.str("[...document.getElementById('entries').children].map(l => (l.querySelector('h4') || l).textContent).join(', ')"); got != want {
			t.Errorf("%s, the list is %q, want %q", when, got, want)
		}
	}
	shows("at first", "known story 0, known story 1")
	p.addFeed(t, o.feed(old), 60, "--theme", "news")
	const older = "document.getElementById('entries').textContent.includes('older')"
	v.until("the line", older)
	shows("with a feed added", "60 older entries of 127.0.0.1, known story 0, known story 1")
	v.picture("older")
	old.add("new in it", "x", time.Time{})
	v.until("what is new", "document.getElementById('entries').textContent.includes('new in it')")
	shows("with what is new", "new in it, 60 older entries of 127.0.0.1, known story 0, known story 1")
	v.whole("older entries")
	v.open(p.http + "/?theme=news&limit=4")
	shows("loaded again", "new in it, known story 0, known story 1, old of 2018, 59")
	v.live()
	if v.eval(older) == true {
		t.Error("loaded again, the page tells of older entries")
	}
}

// TestPageText: what a publisher wrote is read as it was meant, at most four
// lines of a title, each story once, and nothing is claimed of a site's peer;
// from the server and live alike.
func TestPageText(t *testing.T) {
	t.Parallel()
	const code = "Use <code>Vec&lt;String&gt;</code> and the <code>&lt;details&gt;</code> element"
	const read = "Use Vec<String> and the <details> element"
	o, code1 := newOrigin(t), newFeed("code", 1)
	code1.add(code, code, time.Time{})
	code1.add(strings.Repeat("A title that does not end ", 100), "x", time.Now().Add(-time.Minute))
	one, two := newFeed("wire", 1), newFeed("wire", 1) // their entries link the same pages
	english := func() []byte {
		return bytes.Replace(code1.render(), []byte("<channel>"), []byte("<channel><language>en</language>"), 1)
	}
	n := newNetwork(t, "300ms")
	p := n.peer(nil, "news=code@"+o.bytes("code", "application/rss+xml", english), "news=one@"+o.bytes("one", "application/rss+xml", one.render), "news=two@"+o.bytes("two", "application/rss+xml", two.render))
	until(t, 20*time.Second, "entries", func() bool { return p.entriesHeld(t) == 5 })
	v := openBrowser(t, newBeacon(t)).tab(360, false)
	v.open(p.http + "/?theme=news")
	v.live()
	readsWell := func(what string) {
		t.Helper()
		got := v.str("(l => l.querySelector('h4').textContent + ' | ' + l.querySelector('p:not(.meta)').textContent)([...document.querySelectorAll('#entries li')].find(l => l.textContent.includes('Use')))")
		if got != read+" | "+read {
			t.Errorf("%s: %q", what, got)
		}
		if n := strings.Count(v.titles(), "wire story 0"); n != 1 {
			t.Errorf("%s: one story is shown %d times: %s", what, n, v.titles())
		}
	}
	readsWell("from the server")
	if high := v.num("Math.max(...[...document.querySelectorAll('#entries h4')].map(h => h.getBoundingClientRect().height))"); high > 130 {
		t.Errorf("a title is %d pixels high", high)
	}
	v.picture("text-phone")
	if text := v.str("document.getElementById('feeds').textContent"); strings.Contains(text, "runs a peer of its own") || !strings.Contains(text, "checked ") || !strings.Contains(text, "s ago") {
		t.Errorf("the cards say %s", text)
	}
	v.open(p.http + "/?theme=news&q=nothing+of+that")
	v.live()
	if text := v.str("document.getElementById('no-entries').textContent"); text != "Nothing matches." {
		t.Errorf("an empty answer: %q", text)
	}
	v.open(p.http + "/?theme=news&q=titles")
	if titles := v.titles(); titles != "" {
		t.Errorf("without other forms, found are %s", titles)
	}
	v.eval("document.getElementById('query-stem').click(), document.forms[0].requestSubmit()")
	v.arrive()
	if titles := v.titles(); !strings.HasPrefix(titles, "A title that does not end") || v.eval("document.getElementById('query-stem').checked") != true {
		t.Errorf("with other forms, found are %q", titles)
	}
	v.live()
	v.eval("document.getElementById('live-pause').click()")
	if text := v.str("document.getElementById('live-pause').textContent"); text != "Resume" {
		t.Errorf("a page that pauses offers to %q", text)
	}
	v.open(p.http + "/?theme=news&q=details+OR+late")
	v.live()
	v.eval("document.querySelectorAll('#entries li').forEach(l => l.remove())")
	code1.add(code+" ", code+".", time.Time{}) // the first one's address was another
	one.add("late story", "x", time.Time{})
	v.until("the live entry", "document.getElementById('entries').textContent.includes('late story')")
	two.add("late story", "x", time.Time{})
	code1.add("the last, late", "x", time.Time{})
	v.until("the last one", "document.getElementById('entries').textContent.includes('the last, late')")
	until(t, 20*time.Second, "both at the peer", func() bool { return p.entriesHeld(t) == 9 })
	if n := strings.Count(v.titles(), "late story"); n != 1 {
		t.Errorf("live: one story is shown %d times: %s", n, v.titles())
	}
	if n := strings.Count(v.titles(), read); n != 1 {
		t.Errorf("live: %s", v.titles())
	}
	v.whole("text")
}

// TestPageIsAccessible checks the rules that a machine can: with the whole of
// axe-core where FEEDRING_AXE names its file, and in any case that headings
// follow one another and that a link is called as it is labelled.
func TestPageIsAccessible(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	n := newNetwork(t, "300ms")
	p := n.peer(nil, "news=news@"+o.feed(newFeed("news", 2)), "sport=sport@"+o.feed(newFeed("sport", 2)))
	until(t, 20*time.Second, "entries", func() bool { return p.entriesHeld(t) == 4 })
	v := openBrowser(t, newBeacon(t)).tab(1280, false)
	for path, title := range map[string]string{"/": "", "/?theme=news": "news · feedring", "/group/news": "news · feedring", "/nothing/here": "Not Found · feedring"} {
		v.open(p.http + path)
		if got := v.str("document.title"); title != "" && got != title {
			t.Errorf("%s is called %q", path, got)
		}
		levels := v.str("[...document.querySelectorAll('h1, h2, h3, h4')].map(h => h.tagName[1]).join('')")
		for i := range levels {
			if i > 0 && levels[i] > levels[i-1]+1 || i == 0 && levels[i] != '1' {
				t.Errorf("%s: headings go %s", path, levels)
			}
		}
		if wrong := v.str("[...document.querySelectorAll('a[aria-label], button[aria-label], summary[aria-label]')].filter(e => !e.getAttribute('aria-label').toLowerCase().includes(e.textContent.trim().toLowerCase())).map(e => e.outerHTML).join()"); wrong != "" {
			t.Errorf("%s: labels that do not say what is read: %s", path, wrong)
		}
		axe(t, v, path)
	}
	v.wrong() // the browser calls the last answer's status an error
	for _, path := range []string{"/favicon.ico", "/favicon.svg"} {
		if r := call(t, p, "GET", path, ""); r.code != 200 {
			t.Errorf("%s: %v", path, r)
		}
	}
	v.open(p.http + "/?teme=news&since=0")
	v.wrong()
	seesProblem(v, "query-problem")
	v.open(p.http + "/?teme=news")
	if text := v.str("document.querySelector('#search .note').textContent"); !strings.Contains(text, `"teme"`) || !strings.Contains(text, "did you mean theme?") {
		t.Errorf("an unknown parameter: %q", text)
	}
}

// axe runs axe-core, if it is there.
func axe(t testing.TB, v *tab, what string) {
	t.Helper()
	file := os.Getenv("FEEDRING_AXE")
	if file == "" {
		return
	}
	script, err := os.ReadFile(file)
	must(t, err)
	v.do("Runtime.evaluate", object{"expression": string(script)}, nil)
	if wrong := v.str("axe.run().then(r => r.violations.map(v => v.id + ': ' + v.nodes.map(n => n.html).join(' ')).join('\\n'))"); wrong != "" {
		t.Errorf("%s: axe found\n%s", what, wrong)
	}
}
