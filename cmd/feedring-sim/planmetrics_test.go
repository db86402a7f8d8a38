package main

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// runningStub is a peer's page as far as a plan reads it. Each reading finds counters
// further on.
type runningStub struct {
	interests, memory float64
	cores             float64 // of the reader's window of 100 ms, at the most
	restarts          bool
	readings          atomic.Int64
}

func (s *runningStub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/metrics" {
		http.NotFound(w, r)
		return
	}
	n := float64(s.readings.Add(1))
	began := 1.7e9
	if s.restarts {
		began += n
	}
	_, _ = fmt.Fprintf(w, "# HELP feedring_peers Peers.\nfeedring_peers 3\nfeedring_interests %g\nfeedring_refused_total{where=\"http\"} 1\n"+
		"process_start_time_seconds %g\nprocess_resident_memory_bytes %g\nprocess_cpu_seconds_total %g\n"+
		"process_network_receive_bytes_total %g\nprocess_network_transmit_bytes_total NaN\n",
		s.interests, began, s.memory, 50+n*s.cores/10, 1000*n)
}

func planOf(t *testing.T, peers []http.Handler, args ...string) (code int, r planResult, stderr string) {
	t.Helper()
	args = append([]string{"plan", "--json", "--feeds", "1000", "--window", "100ms"}, args...)
	for _, p := range peers {
		server := httptest.NewServer(p)
		t.Cleanup(server.Close)
		args = append(args, "--metrics", server.URL)
	}
	code, stdout, stderr := play(t, args...)
	if err := json.Unmarshal([]byte(stdout), &r); stdout != "" && err != nil {
		t.Fatal(err, stdout)
	}
	return code, r, stderr
}

// The factor between what was found and what was predicted is applied to the plan.
func TestPlanLearnsFromRunningPeers(t *testing.T) {
	peers := []http.Handler{&runningStub{interests: 400_000, memory: 700e6}, &runningStub{interests: 200_000, memory: 500e6}}
	code, r, stderr := planOf(t, peers, "--growth", "3x")
	if code != 0 || r.Running == nil || r.Plan != nil {
		t.Fatal(code, stderr)
	}
	memory := r.Running.Compared[0]
	predicted := 2*48e6 + 600_000*1.45*(384+10*9.6)
	if math.Abs(memory.Predicted-predicted) > 1 || memory.Found != 1.2e9 || !memory.Applied || math.Abs(memory.Factor-1.2e9/predicted) > 1e-9 {
		t.Errorf("%+v, predicted %v", memory, predicted)
	}
	if x := r.Running.Compared[3]; x.Found != -1 || x.Applied || x.Factor != 1 {
		t.Errorf("a network that is not told: %+v", x)
	}
	if x := r.Running.Compared[2]; x.Found != -1 || x.Applied {
		t.Errorf("the network of a machine with two peers: %+v", x)
	}
	if code, one, stderr := planOf(t, peers[:1]); code != 0 {
		t.Error(code, stderr)
	} else if x := one.Running.Compared[2]; x.Found <= 0 || x.Applied {
		t.Errorf("a network that is hardly used: %+v", x)
	}
	// 1.8 M interests at the factor 2.34: 1.63 KB each, in nine tenths of a GiB less 112 MB.
	if r.Running.Now.Load.Interests != 600_000 || r.Running.Grown.Load.Interests != 1_800_000 || r.Running.Now.Peers != 2 || r.Running.Grown.Peers != 4 {
		t.Errorf("now %+v\ngrown %+v", r.Running.Now, r.Running.Grown)
	}
}

func TestPlanNamesThePeerBeyondItsSpare(t *testing.T) {
	fits, full := &runningStub{interests: 1000, memory: 100e6}, &runningStub{interests: 1000, memory: 1000e6}
	if code, _, stderr := planOf(t, []http.Handler{fits, full}); code != exitBroken || !strings.Contains(stderr, "93.1 % of its memory") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("exit code %d, %q", code, stderr)
	}
	if code, _, stderr := planOf(t, []http.Handler{fits, full}, "--spare", "5%"); code != 0 {
		t.Errorf("exit code %d, %q", code, stderr)
	}
	busy := &runningStub{interests: 1000, memory: 100e6, cores: 50}
	if code, _, stderr := planOf(t, []http.Handler{busy}); code != exitBroken || !strings.Contains(stderr, "processor") {
		t.Errorf("exit code %d, %q", code, stderr)
	}
}

func TestMetricsThatCannotBeUsed(t *testing.T) {
	text := func(lines string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(lines)) })
	}
	closed := httptest.NewServer(text(""))
	closed.Close()
	good := &runningStub{interests: 1, memory: 1e6}
	for want, peer := range map[string]http.Handler{
		"was restarted":             &runningStub{interests: 1, memory: 1e6, restarts: true},
		"is no feedring":            text("go_goroutines 8\n"),
		"earlier version":           text("feedring_peers 1\n"),
		"memory and processor":      text("feedring_peers 1\nfeedring_interests 1\nprocess_resident_memory_bytes -1\n"),
		"answers 404":               http.NotFoundHandler(),
		"answers 302":               http.RedirectHandler("/elsewhere", http.StatusFound),
		"more than 4 MiB":           text(strings.Repeat("feedring_peers 1\n", mostMetrics/17+1)),
		"longer than a line may be": text("feedring_peers 1\n" + strings.Repeat("x", 1<<17)),
		"ends early": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write([]byte("feedring_peers 1\n"))
		}),
		"nothing to plan": &runningStub{memory: 1e6},
	} {
		peers := []http.Handler{good, peer}
		if want == "nothing to plan" {
			peers = peers[1:]
		}
		code, _, stderr := planOf(t, peers)
		if code != exitFailure || !strings.Contains(stderr, want) || !strings.Contains(stderr, "--metrics") || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit code %d, %q", want, code, stderr)
		}
	}
	if code, _, stderr := planOf(t, nil, "--metrics", closed.URL); code != exitFailure || !strings.Contains(stderr, closed.URL+"/metrics: cannot be reached") {
		t.Errorf("exit code %d, %q", code, stderr)
	}
}

func TestWrongUsageOfMetrics(t *testing.T) {
	const at = "http://127.0.0.1:1"
	for want, args := range map[string][]string{
		"metrics":   {"--metrics", "127.0.0.1:1"},
		"twice":     {"--metrics", at, "--metrics", at + "/"},
		"interests": {"--metrics", at, "--interests", "5"},
		"rule":      {"--metrics", at, "--rule", "cobra"},
		"window":    {"--metrics", at, "--window", "1ms"},
		"growth":    {"--metrics", at, "--growth", "0x"},
		"unit":      {"--metrics", at, "--growth", "2"},
		"as well":   {"--interests", "5", "--growth", "2x"},
	} {
		code, stdout, stderr := play(t, append([]string{"plan", "--feeds", "10"}, args...)...)
		if code != exitUsage || stdout != "" || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: exit code %d, %q, %q", args, code, stdout, stderr)
		}
	}
}

func TestTextOfRunningPeers(t *testing.T) {
	server := httptest.NewServer(&runningStub{interests: 600_000, memory: 700e6})
	defer server.Close()
	code, stdout, stderr := play(t, "plan", "--feeds", "1000", "--window", "100ms", "--metrics", server.URL+"/metrics")
	for _, want := range []string{"Peers needed now, 600000 interests, with these factors: 2 (copies binds); 1 run", "untold", "too little to tell", "668 MiB"} {
		if code != 0 || !strings.Contains(stdout, want) {
			t.Errorf("%q is not in %d %s%s", want, code, stdout, stderr)
		}
	}
}
