package integration

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// clockBinary builds the program with a clock that is ahead by the duration in the variable
// CLOCK_AHEAD: the kernel gives no process a date of its own, and Go asks it without a system
// call, so time.Now is changed. Without the cache of an earlier run that takes minutes, at a
// low priority: other tests go on.
func clockBinary(t testing.TB) string {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	must(t, err)
	of := filepath.Join(strings.TrimSpace(string(root)), "src", "time")
	source, err := os.ReadFile(filepath.Join(of, "time.go"))
	must(t, err)
	const now = "sec, nsec, mono := runtimeNow()\n"
	if n := strings.Count(string(source), now); n != 1 {
		t.Fatalf("%d functions of the package time ask for the time with %q: change this test", n, now)
	}
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	replaced := map[string]string{
		filepath.Join(of, "time.go"): write("time.go", strings.Replace(string(source), now, now+"\tsec += ahead\n", 1)),
		filepath.Join(of, "ahead.go"): write("ahead.go", `package time

import "syscall"

var ahead = func() int64 {
	said, _ := syscall.Getenv("CLOCK_AHEAD")
	d, _ := ParseDuration(said)
	return int64(d / Second)
}()
`),
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replaced})
	must(t, err)
	path := filepath.Join(dir, "feedring")
	build := exec.Command("nice", "-n", "19", "go", "build", "-overlay", write("overlay.json", string(overlay)), "-o", path, "github.com/feedring/feedring/cmd/feedring")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

// TestFleetPeerWithAWrongClock runs one of three peers with a clock that is an hour off. What
// is made at any of them is at all, each list shows each entry once, and every page opens,
// also after another peer was away. The clock is then set right, and the same holds.
func TestFleetPeerWithAWrongClock(t *testing.T) {
	t.Parallel()
	wrong := clockBinary(t)
	for name, off := range map[string]time.Duration{"ahead": time.Hour, "behind": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOrigin(t)
			news := newFeed("news", 3)
			n := newNetwork(t, "300ms")
			publisher := n.peer(nil, "news=news@"+o.feed(news))
			n.formed(map[string]int{"news": 1}, publisher)
			f := newFleet(n, 2, publisher)
			f.add(publisher, func(p *peer) { p.binary, p.env = wrong, []string{"CLOCK_AHEAD=" + off.String()} })
			f.whole(3)
			a, b, c := f.peers[0], f.peers[1], f.peers[2]
			date, err := http.ParseTime(call(t, c, "GET", "/livez", "").header.Get("Date"))
			if diff := time.Until(date) - off; err != nil || diff.Abs() > time.Minute {
				t.Fatalf("the clock is off by %v: %v", time.Until(date), err)
			}

			want := []string{"news story 0", "news story 1", "news story 2"}
			comes := func(title string, at ...*peer) {
				t.Helper()
				news.add(title, "x", time.Time{})
				f.polled(title, at...)
				want = append(want, title)
				f.showsOnce(want, at...)
			}
			for _, p := range f.peers {
				f.subscribe(p, 10)
			}
			f.polled("news story 2", a, b, c)
			f.showsOnce(want, a, b, c)
			comes("story of all", a, b, c)
			f.invited(c, a, b)
			f.invited(a, b, c)
			comes("story of users", a, b, c)
			f.pages()

			a.kill()
			comes("story of two", b, c)
			f.subscribe(c, 5)
			gone := f.delete(c)
			comes("story of a new feed", b, c)
			f.start(a)
			f.whole(3)
			comes("story of three", a, b, c)

			c.kill()
			comes("story of the right clocks", a, b)
			c.env = nil
			f.start(c)
			f.whole(3)
			comes("story of a clock that was set", a, b, c)
			f.pages()
			for _, p := range f.peers {
				if r := call(t, p, "GET", gone, ""); r.code != 404 {
					t.Errorf("a feed that was deleted: %v", r)
				}
			}
		})
	}
}

// showsOnce fails unless every feed of the ledger shows each of titles once at each of some
// peers.
func (f *fleetOf) showsOnce(titles []string, at ...*peer) {
	f.t.Helper()
	for _, p := range at {
		for _, path := range f.ledger {
			shows := string(call(f.t, p, "GET", path, "").body)
			for _, title := range titles {
				if n := strings.Count(shows, fmt.Sprintf(">%s<", title)); n != 1 {
					f.t.Errorf("%s shows %q %d times", path, title, n)
				}
			}
		}
	}
}

// pages opens the page of each peer.
func (f *fleetOf) pages() {
	f.t.Helper()
	for _, p := range f.peers {
		if r := call(f.t, p, "GET", "/", "", header("Accept", "text/html")); r.code != 200 || !strings.Contains(string(r.body), "<html") {
			f.t.Errorf("the page of a peer: %v", r)
		}
	}
}
