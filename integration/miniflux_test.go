package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// miniflux is a running Miniflux with a database of its own.
type miniflux struct {
	t       testing.TB
	address string
}

const minifluxUser, minifluxPassword = "admin", "a long password"

func newMiniflux(t testing.TB) *miniflux {
	t.Helper()
	program := tool(t, "miniflux", "miniflux")
	const debian = "/usr/lib/postgresql/*/bin/"
	initdb, postgres := tool(t, "miniflux", "initdb", debian+"initdb"), tool(t, "miniflux", "postgres", debian+"postgres")
	dir, as := serverDir(t)
	data := filepath.Join(dir, "data")
	begin := exec.Command(initdb, "-D", data, "-U", "miniflux", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync", "-A", "trust")
	begin.SysProcAttr, begin.Dir = as, dir
	mustRun(t, begin)
	database := exec.Command(postgres, "-D", data, "-k", dir, "-c", "listen_addresses=", "-c", "fsync=off")
	database.SysProcAttr, database.Dir = as, dir
	runServer(t, syscall.SIGINT, database) // "fast": it waits for no client
	m := &miniflux{t: t, address: "http://" + freeAddress(t)}
	env := append(os.Environ(), "DATABASE_URL=host="+dir+" user=miniflux dbname=postgres sslmode=disable",
		"CREATE_ADMIN=1", "ADMIN_USERNAME="+minifluxUser, "ADMIN_PASSWORD="+minifluxPassword, "BASE_URL="+m.address,
		"LISTEN_ADDR="+strings.TrimPrefix(m.address, "http://"), "POLLING_FREQUENCY=1440", // the test has it poll
		"LOG_LEVEL=warning", "HTTP_PROXY=", "http_proxy=")
	until(t, 20*time.Second, "the database", func() bool {
		_, err := os.Stat(filepath.Join(dir, ".s.PGSQL.5432"))
		return err == nil
	})
	until(t, 20*time.Second, "its tables", func() bool {
		migrate := exec.Command(program, "-migrate")
		migrate.Env = env
		return migrate.Run() == nil
	})
	server := exec.Command(program)
	server.Env = env
	runServer(t, syscall.SIGTERM, server).serves(t, 20*time.Second, m.address+"/healthcheck")
	return m
}

// send asks Miniflux's API.
func (m *miniflux) send(method, path string, body []byte) []byte {
	m.t.Helper()
	req, err := http.NewRequestWithContext(m.t.Context(), method, m.address+"/v1"+path, bytes.NewReader(body))
	must(m.t, err)
	req.SetBasicAuth(minifluxUser, minifluxPassword)
	resp, err := http.DefaultClient.Do(req)
	must(m.t, err)
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	must(m.t, err)
	if resp.StatusCode/100 != 2 {
		m.t.Fatalf("Miniflux: %s %s: %s %s", method, path, resp.Status, answer)
	}
	return answer
}

// call asks Miniflux's API in JSON.
func (m *miniflux) call(method, path string, body, into any) {
	m.t.Helper()
	text, err := json.Marshal(body)
	must(m.t, err)
	if answer := m.send(method, path, text); into != nil {
		must(m.t, json.Unmarshal(answer, into))
	}
}

// subscribe adds a feed and returns its number.
func (m *miniflux) subscribe(address string) int {
	m.t.Helper()
	var added struct {
		ID int `json:"feed_id"`
	}
	m.call("POST", "/feeds", map[string]any{"feed_url": address, "category_id": 1}, &added)
	return added.ID
}

// read is an entry as Miniflux shows it.
type read struct {
	Title, Content string
	At             time.Time `json:"published_at"`
}

// poll has Miniflux poll a feed, and returns all that it ever took from it, the
// newest first.
func (m *miniflux) poll(feed int) (list []read) {
	m.t.Helper()
	m.call("PUT", fmt.Sprintf("/feeds/%d/refresh", feed), nil, nil)
	var all struct{ Entries []read }
	m.call("GET", fmt.Sprintf("/feeds/%d/entries?limit=10000&order=published_at&direction=desc", feed), nil, &all)
	return all.Entries
}

// times is how often each title is there.
func times(list []read) map[string]int {
	count := make(map[string]int)
	for _, e := range list {
		count[e.Title]++
	}
	return count
}

// TestMiniflux has a reader that people use poll a personal feed, in each of its
// formats, while feeds with a long history are added to the peer: it is shown
// all news, once, and what was corrected. Then it polls the feed front.
func TestMiniflux(t *testing.T) {
	t.Parallel() // it waits more than it works
	m := newMiniflux(t)
	o := newOrigin(t)
	news := newFeed("news", 2)
	n := newNetwork(t, "300ms")
	p := n.peer(nil, "news=news@"+o.feed(news))
	until(t, 20*time.Second, "entries", func() bool { return len(n.query(p, "--theme", "news").entries()) == 2 })
	r := command(t, "subscription", "add", "--json", "--data", p.data)
	if r.code != 0 {
		t.Fatal(r)
	}
	feeds := make(map[string]int)
	for _, format := range []string{"atom", "rss", "json"} {
		feeds[format] = m.subscribe(r.objects[0].str(format))
		if got := m.poll(feeds[format]); len(got) != 2 || got[0].Title != "news story 0" {
			t.Errorf("%s: it shows %v", format, got)
		}
	}
	at := r.objects[0].str("json")
	publish := func(title string) {
		t.Helper()
		news.add(title, "as it was", time.Time{})
		until(t, 20*time.Second, title, func() bool { titles, _ := shown(t, at); return len(titles) > 0 && titles[0] == title })
	}
	// once fails unless every reader was shown each of these once.
	once := func(t *testing.T, titles ...string) {
		t.Helper()
		for format, feed := range feeds {
			count := times(m.poll(feed))
			for _, title := range titles {
				if count[title] != 1 {
					t.Errorf("%s: %q is there %d times", format, title, count[title])
				}
			}
			for title, k := range count {
				if k != 1 {
					t.Errorf("%s: %q is there %d times", format, title, k)
				}
			}
		}
	}

	t.Run("a feed with history is added before the next poll", func(t *testing.T) {
		publish("first news")
		publish("second news")
		addHistory(t, p, o, "archive")
		once(t, "first news", "second news")
	})
	t.Run("feeds with history are added while it polls", func(t *testing.T) {
		var all []string
		for i := range 4 {
			title := fmt.Sprintf("news %d", i)
			all = append(all, title)
			news.add(title, "as it was", time.Time{})
			addHistory(t, p, o, fmt.Sprintf("archive%d", i))
			m.poll(feeds["atom"])
		}
		for format, feed := range feeds {
			until(t, 20*time.Second, format+" has all news", func() bool {
				count := times(m.poll(feed))
				for _, title := range all {
					if count[title] == 0 {
						return false
					}
				}
				return true
			})
		}
		once(t, append(all, "first news", "second news", "news story 0", "news story 1")...)
	})
	t.Run("an entry is corrected", func(t *testing.T) {
		news.change("second news", "as it should be")
		for format, feed := range feeds {
			until(t, 20*time.Second, format+" shows the correction", func() bool {
				for _, e := range m.poll(feed) {
					if e.Title == "second news" {
						return strings.Contains(e.Content, "as it should be")
					}
				}
				return false
			})
		}
		once(t, "first news", "second news")
	})
	t.Run("the feed front", func(t *testing.T) {
		var front string
		for _, f := range command(t, "feed", "list", "--json", "--data", p.data).objects {
			if f.str("theme") == "news" {
				front = f.str("front")
			}
		}
		feed := m.subscribe(front)
		news.add("news at the front", "x", time.Time{})
		until(t, 20*time.Second, "news at the front", func() bool { return times(m.poll(feed))["news at the front"] == 1 })
		if got := m.poll(feed); len(got) != 9 || len(times(got)) != 9 {
			t.Errorf("at the front it is shown %v", times(got))
		}
	})
	t.Run("its list", func(t *testing.T) { movesList(t, m, newNetwork(t, "300ms").peer(nil)) })
}

// movesList takes Miniflux's list of feeds over into a peer, and a feed of the
// peer's into Miniflux.
func movesList(t *testing.T, m *miniflux, p *peer) {
	var feeds []struct {
		URL string `json:"feed_url"`
	}
	addresses := func() (list []string) {
		feeds = nil
		m.call("GET", "/feeds", nil, &feeds)
		for _, f := range feeds {
			list = append(list, f.URL)
		}
		return slices.Sorted(slices.Values(list))
	}
	taken := func() (list []string) {
		for _, f := range command(t, "feed", "list", "--json", "--data", p.data).objects {
			list = append(list, f.str("url"))
		}
		return slices.Sorted(slices.Values(list))
	}
	file := filepath.Join(t.TempDir(), "miniflux.opml")
	must(t, os.WriteFile(file, m.send("GET", "/export", nil), 0o600))
	if r := command(t, "opml", "import", file, "--data", p.data); r.code != 0 {
		t.Fatal(r)
	}
	if got, want := taken(), addresses(); len(want) != 4 || !slices.Equal(got, want) {
		t.Errorf("taken over are %q, not %q", got, want)
	}
	own := newOrigin(t).feed(newFeed("own", 1))
	if r := command(t, "feed", "add", own, "--data", p.data); r.code != 0 {
		t.Fatal(r)
	}
	m.send("POST", "/import", []byte(command(t, "opml", "export", "--data", p.data).stdout))
	if got, want := addresses(), taken(); !slices.Contains(got, own) || !slices.Equal(got, want) {
		t.Errorf("Miniflux has %q, not %q", got, want)
	}
}
