package integration

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkCommand runs "feedring query" as a whole process against a peer of
// this machine: start, connect, ask, attach, check, print, end.
func BenchmarkCommand(b *testing.B) {
	o := newOrigin(b)
	n := newNetwork(b, "1s")
	p := n.peer(nil, "news=a@"+o.feed(newFeed("a", 10)))
	until(b, 20*time.Second, "ten entries", func() bool { return len(n.query(p, "--theme", "news").entries()) == 10 })
	var took []time.Duration
	for b.Loop() {
		r := n.query(p, "--theme", "news")
		if r.code != 0 || len(r.entries()) != 10 {
			b.Fatal(r)
		}
		took = append(took, r.took)
	}
	report(b, took, "ms")
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
		const quiet, look = 10 * time.Second, 20 * time.Second
		<-time.After(quiet) // the store's own work after 20,000 entries is not an idle peer's
		before := cpu(b, p)
		<-time.After(look) // what is measured is time in which nothing happens
		b.ReportMetric(100*(cpu(b, p)-before).Seconds()/look.Seconds(), "cpu-%")
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

// cpu is the time that a process has computed for.
func cpu(b *testing.B, p *peer) time.Duration {
	b.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		b.Skip(err)
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(after)
	user, err1 := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	if err1 != nil || err2 != nil {
		b.Fatal(err1, err2)
	}
	return time.Duration(user+system) * 10 * time.Millisecond
}

// resident is a field of /proc/PID/status in kB.
func resident(b *testing.B, p *peer, field string) float64 {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		b.Skip(err)
	}
	_, after, _ := strings.Cut(string(status), field+":")
	kb, err := strconv.ParseFloat(strings.Fields(after)[0], 64)
	if err != nil {
		b.Fatal(err)
	}
	return kb
}
