package integration

import (
	"archive/tar"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

const conformance = "../../shared/feeds/conformance.tar.xz"

var (
	// acts is what of a document would run in a reader that shows its HTML as
	// it is, or load something, or lead elsewhere.
	acts = regexp.MustCompile(`(?i)(<|&lt;|&#60;|&#x3c;)(script|img|iframe|object|embed|applet|style|link rel|meta|base|form|frame|svg|math)\b|` +
		`javascript:|vbscript:|\bon[a-z]+=|expression\(|-moz-binding|ragingplatypus`)
	runs = regexp.MustCompile(`(?i)(<|&lt;|&#60;|&#x3c;)(script|iframe|object|embed)\b|javascript:|\bon(error|load|click|mouseover)=`)
)

// attackers are the conformance documents that show what a reader must not let
// a feed do.
func attackers(t testing.TB) [][]byte {
	t.Helper()
	if _, err := os.Stat(conformance); err != nil {
		lacking(t, "feeds", "the conformance documents are not beside the project: %v", err)
	}
	unpack := exec.Command("xz", "-dc", conformance)
	out, err := unpack.StdoutPipe()
	must(t, err)
	if err := unpack.Start(); err != nil {
		lacking(t, "feeds", "the conformance documents cannot be unpacked: %v", err)
	}
	var found [][]byte
	for r := tar.NewReader(out); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		must(t, err)
		if !strings.HasSuffix(h.Name, ".xml") || h.Size > 64<<10 {
			continue
		}
		body, err := io.ReadAll(r)
		must(t, err)
		if runs.Match(body) || strings.Contains(h.Name, "/sanitize/") && acts.Match(body) {
			found = append(found, body)
		}
	}
	_ = unpack.Wait() // what follows the archive's end is not read
	return found
}

// own is what a feed says that was written for this page: in each field, what
// is put into a page in another way.
func own(n int) []byte {
	const script = `<script>document.title = "ran"; ran = 1</script>`
	titles := []string{
		script, `"><img src=x onerror="ran=1">`, `<img src="` + `http://tracker.example/pixel">`, `&lt;svg onload=ran=1&gt;`,
		`</li></ol><form action="//tracker.example/"><input autofocus onfocus="ran=1">`, "\u202e evil \u2066", `{{constructor.constructor("ran=1")()}}`,
	}
	links := []string{"javascript:ran=1", "JaVaScRiPt:ran=1", "data:text/html," + script, "vbscript:x", "https://a.example/\"onmouseover=ran=1", "//tracker.example/", "java\tscript:ran=1"}
	title, link := escape(titles[n%len(titles)]), escape(links[n%len(links)])
	return []byte(`<rss version="2.0"><channel><title>` + title + `</title><link>` + link + `</link><language>en" onclick="ran=1</language>` +
		`<item><guid isPermaLink="false">` + title + `</guid><title>` + title + `</title><link>` + link + `</link><author>` + title + `</author><category>` + title + `</category>` +
		`<description>` + escape(`<p onclick="ran=1">own `+titles[n%len(titles)]+`</p><iframe src="http://tracker.example/"></iframe>`) + `</description></item></channel></rss>`)
}

// watch makes a tab note what a page begins with, and how many entries are
// added to it.
func (p *tab) watch() {
	p.do("Page.addScriptToEvaluateOnNewDocument", object{"source": `
		const names = new Set(Object.getOwnPropertyNames(window)), title = () => document.title;
		let added = 0, first;
		addEventListener("DOMContentLoaded", () => {
			first = title();
			const list = document.getElementById("entries");
			if (list) new MutationObserver((all) => all.forEach((m) => added += m.addedNodes.length)).observe(list, {childList: true});
		});
		Object.defineProperty(document, "watched", {value: () => ({
			added, globals: Object.getOwnPropertyNames(window).filter((n) => !names.has(n)), retitled: title() !== first,
			strange: [...document.querySelectorAll("img, iframe, object, embed, applet, frame, video, audio, math, base, style, link:not(head *), meta:not(head *), main script")].map((e) => e.outerHTML),
			handlers: [...document.querySelectorAll("*")].filter((e) => [...e.attributes].some((a) => /^on|^style$/i.test(a.name))).map((e) => e.outerHTML),
			links: [...document.querySelectorAll("a[href]")].filter((a) => !/^https?:$/.test(new URL(a.getAttribute("href"), location.href).protocol)).map((a) => a.outerHTML),
			forms: [...document.forms].filter((f) => new URL(f.action).origin !== location.origin).map((f) => f.outerHTML),
		})});`}, nil)
}

