package integration

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestPrometheus has promtool judge a peer's metrics, and Prometheus read them.
func TestPrometheus(t *testing.T) {
	t.Parallel() // it waits more than it works
	promtool, program := tool(t, "prometheus", "promtool"), tool(t, "prometheus", "prometheus")
	n := newNetwork(t, "300ms")
	p := n.peer(nil, "news=news@"+newOrigin(t).feed(newFeed("news", 3)))
	until(t, 20*time.Second, "entries", func() bool { return p.entriesHeld(t) == 3 })
	lint := exec.Command(promtool, "check", "metrics")
	lint.Stdin = strings.NewReader(string(call(t, p, "GET", "/metrics", "").body))
	if out := mustRun(t, lint); out != "" {
		t.Errorf("promtool says:\n%s", out)
	}

	dir, listen := t.TempDir(), freeAddress(t)
	config := filepath.Join(dir, "prometheus.yml")
	must(t, os.WriteFile(config, []byte("scrape_configs:\n- job_name: feedring\n  scrape_interval: 1s\n  static_configs:\n  - targets: ['"+
		strings.TrimPrefix(p.http, "http://")+"']\n"), 0o600))
	server := runServer(t, syscall.SIGTERM, exec.Command(program, "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address="+listen, "--log.level=warn"))
	server.serves(t, 30*time.Second, "http://"+listen+"/-/ready")
	for expression, want := range map[string]string{`up{job="feedring"}`: "1", "feedring_entries": "3", "feedring_groups": "1", "feedring_interests": "0", "feedring_looks_total > bool 0": "1", "feedring_given_seconds_count": "0"} {
		until(t, 20*time.Second, expression+" is "+want, func() bool { return prometheusValue(t, listen, expression) == want })
	}
}

// prometheusValue is the one value of an expression, if it has one.
func prometheusValue(t testing.TB, server, expression string) string {
	t.Helper()
	resp, err := http.Get("http://" + server + "/api/v1/query?query=" + url.QueryEscape(expression))
	must(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	must(t, err)
	var answer struct {
		Data struct {
			Result []struct{ Value []any }
		}
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if found := answer.Data.Result; len(found) == 1 && len(found[0].Value) == 2 {
		value, _ := found[0].Value[1].(string)
		return value
	}
	return ""
}
