package integration

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// BenchmarkFront polls one feed of 50 entries at a peer's front, as a personal
// feed, and at nginx's proxy_cache, which holds it compressed as its origin gave
// it. b.N requests come over eight connections that are kept, or each over one
// of its own. Beside requests a second stand those that the server's own
// processor time would allow on two cores: what asks shares the machine.
func BenchmarkFront(b *testing.B) {
	o := newOrigin(b)
	address := zippedFeed(o)
	n := newNetwork(b, "1s")
	p := n.peer(nil, "news=a@"+address)
	until(b, 60*time.Second, "fifty entries", func() bool { return metric(b, p, "entries") == "50" })
	personal := command(b, "subscription", "add", "--json", "--data", p.data, "--theme", "news").objects[0].str("rss")
	cached, workers := nginx(b, o.URL)
	u, err := url.Parse(address)
	if err != nil {
		b.Fatal(err)
	}
	for _, server := range []struct {
		name, address string
		pids          []int
	}{
		{"front", p.http + "/f/a" + u.Path, []int{p.cmd.Process.Pid}},
		{"personal", personal, []int{p.cmd.Process.Pid}},
		{"nginx", cached + u.Path, workers},
	} {
		for _, answer := range []int{304, 200} {
			for _, kept := range []bool{true, false} {
				b.Run(fmt.Sprintf("server=%s/answer=%d/kept=%t", server.name, answer, kept), func(b *testing.B) {
					poll := newPoll(b, server.address, answer)
					poll.run(b, 200, kept) // the first one may be made ready
					before := cpuOf(b, server.pids)
					b.ResetTimer()
					poll.run(b, b.N, kept)
					b.StopTimer()
					b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "req/s")
					if spent := (cpuOf(b, server.pids) - before).Seconds(); spent > 0 {
						b.ReportMetric(2*float64(b.N)/spent, "req/s-of-2-cores")
					}
				})
			}
		}
	}
}

// zippedFeed is a feed that its origin sends compressed.
func zippedFeed(o *origin) string {
	var body bytes.Buffer
	z := gzip.NewWriter(&body)
	_, _ = z.Write(longFeed("a", 50))
	_ = z.Close()
	return o.serve("a.xml", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"1"`)
		if r.Header.Get("If-None-Match") == `"1"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("Cache-Control", "max-age=3600")
		w.Header().Set("Content-Type", "application/rss+xml")
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Vary", "Accept-Encoding")
		_, _ = w.Write(body.Bytes())
	})
}

const nginxConfig = `daemon off; user root; worker_processes 2; pid %[1]s/pid; error_log %[1]s/error.log;
events { worker_connections 1024; }
http {
  access_log off; keepalive_requests 100000000; sendfile on; tcp_nopush on;
  client_body_temp_path %[1]s/b; proxy_temp_path %[1]s/p; fastcgi_temp_path %[1]s/f; uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/s;
  proxy_cache_path %[1]s/cache keys_zone=feeds:1m;
  server {
    listen 127.0.0.1:%[2]d;
    location / { proxy_pass %[3]s; proxy_cache feeds; proxy_set_header Accept-Encoding gzip; }
  }
}
`

// nginx starts Debian's nginx before an origin, and returns its address and its
// workers.
func nginx(b *testing.B, origin string) (address string, workers []int) {
	binary, err := exec.LookPath("nginx")
	if err != nil {
		b.Skip("no nginx to compare with: apt-get install nginx-light")
	}
	dir := b.TempDir()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	config := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(config, fmt.Appendf(nil, nginxConfig, dir, port, origin), 0o600); err != nil {
		b.Fatal(err)
	}
	p := &process{cmd: exec.Command(binary, "-c", config, "-p", dir)}
	p.run(b)
	b.Cleanup(func() { p.signal(syscall.SIGTERM); <-p.done }) // before it is killed, so that its workers end
	children := fmt.Sprintf("/proc/%d/task/%[1]d/children", p.cmd.Process.Pid)
	until(b, 20*time.Second, "nginx", func() bool {
		workers = nil
		list, _ := os.ReadFile(children)
		for _, field := range strings.Fields(string(list)) {
			pid, _ := strconv.Atoi(field)
			if name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); strings.Contains(string(name), "worker") {
				workers = append(workers, pid)
			}
		}
		return len(workers) == 2
	})
	return fmt.Sprintf("http://127.0.0.1:%d", port), workers
}

// cpuOf is the time that processes have computed for.
func cpuOf(b *testing.B, pids []int) (sum time.Duration) {
	for _, pid := range pids {
		sum += cpu(b, &peer{process: &process{cmd: &exec.Cmd{Process: &os.Process{Pid: pid}}}})
	}
	return sum
}

// poll is one request, as it is written over and over.
type poll struct {
	host    string
	request [2][]byte // over a connection that ends; over one that is kept
	status  []byte
}

func newPoll(b *testing.B, address string, answer int) *poll {
	u, err := url.Parse(address)
	if err != nil {
		b.Fatal(err)
	}
	p := &poll{host: u.Host, status: fmt.Appendf(nil, "HTTP/1.1 %d ", answer)}
	head := "GET " + u.RequestURI() + " HTTP/1.1\r\nHost: " + u.Host + "\r\nUser-Agent: Reader/1.0\r\nAccept-Encoding: gzip\r\n"
	if answer == http.StatusNotModified {
		req, _ := http.NewRequestWithContext(b.Context(), http.MethodGet, address, nil)
		req.Header.Set("Accept-Encoding", "gzip")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			b.Fatal(err)
		}
		_ = resp.Body.Close()
		head += "If-None-Match: " + resp.Header.Get("Etag") + "\r\n"
	}
	p.request = [2][]byte{[]byte(head + "Connection: close\r\n\r\n"), []byte(head + "\r\n")}
	return p
}

func (p *poll) run(b *testing.B, requests int, kept bool) {
	const connections = 8
	var all sync.WaitGroup
	for i := range connections {
		all.Go(func() {
			mine := requests / connections
			if i < requests%connections {
				mine++
			}
			for mine > 0 {
				at := 1
				if kept {
					at = mine
				}
				if err := p.ask(at, kept); err != nil {
					b.Error(err)
					return
				}
				mine -= at
			}
		})
	}
	all.Wait()
}

// ask makes requests over one connection, the next after the answer to the last.
func (p *poll) ask(requests int, kept bool) error {
	c, err := net.Dial("tcp", p.host)
	if err != nil {
		return err
	}
	defer c.Close()
	request := p.request[0]
	if kept {
		request = p.request[1]
	}
	r := bufio.NewReaderSize(c, 32<<10)
	for range requests {
		if _, err := c.Write(request); err != nil {
			return err
		}
		if err := p.answer(r); err != nil {
			return err
		}
	}
	return nil
}

// answer reads one answer, without taking it apart.
func (p *poll) answer(r *bufio.Reader) error {
	length := 0
	for first := true; ; first = false {
		line, err := r.ReadSlice('\n')
		switch {
		case err != nil:
			return err
		case first && !bytes.HasPrefix(line, p.status):
			return fmt.Errorf("answered %q, want %s", line, p.status)
		case len(line) == 2:
			_, err := r.Discard(length)
			return err
		}
		if name, value, _ := bytes.Cut(line, []byte(": ")); bytes.EqualFold(name, []byte("Content-Length")) {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return err
			}
		}
	}
}
