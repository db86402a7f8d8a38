package integration

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// secret is p's token.
func (p *peer) secret(t testing.TB) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(p.data, "token"))
	must(t, err)
	return strings.TrimSpace(string(b))
}

// whole reports as faults whatever went wrong in the page so far, and a page
// that must be moved sideways to be read.
func (p *tab) whole(what string) {
	p.t.Helper()
	if wrong := p.wrong(); len(wrong) > 0 {
		p.t.Errorf("%s: %q", what, wrong)
	}
	if width, has := p.num("document.documentElement.scrollWidth"), p.num("innerWidth"); width > has {
		p.t.Errorf("%s: the page is %d pixels wide, and the window %d", what, width, has)
	}
}

// titles are those of the entries shown, from the top.
func (p *tab) titles() string {
	p.t.Helper()
	return p.str("[...document.querySelectorAll('#entries h4')].map(h => h.textContent).join(', ')")
}

// focused says in words what the keyboard is at.
func (p *tab) focused() string {
	p.t.Helper()
	return p.str("(e => e.getAttribute('aria-label') || e.labels?.[0]?.textContent || e.textContent.trim() || e.id)(document.activeElement)")
}

// tabTo presses Tab until the keyboard is at something, which must show it.
func (p *tab) tabTo(what string) {
	p.t.Helper()
	var passed []string
	for range 120 {
		p.press("Tab")
		at := p.focused()
		if at == what {
			if p.str("getComputedStyle(document.activeElement).outlineStyle") == "none" {
				p.t.Errorf("%s does not show that it has the focus", what)
			}
			return
		}
		passed = append(passed, at)
	}
	p.t.Fatalf("Tab does not lead to %q, but to %q", what, passed)
}

// TestPage uses the page of a peer in a real browser as its visitors and its
// owner do.
func TestPage(t *testing.T) {
	t.Parallel()
	world := newBeacon(t)
	b := openBrowser(t, world)
	o := newOrigin(t)
	news, sport, private := newFeed("news", 3), newFeed("sport", 2), newFeed("private", 1)
	n := newNetwork(t, "300ms")
	p := n.peer(nil, "news=news@"+o.feed(news), "news=gone@"+o.URL+"/gone")
	q := n.peer([]*peer{p}, "sport=sport@"+o.feed(sport))
	if r := call(t, p, "POST", "/api/v1/feeds", `{"url":"`+o.feed(private)+`"}`, p.token(t)); r.code != 201 {
		t.Fatal(r)
	}
	n.formed(map[string]int{"news": 1, "sport": 1}, p, q)
	until(t, 20*time.Second, "entries", func() bool { return len(n.query(p, "--theme", "sport").entries()) == 2 })

	visitor := b.tab(1280, false)
	visitor.open(p.http + "/")
	showsRing(t, visitor, p)
	answersQueries(t, visitor, p)
	showsLive(t, visitor, p, news)
	goesByKeyboard(t, b.tab(1280, true), p, private)
	fitsPhone(t, b.tab(360, false), p, news)
	worksWithoutScript(t, b.tab(360, true), p)
	if hosts := world.asked(); len(hosts) > 0 {
		t.Errorf("the browser asked %q", hosts)
	}
}

func showsRing(t testing.TB, v *tab, p *peer) {
	v.until("the ring drawn", "document.querySelectorAll('svg.ring a').length === 2 && document.querySelectorAll('#ring tbody tr').length === 2")
	if own := v.str("document.querySelector('svg.ring .manager').querySelector('title').textContent"); !strings.HasPrefix(own, "news: 1 peer, 2 feeds") || !strings.HasSuffix(own, "this peer is its manager") {
		t.Errorf("the own group is %q", own)
	}
	if wrong := v.str("document.querySelector('#feeds .problem').textContent"); !strings.Contains(wrong, "404") {
		t.Errorf("what went wrong with a feed: %q", wrong)
	}
	v.eval("document.querySelector('svg.ring a[href=\"group/sport\"]').dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true}))")
	v.arrive()
	if text := v.str("document.body.innerText"); !strings.Contains(text, "Group sport") || !strings.Contains(text, "sport story 0") || strings.Contains(text, "news story") {
		t.Errorf("the group's page: %s", text)
	}
	if at := v.str("[...document.querySelectorAll('.cards .from')].map(a => new URL(a.href).search).join()"); at != "?provider=sport&theme=sport" {
		t.Errorf("the catalogue leads to %q", at)
	}
	v.whole("the ring")
}

