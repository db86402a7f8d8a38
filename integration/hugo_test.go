package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// hugoSite is a static site on this machine.
type hugoSite struct {
	t            testing.TB
	program, dir string
}

func newHugoSite(t testing.TB) *hugoSite {
	t.Helper()
	s := &hugoSite{t: t, program: tool(t, "hugo", "hugo"), dir: filepath.Join(t.TempDir(), "site")}
	mustRun(t, exec.Command(s.program, "new", "site", s.dir))
	must(t, os.WriteFile(filepath.Join(s.dir, "config.toml"), []byte("baseURL = 'https://www.example.org/'\nlanguageCode = 'en-us'\ntitle = 'A site'\n"), 0o600))
	return s
}

// write puts a page into the site and makes the site anew; an empty text takes
// the page out.
func (s *hugoSite) write(name, title, text string) {
	s.t.Helper()
	path := filepath.Join(s.dir, "content", "posts", name+".md")
	must(s.t, os.MkdirAll(filepath.Dir(path), 0o700))
	if text == "" {
		must(s.t, os.Remove(path))
	} else {
		head := fmt.Sprintf("---\ntitle: %q\ndate: %s\n---\n", title, time.Now().UTC().Format(time.RFC3339))
		must(s.t, os.WriteFile(path, []byte(head+text+"\n"), 0o600))
	}
	cmd := exec.Command(s.program, "--quiet", "--source", s.dir)
	cmd.Env = append(os.Environ(), "HUGO_CACHEDIR="+filepath.Join(s.dir, ".cache"))
	mustRun(s.t, cmd)
}

// TestHugo has a peer read the feed of a static site from its file, as
// docs/publishers.md says: what Hugo writes is told, once, and nothing is fetched.
func TestHugo(t *testing.T) {
	t.Parallel() // it waits more than it works
	s := newHugoSite(t)
	s.write("first", "The first post", "Text of the first post.")
	n := newNetwork(t, "300ms", "--interval", "1h")
	p := n.peer(nil)
	const address = "https://www.example.org/index.xml" // which nobody could fetch here
	if r := command(t, "feed", "add", address, "--theme", "news", "--file", filepath.Join(s.dir, "public", "index.xml"), "--data", p.data); r.code != 0 {
		t.Fatal(r)
	}
	// Who follows before the file is read is told of history by its number alone.
	until(t, 20*time.Second, "the file read", func() bool { return p.entriesHeld(t) == 1 })
	follower := n.follow(p, "--theme", "news", "--updates")
	follower.event(t, 20*time.Second, "the first post", func(o object) bool { return o.str("title") == "The first post" })
	follower.event(t, 20*time.Second, "the first answer", func(o object) bool { return o.str("event") == "answered" })
	for i := range 5 {
		title := fmt.Sprintf("Post %d", i)
		s.write(fmt.Sprintf("post%d", i), title, "Text of a post.")
		told, _ := follower.event(t, 20*time.Second, title, func(o object) bool { return o.str("title") == title })
		if told.str("url") != fmt.Sprintf("https://www.example.org/posts/post%d/", i) || told.str("feed") != address || told.str("provider") != "example.org" {
			t.Errorf("told is %v", told)
		}
	}
	s.write("post1", "Post 1", "Text as it should be.")
	follower.event(t, 20*time.Second, "the correction", func(o object) bool {
		return o.str("title") == "Post 1" && strings.Contains(o.str("summary")+o.str("content_html"), "as it should be")
	})
	if n.query(p, "--theme", "news").finals()[0].num("entries") != 6 {
		t.Error(n.titles(p, "--theme", "news"))
	}
	for title, k := range titlesShown(t, follower) {
		if want := map[bool]int{true: 2, false: 1}[title == "Post 1"]; k != want && title != "The first post" {
			t.Errorf("%q was told %d times", title, k)
		}
	}
	for _, f := range command(t, "feed", "list", "--json", "--data", p.data).objects {
		if f.str("error") != "" {
			t.Errorf("the feed: %v", f)
		}
	}
}
