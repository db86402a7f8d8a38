package integration

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestPlanReadsARunningPeer has feedring-sim plan for what a built peer serves, which
// counts what it gave and how long that took.
func TestPlanReadsARunningPeer(t *testing.T) {
	t.Parallel() // it waits more than it works
	program := filepath.Join(t.TempDir(), "feedring-sim")
	mustRun(t, exec.Command("go", "build", "-o", program, "github.com/feedring/feedring/cmd/feedring-sim"))
	feed := newFeed("news", 1)
	n := newNetwork(t, "300ms")
	p := n.peer(nil, "news=news@"+newOrigin(t).feed(feed))
	until(t, 20*time.Second, "entries", func() bool { return p.entriesHeld(t) == 1 })
	for _, words := range []string{"fresh", "fresh", "stale"} {
		if r := command(t, "subscription", "add", "--data", p.data, "--theme", "news", words); r.code != 0 {
			t.Fatal(r)
		}
	}
	feed.add("fresh news", "x", time.Time{})
	metric := func(name string) float64 {
		t.Helper()
		for line := range strings.Lines(string(call(t, p, "GET", "/metrics", "").body)) {
			if text, ok := strings.CutPrefix(line, name+" "); ok {
				v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
				must(t, err)
				return v
			}
		}
		t.Fatal("no metric ", name)
		return 0
	}
	until(t, 20*time.Second, "what was given", func() bool { return metric("feedring_given_seconds_count") == 1 }) // counted last
	if total, sum := metric("feedring_given_total"), metric("feedring_given_seconds_sum"); total != 1 || sum <= 0 || sum > 20 {
		t.Errorf("%g were given, in %g s", total, sum)
	}
	until(t, 20*time.Second, "both looks", func() bool { return metric("feedring_looks_total") >= 2 }) // a look ends after what it found

	// Of the network the kernel tells the traffic of all processes: other tests' may be beyond the spare of 100 Mbit/s.
	text := mustRun(t, exec.Command(program, "plan", "--json", "--feeds", "1", "--window", "1s", "--bandwidth", "1000Gbit", "--metrics", p.http))
	var got struct {
		Running struct {
			Peers    []struct{ Use []float64 }
			Compared []struct {
				Resource         string
				Predicted, Found float64
			}
			Now struct{ Peers int }
		}
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err, text)
	}
	r := got.Running
	if len(r.Peers) != 1 || len(r.Compared) != 5 || r.Now.Peers != 2 || r.Peers[0].Use[4] != 2 {
		t.Fatal(text)
	}
	if memory := r.Compared[0]; memory.Resource != "memory" || memory.Found < 20e6 || memory.Found > 500e6 || memory.Predicted < 48e6 {
		t.Errorf("%+v", memory)
	}
}
