package integration

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// soakRate is how many entries the publisher's site publishes in a second.
const soakRate = 20

// BenchmarkSoak has one of four peers publish 20 entries of 1 KB a second for
// FEEDRING_SOAK (ten minutes if not said), while a follower reads them at another
// peer. What is older than a twelfth of that time expires, so memory, rate and the disk
// of members should stay as they are from the second quarter on: the metrics are the
// last quarter's medians, and their ratio to those of the second quarter. The publisher
// keeps its own entries for good: what an entry takes there is told at the end. An entry
// that is lost or shown twice fails it.
func BenchmarkSoak(b *testing.B) {
	length := 10 * time.Minute
	if s := os.Getenv("FEEDRING_SOAK"); s != "" {
		var err error
		if length, err = time.ParseDuration(s); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		soak(b, length)
	}
}

// soaked is what was measured at one time.
type soaked struct {
	memory, disk, rate float64 // the most of a peer, in MB; the most of a member, in MB; entries a second
}

func soak(b *testing.B, length time.Duration) {
	o := newOrigin(b)
	begun := time.Now()
	n := newNetwork(b, "1s", "--freshness", max(length/12, time.Minute).String())
	url := o.bytes("soak", "application/rss+xml", func() []byte { return soakFeed(begun) })
	publisher := n.peer(nil, "news=soak@"+url)
	for i := range 3 {
		quiet := newFeed(fmt.Sprintf("quiet%d", i), 1)
		n.peer([]*peer{publisher}, "news="+quiet.name+"@"+o.feed(quiet))
	}
	for _, p := range n.peers[1:] {
		until(b, 30*time.Second, "entries at all peers", func() bool { return len(metric(b, p, "entries")) > 2 })
	}
	last := n.peers[len(n.peers)-1]
	reader := exec.Command(binary, "follow", "--json", "--peer", last.addr, "--theme", "news")
	reader.Stderr = os.Stderr
	out, err := reader.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := reader.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() { _ = reader.Process.Kill() }()
	var read atomic.Int64
	ended := make(chan []int, 1)
	go func() { // numbers in the order in which they were shown
		var all []int
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var o object
			var number int
			if json.Unmarshal(lines.Bytes(), &o) != nil {
				continue
			}
			if _, err := fmt.Sscanf(o.str("title"), "soak %d", &number); err == nil {
				all = append(all, number)
				read.Add(1)
			}
		}
		ended <- all
	}()
	const samples = 60
	tick := time.NewTicker(length / samples)
	defer tick.Stop()
	var measured []soaked
	before := int64(0)
	for range samples {
		<-tick.C // the load is what goes on meanwhile
		var s soaked
		for _, p := range n.peers {
			s.memory = max(s.memory, resident(b, p, "VmRSS")/1000)
			if p != publisher {
				s.disk = max(s.disk, sizeOf(p.data)/1e6)
			}
		}
		now := read.Load()
		s.rate, before = float64(now-before)/(length/samples).Seconds(), now
		measured = append(measured, s)
		b.Logf("%v: %.0f MB of memory, %.0f MB on a member's disk, %.1f entries a second", time.Since(begun).Round(time.Second), s.memory, s.disk, s.rate)
	}
	if err := reader.Process.Signal(os.Interrupt); err != nil {
		b.Fatal(err)
	}
	all := <-ended
	_ = reader.Wait()
	numbers := slices.Sorted(slices.Values(all))
	for i := 1; i < len(numbers); i++ {
		if numbers[i] != numbers[i-1]+1 {
			b.Fatalf("after entry %d of %d came %d", numbers[i-1], len(numbers), numbers[i])
		}
	}
	second, fourth := measured[samples/4:samples/2], measured[3*samples/4:]
	for _, m := range []struct {
		unit string
		of   func(soaked) float64
	}{
		{"memory-MB", func(s soaked) float64 { return s.memory }},
		{"disk-MB", func(s soaked) float64 { return s.disk }},
		{"entries/s", func(s soaked) float64 { return s.rate }},
	} {
		b.ReportMetric(medianOf(fourth, m.of), m.unit)
		b.ReportMetric(medianOf(fourth, m.of)/medianOf(second, m.of), m.unit+"/second-quarter")
	}
	b.ReportMetric(float64(len(numbers)), "entries")
	b.ReportMetric(sizeOf(publisher.data)/1e3/float64(len(numbers)), "publisher-KB/entry")
	b.ReportMetric(0, "ns/op")
}

func medianOf(all []soaked, of func(soaked) float64) float64 {
	var values []float64
	for _, s := range all {
		values = append(values, of(s))
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// sizeOf is the size of all files below a directory, as far as they are there.
func sizeOf(dir string) (sum float64) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // it was just collected
		}
		if info, err := d.Info(); err == nil {
			sum += float64(info.Size())
		}
		return nil
	})
	return sum
}

// soakFeed shows what a site published in the last ten seconds, soakRate entries a second: a
// busy machine may keep its publisher from it for some of them.
func soakFeed(begun time.Time) []byte {
	var doc strings.Builder
	doc.WriteString(`<?xml version="1.0"?><rss version="2.0"><channel><title>soak</title><link>https://example.org/</link><description>x</description>`)
	newest := int(time.Since(begun).Seconds() * soakRate)
	for i := newest; i > max(0, newest-10*soakRate); i-- {
		at := begun.Add(time.Duration(i) * time.Second / soakRate).UTC().Format(time.RFC1123Z)
		fmt.Fprintf(&doc, `<item><title>soak %d</title><guid isPermaLink="false">soak-%d</guid><pubDate>%s</pubDate><description>%s</description></item>`, i, i, at, soakText(i))
	}
	doc.WriteString("</channel></rss>")
	return []byte(doc.String())
}

// soakText is the same text of 1 KB for an entry each time, which does not compress to nothing.
func soakText(i int) string {
	random := rand.New(rand.NewPCG(uint64(i), 1)) //nolint:gosec // it is to be the same each time
	raw := make([]byte, 500)
	for j := range raw {
		raw[j] = byte(random.Uint32())
	}
	return hex.EncodeToString(raw)
}
