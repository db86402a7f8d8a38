package main

import (
	"bytes"
	"fmt"
	"os"
	"testing"
	"time"
)

func TestMedianIsInTheMiddle(t *testing.T) {
	for want, values := range map[float64][]float64{7: {7}, 5: {9, 1, 5}, 2.5: {4, 1, 3, 2}} {
		if got := median(values); got != want {
			t.Errorf("median of %v: %v, want %v", values, got, want)
		}
	}
}

func TestPercentileIsTheNearestRank(t *testing.T) {
	a := &arrivals{}
	for i := range 200 {
		a.took = append(a.took, time.Duration(200-i)*time.Millisecond)
	}
	for p, want := range map[float64]float64{0: 1, 0.5: 1, 50: 100, 99: 198, 99.6: 200, 100: 200} {
		if got := a.percentile(p); got != want {
			t.Errorf("percentile %v: %v ms, want %v", p, got, want)
		}
	}
}

func TestFiguresKeepTwoDigits(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 0.0426: "0.043", 0.5: "0.50", 3.14159: "3.1", 12.7: "13", 1234567.8: "1,234,568"} {
		if got := figure(v); got != want {
			t.Errorf("%v is printed as %q, want %q", v, got, want)
		}
	}
}

func TestTableHasALineForWhatIsDone(t *testing.T) {
	var got table
	got.add(feedring, "g", "a", 1)
	got.add(feedring, "g", "b", 7)
	got.add(nginx, "h", "a", 5)
	got.add(feedring, "g", "a", 3)
	got.add(feedring, "g", "a", 40)
	var out bytes.Buffer
	got.print(&out)
	const want = `| | feedring | NATS JetStream | GossipSub | nginx |
| --- | --- | --- | --- | --- |
| g: a; b | 3.0 (1.0 to 40); 7.0 (7.0 to 7.0) |  |  |  |
| h: a |  |  |  | 5.0 (5.0 to 5.0) |
`
	if out.String() != want {
		t.Errorf("%s\ninstead of\n%s", out.String(), want)
	}
}

func TestArrivalsCountWhatWasStamped(t *testing.T) {
	a := &arrivals{}
	a.add("x", `{"title":"probe-1"}`, false)
	for _, near := range []bool{true, false} {
		a.add("x", fmt.Sprintf(`{"title":"at-%d","via":"p"}`, time.Now().Add(-time.Second).UnixNano()), near)
	}
	a.add("x", "no entry", false)
	if took := a.percentile(50); a.served() != 1 || a.count() != 2 || took < 1000 || took > 60000 {
		t.Errorf("%d served, %d counted, took %v ms; want 1, 2 and a second", a.served(), a.count(), took)
	}
}

// TestUsageSeesWhatThisProcessUses computes, sleeps and writes.
func TestUsageSeesWhatThisProcessUses(t *testing.T) {
	const size = 1 << 20
	file := must(os.Create(t.TempDir() + "/file"))
	defer file.Close()
	got := use([]int{os.Getpid()}, func() {
		for begun := time.Now(); time.Since(begun) < 200*time.Millisecond; {
			_ = text(1)
		}
		must(file.Write(make([]byte, size)))
		for range 50 {
			time.Sleep(time.Millisecond)
		}
	})
	if got.cpu < 50*time.Millisecond || got.cpu > 5*time.Second || got.took < 250*time.Millisecond {
		t.Errorf("200 ms of computing and 50 ms of sleep are %s, in %s", got.cpu, got.took)
	}
	if got.waits < 1 || got.written != 0 && got.written < size {
		t.Errorf("fifty sleeps are %v switches, 1 MiB is %v bytes", got.waits, got.written)
	}
	if len(got.peak) != 1 || got.peak[0] < 1 || got.peak[0] > 10000 {
		t.Errorf("peak memory: %v MB", got.peak)
	}
}