func answersQueries(t testing.TB, v *tab, p *peer) {
	v.open(p.http + "/")
	v.eval("document.getElementById('query-theme').value = 'sport', document.getElementById('query-q').value = '\"story 1\"', document.forms[0].requestSubmit()")
	v.arrive()
	if titles := v.titles(); titles != "sport story 1" {
		t.Errorf("results: %s", titles)
	}
	v.whole("results")
	v.open(p.http + "/?q=" + url.QueryEscape("(boat AND"))
	if text := v.str("document.querySelector('[role=alert]').innerText"); !strings.Contains(text, "(boat AND\n         ^") {
		t.Errorf("a query that is wrong: %q", text)
	}
	if focus := v.str("document.querySelector('[aria-invalid]').id"); focus != "query-q" {
		t.Errorf("the field that is wrong: %q", focus)
	}
	v.wrong() // the browser calls the answer's status an error
	v.open(p.http + "/")
	if text := v.str("document.documentElement.outerHTML"); strings.Contains(text, "private story") {
		t.Error("a stranger sees a private entry")
	}
}

func showsLive(t testing.TB, v *tab, p *peer, news *feed) {
	v.open(p.http + "/?theme=news")
	v.until("a stream", "document.getElementById('live-state').textContent === 'Live'")
	news.add("it happens <b>now</b>", "a &amp; b <script>c</script>", time.Time{})
	v.until("a live entry", "document.querySelector('#entries h4').textContent === 'it happens now'")
	v.eval("document.getElementById('live-pause').click()")
	news.add("while it pauses", "x", time.Time{})
	until(t, 20*time.Second, "the entry at the peer", func() bool {
		return strings.Contains(string(call(t, p, "GET", "/api/v1/entries?theme=news&q=pauses", "").body), "while it pauses")
	})
	if titles := v.titles(); strings.Contains(titles, "pauses") {
		t.Errorf("a page that pauses shows %s", titles)
	}
	v.eval("document.getElementById('live-pause').click()")
	v.until("what came meanwhile", "document.querySelector('#entries h4').textContent === 'while it pauses'")
	if titles, want := v.titles(), "while it pauses, it happens now, news story 0, news story 1, news story 2"; titles != want {
		t.Errorf("shown are %s", titles)
	}
	id := v.str("document.querySelector('#entries li').dataset.id")
	if answer := call(t, p, "DELETE", "/api/v1/entries/"+id, "", p.token(t)); answer.code/100 != 2 {
		t.Fatalf("taking an entry back: %v", answer)
	}
	v.until("the entry's end", "document.querySelector('#entries h4').textContent === 'it happens now'")
	v.whole("live")
}

// goesByKeyboard makes and revokes a personal feed, and sees what is private
// only between, with no mouse.
func goesByKeyboard(t testing.TB, v *tab, p *peer, private *feed) {
	v.open(p.http + "/")
	v.tabTo("Skip to the content")
	v.press("Enter")
	v.tabTo("Words")
	v.press(`"news story 2"`, "Enter")
	v.arrive()
	if titles := v.titles(); titles != "news story 2" {
		t.Errorf("results: %s", titles)
	}
	v.tabTo("Token, from the file token in the peer’s data directory")
	v.press("wrong", "Enter")
	v.arrive()
	seesProblem(v, "personal-problem")
	if text := v.str("document.querySelector('#personal [role=alert]').textContent"); !strings.Contains(text, "not this peer’s token") {
		t.Errorf("a wrong token: %q", text)
	}
	v.wrong() // the browser calls the answer's status an error
	v.tabTo("Token, from the file token in the peer’s data directory")
	v.press(p.secret(t), "Enter")
	v.arrive()
	if titles := v.titles(); !strings.Contains(titles, "private story 0") {
		t.Errorf("the owner sees %s", titles)
	}
	v.until("a stream", "document.getElementById('live-state').textContent === 'Live'")
	private.add("private news", "x", time.Time{})
	v.until("a private entry live", "document.querySelector('#entries h4').textContent === 'private news'")
	v.eval("document.getElementById('personal').focus()")
	v.tabTo("Words")
	if v.str("document.activeElement.id") == "query-q" {
		v.tabTo("Words")
	}
	v.press("news", "Tab", "news", "Enter")
	v.arrive()
	v.picture("owner")
	address := v.str("document.querySelector('#personal .cards a').href")
	if titles, _ := shown(t, address); len(titles) != 4 { // without the one that was taken back
		t.Errorf("the personal feed shows %v", titles)
	}
	v.tabTo("Revoke news in news")
	v.press("Enter")
	if r := fetch(t, address); r.code != 200 {
		t.Errorf("a feed that nobody said to revoke for good: %v", r)
	}
	v.tabTo("Revoke for good: news in news")
	v.press("Enter")
	v.arrive()
	if r := fetch(t, address); r.code != 404 {
		t.Errorf("a feed that was revoked: %v", r)
	}
	v.tabTo("Sign out")
	v.press("Enter")
	v.arrive()
	if titles := v.titles(); strings.Contains(titles, "private") {
		t.Errorf("whoever signed out sees %s", titles)
	}
	v.whole("by keyboard")
}

