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
	"sync/atomic"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/duplicate"
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

// watch makes a tab note what a page begins with, and look at each card that is
// added to it: one that another takes the place of later, too.
func (p *tab) watch() {
	p.do("Page.addScriptToEvaluateOnNewDocument", object{"source": `
		const names = new Set(Object.getOwnPropertyNames(window)), title = () => document.title;
		const loads = "img, iframe, object, embed, applet, frame, video, audio, math, base, style, ";
		const seen = {added: [], bare: [], strange: [], handlers: [], links: [], forms: []};
		let first;
		const inspect = (all, loads) => {
			const note = (what, of) => seen[what].push(...all.filter(of).map((e) => e.outerHTML));
			note("strange", (e) => e.matches(loads));
			note("handlers", (e) => [...e.attributes].some((a) => /^on|^style$/i.test(a.name)));
			note("links", (e) => e.matches("a[href]") && !/^https?:$/.test(new URL(e.getAttribute("href"), location.href).protocol));
			note("forms", (e) => e.matches("form") && new URL(e.action).origin !== location.origin);
		};
		const came = (card) => {
			if (card.dataset?.id) seen.added.push(card.dataset.id);
			else seen.bare.push(card.textContent);
			inspect([card, ...card.querySelectorAll("*")], loads + "link, meta, script");
		};
		addEventListener("DOMContentLoaded", () => {
			first = title();
			const list = document.getElementById("entries");
			if (list) new MutationObserver((all) => all.forEach((m) => m.addedNodes.forEach(came))).observe(list, {childList: true});
		});
		Object.defineProperty(document, "watched", {value: () => {
			inspect([...document.querySelectorAll("*")], loads + "link:not(head *), meta:not(head *), main script");
			const rendered = [...document.querySelectorAll("#entries > li[data-id]")].map((li) => li.dataset.id).filter((id) => !seen.added.includes(id));
			return {...seen, rendered, globals: Object.getOwnPropertyNames(window).filter((n) => !names.has(n)), retitled: title() !== first};
		}});
		Object.defineProperty(document, "added", {value: () => seen.added});`}, nil)
}