// harmless reports what runs in the page, or could, and what it asked others
// for.
func (p *tab) harmless(what string, homes ...string) {
	p.t.Helper()
	var seen struct {
		Retitled                                 bool
		Globals, Strange, Handlers, Links, Forms []string
	}
	must(p.t, json.Unmarshal([]byte(p.str("JSON.stringify(document.watched())")), &seen))
	if seen.Retitled || len(seen.Globals)+len(seen.Strange)+len(seen.Handlers)+len(seen.Links)+len(seen.Forms) > 0 {
		p.t.Errorf("%s: %.2000s", what, fmt.Sprintf("%+v", seen))
	}
	if wrong := p.wrong(); len(wrong) > 0 {
		p.t.Errorf("%s: %.2000q", what, wrong)
	}
	p.seen.Lock()
	defer p.seen.Unlock()
	for _, address := range p.requests {
		if !slices.ContainsFunc(homes, func(home string) bool { return strings.HasPrefix(address, home+"/") }) {
			p.t.Errorf("%s: the page asked for %s", what, address)
		}
	}
}

// TestNoScriptRuns has two peers publish the documents that attack readers, and
// looks at all that their pages show of them, live too: nothing runs, is loaded
// or leads away.
func TestNoScriptRuns(t *testing.T) {
	docs := attackers(t)
	if len(docs) < 400 {
		t.Fatalf("%d documents attack", len(docs))
	}
	for n := range 7 {
		docs = append(docs, own(n))
	}
	world := newBeacon(t)
	b := openBrowser(t, world)
	o := newOrigin(t)
	n := newNetwork(t, "1s", "--interval", "1h")
	p := n.peer(nil, "news="+o.feed(newFeed("one", 1)))
	q := n.peer([]*peer{p}, "sport="+o.feed(newFeed("two", 1)))
	n.formed(map[string]int{"news": 1, "sport": 1}, p, q)
	live := b.tab(1280, false)
	live.watch()
	live.open(p.http + "/?limit=1000")
	live.until("a stream", "document.getElementById('live-state').textContent === 'Live'")

	imports(t, p, o, "news", docs[:len(docs)/2])
	imports(t, q, o, "sport", docs[len(docs)/2:])
	entries := looks(t, p, "news", len(docs)/2+1) + looks(t, q, "sport", len(docs)-len(docs)/2+1)
	if entries < 160 {
		t.Errorf("%d documents have %d entries", len(docs), entries)
	}
	live.until("every entry shown live", "document.watched().added >= %d", entries-2)
	live.harmless("live", p.http)

	page := b.tab(360, true)
	page.watch()
	for _, at := range []struct {
		*peer
		path string
	}{{p, "/?limit=1000"}, {p, "/group/news"}, {q, "/group/sport"}, {q, "/"}} {
		page.open(at.http + at.path)
		page.until("a stream", "document.getElementById('live-state').textContent === 'Live'")
		page.harmless(at.path, p.http, q.http)
		if shown := page.num("document.querySelectorAll('#entries > li').length"); strings.Contains(at.path, "limit") && shown != entries {
			t.Errorf("the results show %d of %d entries", shown, entries)
		}
	}
	if hosts := world.asked(); len(hosts) > 0 {
		t.Errorf("the browser asked %q", hosts)
	}
}

// imports has a peer publish documents into a theme.
func imports(t testing.TB, p *peer, o *origin, theme string, docs [][]byte) {
	t.Helper()
	var list strings.Builder
	list.WriteString(`<opml version="2.0"><body>`)
	for i, body := range docs {
		address := o.bytes(fmt.Sprint(theme, i), "application/xml", func() []byte { return body })
		fmt.Fprintf(&list, `<outline type="rss" text="x" xmlUrl="%s"/>`, address)
	}
	list.WriteString(`</body></opml>`)
	if r := call(t, p, "POST", "/api/v1/opml?force=true&theme="+theme, list.String(), p.token(t)); r.code/100 != 2 {
		t.Fatal(r)
	}
}

// looks waits until a peer has looked at its feeds, and returns how many entries
// they have.
func looks(t testing.TB, p *peer, theme string, feeds int) int {
	t.Helper()
	until(t, time.Minute, "every document looked at", func() bool {
		seen := 0
		for _, f := range object(command(t, "status", "--json", "--data", p.data).objects[0]).list("feeds") {
			if f.(map[string]any)["last_fetch"] != nil {
				seen++
			}
		}
		return seen == feeds
	})
	var entries []object
	must(t, json.Unmarshal(call(t, p, "GET", "/api/v1/entries?limit=1000&theme="+theme, "").body, &entries))
	return len(entries)
}
