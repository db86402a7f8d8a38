package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkCommand runs commands as whole processes, start and end included:
// "feedring query" over the network (connect, ask, attach, check, print) and over the
// control socket of a peer of this machine; "feedring version", which does nothing
// besides; and for comparison curl, and a Go program that imports os alone.
func BenchmarkCommand(b *testing.B) {
	o := newOrigin(b)
	n := newNetwork(b, "1s")
	p := n.peer(nil, "news=a@"+o.feed(newFeed("a", 10)))
	until(b, 20*time.Second, "ten entries", func() bool { return len(n.query(p, "--theme", "news").entries()) == 10 })
	source, floor := filepath.Join(b.TempDir(), "floor.go"), filepath.Join(b.TempDir(), "floor")
	must(b, os.WriteFile(source, []byte("package main\nimport \"os\"\nfunc main() { os.Stdout.WriteString(\"feedring\") }\n"), 0o600))
	mustRun(b, exec.Command("go", "build", "-o", floor, source))
	for _, c := range []struct {
		name, program string
		args          []string
		entries       int
	}{
		{"network", binary, []string{"query", "--json", "--peer", p.addr, "--theme", "news"}, 10},
		{"socket", binary, []string{"query", "--json", "--data", p.data, "--theme", "news"}, 10},
		{"version", binary, []string{"version"}, 0},
		{"curl", "curl", []string{"--version"}, 0},
		{"floor", floor, nil, 0},
	} {
		b.Run(c.name, func(b *testing.B) {
			if _, err := exec.LookPath(c.program); err != nil {
				b.Skip(err)
			}
			var took, computed []time.Duration
			for b.Loop() {
				r := commandOf(b, c.program, c.args...)
				if r.code != 0 || len(r.entries()) != c.entries {
					b.Fatal(r)
				}
				took, computed = append(took, r.took), append(computed, r.computed)
			}
			report(b, took, "ms")
			slices.Sort(computed)
			b.ReportMetric(float64(computed[len(computed)/2].Microseconds())/1000, "cpu-ms")
		})
	}
}

// BenchmarkIdlePeer fills a peer with 20,000 entries of twenty feeds and looks
// at it while nothing happens any more; then it is ended and started again.
func BenchmarkIdlePeer(b *testing.B) {
	const feeds, entries = 20, 1000
	for b.Loop() {
		o := newOrigin(b)
		n := newNetwork(b, "10s", "--interval", "1h", "--freshness", "24h")
		var given []string
		for i := range feeds {
			name := fmt.Sprintf("f%d", i)
			body := longFeed(name, entries)
			given = append(given, "news="+name+"@"+o.bytes(name, "application/rss+xml", func() []byte { return body }))
		}
		p := n.peer(nil, given...)
		until(b, 60*time.Second, "all entries", func() bool { return strings.Contains(metric(b, p, "entries"), strconv.Itoa(feeds*entries)) })
		const quiet, look = 60 * time.Second, 30 * time.Second
		<-time.After(quiet) // the work after 20,000 entries is not an idle peer's
		before, woken := cpu(b, p), wakeups(b, p)
		<-time.After(look) // what is measured is time in which nothing happens
		b.ReportMetric(100*(cpu(b, p)-before).Seconds()/look.Seconds(), "cpu-%")
		b.ReportMetric((wakeups(b, p)-woken)/look.Seconds(), "wakeups/s")
		b.ReportMetric(resident(b, p, "VmRSS")/1000, "resident-MB")
		b.ReportMetric(resident(b, p, "RssAnon")/1000, "anonymous-MB")
		b.ReportMetric(resident(b, p, "VmHWM")/1000, "peak-MB")
		begun := time.Now()
		if code := p.stop(b, 10*time.Second); code != 0 {
			b.Fatalf("exit %d", code)
		}
		b.ReportMetric(float64(time.Since(begun).Milliseconds()), "close-ms")
		begun = time.Now()
		n.start(p)
		b.ReportMetric(float64(time.Since(begun).Milliseconds()), "ready-ms")
		b.ReportMetric(0, "ns/op")
	}
}

// longFeed is an RSS document with so many entries of about 400 bytes.
func longFeed(name string, entries int) []byte {
	var doc strings.Builder
	fmt.Fprintf(&doc, `<?xml version="1.0"?><rss version="2.0"><channel><title>%s</title><link>https://example.org/</link><description>x</description>`, name)
	text := strings.Repeat("The council met again and decided nothing of note. ", 6)
	now := time.Now().Add(-time.Hour)
	for i := range entries {
		at := now.Add(-time.Duration(i) * time.Minute).UTC().Format(time.RFC1123Z)
		fmt.Fprintf(&doc, `<item><title>%s story %d</title><guid isPermaLink="false">%s-%d</guid><pubDate>%s</pubDate><description>%s</description></item>`, name, i, name, i, at, text)
	}
	doc.WriteString("</channel></rss>")
	return []byte(doc.String())
}

// metric is one number of "feedring status".
func metric(b *testing.B, p *peer, key string) string {
	r := command(b, "status", "--json", "--data", p.data)
	if len(r.objects) != 1 {
		return ""
	}
	return strconv.Itoa(r.objects[0].num(key))
}

// cpu is the time that a process has computed for, to the nanosecond:
// /proc/PID/stat counts hundredths of a second, which is more than an idle peer
// takes in ten.
func cpu(t testing.TB, p *peer) (sum time.Duration) {
	t.Helper()
	for _, task := range tasks(t, p) {
		stat, err := os.ReadFile(filepath.Join(task, "schedstat"))
		if err != nil {
			lacking(t, "proc", "this system does not tell what a process computed: %v", err)
		}
		computed, err := strconv.ParseInt(strings.Fields(string(stat))[0], 10, 64)
		must(t, err)
		sum += time.Duration(computed)
	}
	return sum
}

// wakeups is how often the threads of a process went to sleep by themselves.
func wakeups(b *testing.B, p *peer) (sum float64) {
	b.Helper()
	for _, task := range tasks(b, p) {
		sum += statusField(b, filepath.Join(task, "status"), "\nvoluntary_ctxt_switches")
	}
	return sum
}

// tasks are the threads of a process, which in Go do not end.
func tasks(t testing.TB, p *peer) []string {
	t.Helper()
	all, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", p.cmd.Process.Pid))
	must(t, err)
	if len(all) == 0 {
		lacking(t, "proc", "this system does not list the threads of a process")
	}
	return all
}

// resident is a field of /proc/PID/status in kB.
func resident(b *testing.B, p *peer, field string) float64 {
	b.Helper()
	return statusField(b, fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid), field)
}

// statusField is a number in a file of /proc.
func statusField(b *testing.B, file, field string) float64 {
	b.Helper()
	status, err := os.ReadFile(file)
	if err != nil {
		b.Skip(err)
	}
	_, after, found := strings.Cut(string(status), field+":")
	if !found {
		b.Fatalf("%s has no %s", file, field)
	}
	number, err := strconv.ParseFloat(strings.Fields(after)[0], 64)
	if err != nil {
		b.Fatal(err)
	}
	return number
}