// harmless reports what runs in the page, or could, and what it asked others
// for. It returns the ids of the entries that were looked at: those that the
// server wrote, and those that were added since.
func (p *tab) harmless(what string, homes ...string) (rendered, added []string) {
	p.t.Helper()
	var seen struct {
		Retitled                                 bool
		Globals, Strange, Handlers, Links, Forms []string
		Rendered, Added, Bare                    []string
	}
	must(p.t, json.Unmarshal([]byte(p.str("JSON.stringify(document.watched())")), &seen))
	if seen.Retitled || len(seen.Globals)+len(seen.Strange)+len(seen.Handlers)+len(seen.Links)+len(seen.Forms) > 0 {
		p.t.Errorf("%s: %.2000s", what, fmt.Sprintf("%+v", seen))
	}
	if len(seen.Bare) > 0 {
		p.t.Errorf("%s: told without a card: %.2000q", what, seen.Bare)
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
	return seen.Rendered, seen.Added
}

// TestNoScriptRuns has two peers publish the documents that attack readers, and
// looks at each of their entries, as the server writes it and as it appears live:
// nothing runs, is loaded or leads away.
func TestNoScriptRuns(t *testing.T) {
	t.Parallel()
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
	until(t, 20*time.Second, "entries", func() bool { return p.entriesHeld(t) == 1 && q.entriesHeld(t) == 1 })
	live, page := b.tab(1280, false), b.tab(360, true)
	live.watch()
	page.watch()

	news, sport := awaitAttacks(t, p, o, "news", docs[:len(docs)/2]), awaitAttacks(t, q, o, "sport", docs[len(docs)/2:])
	live.open(p.http + "/?limit=1000")
	live.live()
	entries := slices.Concat(begin(t, "news", news...), begin(t, "sport", sport...))
	if len(entries) < 250 {
		t.Errorf("%d documents have %d entries", len(docs), len(entries))
	}
	live.shows("every story shown live", entries)
	_, added := live.harmless("live", p.http)

	var rendered []string
	for _, at := range []struct {
		*peer
		path string
	}{{p, "/?limit=1000"}, {p, "/group/news"}, {q, "/group/sport"}, {q, "/"}} {
		page.open(at.http + at.path)
		page.live()
		ids, _ := page.harmless(at.path, p.http, q.http)
		rendered = append(rendered, ids...)
	}
	hidden := slices.DeleteFunc(slices.Concat(news, sport), func(a *attacker) bool { return a.among(added) && a.among(rendered) })
	if len(hidden) > len(docs)/10 {
		t.Errorf("of %d documents an entry is not shown among the others", len(hidden))
	}
	if len(hidden) > 0 {
		eachAlone(t, p, o, live, page, hidden, p.http, q.http)
	}
	if hosts := world.asked(); len(hosts) > 0 {
		t.Errorf("the browser asked %q", hosts)
	}
}

// eachAlone looks at documents with entries that tell what those of other feeds
// do, so that a page of all shows these only: each on pages of its own.
func eachAlone(t testing.TB, p *peer, o *origin, live, page *tab, hidden []*attacker, homes ...string) {
	t.Helper()
	docs := make([][]byte, len(hidden))
	for i, a := range hidden {
		docs[i] = a.body
	}
	for _, a := range awaitAttacks(t, p, o, "news", docs) {
		path := "/?theme=news&limit=1000&provider=" + a.name
		live.open(p.http + path)
		live.live()
		live.shows("every entry shown live", begin(t, "news", a))
		_, added := live.harmless("live, "+path, homes...)
		page.open(p.http + path)
		page.live()
		if rendered, _ := page.harmless(path, homes...); !a.among(added) || !a.among(rendered) {
			t.Errorf("%q: shown live are %q, by the server %q, and its entries are %+v", a.body, added, rendered, a.entries)
		}
	}
	t.Logf("%d documents on pages of their own", len(hidden))
}

// shows waits until every entry was added to a page as a card, or one of another
// feed that tells the same.
func (p *tab) shows(what string, entries []feedring.Entry) {
	p.t.Helper()
	until(p.t, 20*time.Second, what, func() bool {
		var added []feedring.EntryID
		must(p.t, json.Unmarshal([]byte(p.str("JSON.stringify(document.added())")), &added))
		told := make(map[uint64]bool)
		for i := range entries {
			if slices.Contains(added, entries[i].ID) {
				k := duplicate.KeysOf(&entries[i], "")
				told[k.Link], told[k.Content] = true, true
			}
		}
		delete(told, 0)
		return !slices.ContainsFunc(entries, func(e feedring.Entry) bool {
			k := duplicate.KeysOf(&e, "")
			return !slices.Contains(added, e.ID) && !told[k.Link] && !told[k.Content]
		})
	})
}

// attacker is a document that attacks, at an address of its own, and what a peer
// makes of it.
type attacker struct {
	*peer
	name, address string // of its provider and its feed
	body          []byte
	begun         atomic.Bool // until then its feed is empty
	entries       []feedring.Entry
}

// awaitAttacks has a peer offer the feeds of documents while they are empty: what
// is in them later is news, however it is dated.
func awaitAttacks(t testing.TB, p *peer, o *origin, theme string, docs [][]byte) []*attacker {
	t.Helper()
	all := make([]*attacker, len(docs))
	var list strings.Builder
	list.WriteString(`<opml version="2.0"><body>`)
	for i, body := range docs {
		a := &attacker{peer: p, body: body, name: fmt.Sprintf("%s-%d-%d", theme, len(docs), i)}
		a.address = o.bytes(a.name, "application/xml", func() []byte {
			if !a.begun.Load() {
				return []byte(`<rss version="2.0"><channel><title>empty</title></channel></rss>`)
			}
			return body
		})
		fmt.Fprintf(&list, `<outline type="rss" text="x" xmlUrl="%s" provider="%s"/>`, a.address, a.name)
		all[i] = a
	}
	list.WriteString(`</body></opml>`)
	if r := call(t, p, "POST", "/api/v1/opml?force=true&theme="+theme, list.String(), p.token(t)); r.code/100 != 2 {
		t.Fatal(r)
	}
	until(t, time.Minute, "every feed looked at", func() bool {
		for _, f := range object(command(t, "status", "--json", "--data", p.data).objects[0]).list("feeds") {
			if f := object(f.(map[string]any)); f.str("last_fetch") == "" {
				return false
			}
		}
		return true
	})
	return all
}

// begin has documents of one peer and theme looked at, and returns their entries.
func begin(t testing.TB, theme string, all ...*attacker) (entries []feedring.Entry) {
	t.Helper()
	for _, a := range all {
		a.begun.Store(true)
		if r := call(t, a.peer, "POST", "/api/v1/ping", `{"url":"`+a.address+`"}`, a.token(t)); r.code != 200 {
			t.Errorf("%s: %v", a.address, r)
		}
	}
	must(t, json.Unmarshal(call(t, all[0].peer, "GET", "/api/v1/entries?limit=1000&theme="+theme, "").body, &entries))
	of := make(map[string]*attacker, len(all))
	for _, a := range all {
		of[a.address] = a
	}
	entries = slices.DeleteFunc(entries, func(e feedring.Entry) bool { return of[e.Feed] == nil })
	for _, e := range entries {
		of[e.Feed].entries = append(of[e.Feed].entries, e)
	}
	return entries
}

// among reports whether all entries are among these ids.
func (a *attacker) among(ids []string) bool {
	return !slices.ContainsFunc(a.entries, func(e feedring.Entry) bool { return !slices.Contains(ids, string(e.ID)) })
}