func fitsPhone(t testing.TB, v *tab, p *peer, news *feed) {
	news.add(strings.Repeat("Donaudampfschifffahrt", 9), strings.Repeat("x", 900), time.Time{})
	until(t, 20*time.Second, "a long word", func() bool {
		return strings.Contains(string(call(t, p, "GET", "/api/v1/entries?theme=news&limit=1", "").body), "Donaudampf")
	})
	for _, path := range []string{"/", "/?theme=news", "/group/news"} {
		v.open(p.http + path)
		v.until("a stream", "document.getElementById('live-state').textContent === 'Live'")
		v.picture(fmt.Sprint("phone", len(path)))
		v.whole(path)
		for _, small := range []string{"input", "button"} {
			if h := v.num("Math.min(99, ...[...document.querySelectorAll('%s')].map(e => (e.closest('label') || e).getBoundingClientRect().height || 99))", small); h < 36 {
				t.Errorf("%s: a %s is %d pixels high: too small for a finger", path, small, h)
			}
		}
	}
	v.open(p.http + "/?q=" + strings.Repeat("verylong", 60) + "+AND")
	v.wrong()
	v.whole("a long query")
}

func worksWithoutScript(t testing.TB, v *tab, p *peer) {
	v.do("Emulation.setScriptExecutionDisabled", object{"value": true}, nil)
	v.open(p.http + "/?theme=sport")
	if titles := v.titles(); titles != "sport story 0, sport story 1" {
		t.Errorf("shown are %s", titles)
	}
	if v.eval("document.getElementById('live').checkVisibility()") == true {
		t.Error("what needs the script is offered without")
	}
	v.eval("document.getElementById('token').focus()")
	v.press("wrong", "Enter")
	v.arrive()
	seesProblem(v, "personal-problem")
	v.picture("problem")
	v.wrong() // the browser calls the answer's status an error
	v.eval("document.getElementById('token').focus()")
	v.press(p.secret(t), "Enter")
	v.arrive()
	if !strings.Contains(v.titles(), "private") {
		t.Errorf("the owner sees %s", v.titles())
	}
	v.whole("without script")
}

// seesProblem checks that what went wrong with a form has the focus, is in sight,
// and stands in the form, and that the address can be opened again.
func seesProblem(v *tab, id string) {
	v.t.Helper()
	v.until("the problem in focus", "document.activeElement.id === '%s'", id)
	v.until("the problem in sight", "(r => r.top >= 0 && r.bottom <= innerHeight)(document.activeElement.getBoundingClientRect())")
	if v.eval("document.activeElement.closest('form') !== null && document.activeElement.getAttribute('role') === 'alert'") != true {
		v.t.Errorf("the problem is no alert in its form: %s", v.str("document.activeElement.outerHTML"))
	}
	again := v.str("fetch(location.href.split('#')[0], {headers: {Accept: 'text/html'}}).then(r => r.text()).then(t => t.slice(0, 15))")
	if again != "<!doctype html>" {
		v.t.Errorf("opened again, %s answers %q", v.str("location.href"), again)
	}
}
