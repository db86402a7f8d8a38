package integration

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// binary is the program under test, built once for all tests.
var binary string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "feedring-integration-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "feedring")
	// Most of a test is waiting for processes: more run at a time than there are cores.
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		if err := f.Value.Set(strconv.Itoa(3 * runtime.GOMAXPROCS(0))); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	// No configuration of this machine plays a part.
	os.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	build := exec.Command("go", "build", "-o", binary, "github.com/feedring/feedring/cmd/feedring")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build failed: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// line is one line of a process's standard output, and when it came.
type line struct {
	at   time.Time
	text string
}

// process is a running command whose output is kept.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it ended

	mu      sync.Mutex
	printed []line
	more    chan struct{} // closed and replaced at each line
	stderr  bytes.Buffer
}

// start runs the binary. It is killed when the test ends.
func start(t testing.TB, args ...string) *process {
	t.Helper()
	return startOf(t, binary, args...)
}

// startOf is start for another version's binary.
func startOf(t testing.TB, binary string, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(binary, args...)}
	p.run(t)
	return p
}

// run starts the process's command.
func (p *process) run(t testing.TB) {
	t.Helper()
	p.done, p.more = make(chan struct{}), make(chan struct{})
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Stderr = &lockedWriter{mu: &p.mu, w: &p.stderr}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go p.read(out)
	t.Cleanup(func() {
		p.signal(syscall.SIGCONT)
		p.signal(syscall.SIGKILL)
		<-p.done
		if t.Failed() {
			t.Logf("stderr of %s:\n%s", strings.Join(p.cmd.Args[1:], " "), tail(p.errors()))
		}
	})
}

func (p *process) read(out io.Reader) {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		p.mu.Lock()
		p.printed = append(p.printed, line{time.Now(), lines.Text()})
		close(p.more)
		p.more = make(chan struct{})
		p.mu.Unlock()
	}
	_ = p.cmd.Wait()
	p.mu.Lock()
	close(p.more)
	p.more = make(chan struct{})
	p.mu.Unlock()
	close(p.done)
}

func (p *process) signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) }

func (p *process) errors() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stderr.String()
}

func (p *process) output() []line {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]line(nil), p.printed...)
}

// event waits for a line of JSON that want accepts, among all that were
// printed so far and those to come.
func (p *process) event(t testing.TB, within time.Duration, what string, want func(object) bool) (object, time.Time) {
	t.Helper()
	deadline := time.After(within)
	for seen := 0; ; {
		p.mu.Lock()
		lines, more := p.printed[seen:], p.more
		p.mu.Unlock()
		for _, l := range lines {
			var o object
			if json.Unmarshal([]byte(l.text), &o) == nil && want(o) {
				return o, l.at
			}
		}
		seen += len(lines)
		select {
		case <-more:
		case <-p.done:
			t.Fatalf("%s: the process ended: %s", what, tail(p.errors()))
		case <-deadline:
			t.Fatalf("%s: not within %s", what, within)
		}
	}
}

// stop ends the process in good order and returns its exit code.
func (p *process) stop(t testing.TB, within time.Duration) int {
	t.Helper()
	p.signal(syscall.SIGTERM)
	select {
	case <-p.done:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(within):
		t.Fatalf("still running %s after SIGTERM", within)
		return -1
	}
}

// kill ends the process as a loss of power would.
func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.done
}

// object is a line of JSON.
type object map[string]any

func (o object) str(key string) string { s, _ := o[key].(string); return s }

func (o object) num(key string) int { f, _ := o[key].(float64); return int(f) }

func (o object) list(key string) []any { l, _ := o[key].([]any); return l }

// result is what a command printed.
type result struct {
	code     int
	objects  []object
	stdout   string
	stderr   string
	took     time.Duration
	computed time.Duration // in user and system
}

// command runs the binary to its end.
func command(t testing.TB, args ...string) result {
	t.Helper()
	return commandOf(t, binary, args...)
}

// commandOf is command for another version's binary.
func commandOf(t testing.TB, binary string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	begun := time.Now()
	err := cmd.Run()
	r := result{code: cmd.ProcessState.ExitCode(), stdout: out.String(), stderr: errs.String(), took: time.Since(begun)}
	r.computed = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%v: %v", args, err)
	}
	for text := range strings.Lines(r.stdout) {
		r.objects = append(r.objects, objects([]line{{text: text}})...)
	}
	return r
}

// objects reads the lines that are JSON.
func objects(lines []line) []object {
	var all []object
	for _, l := range lines {
		var o object
		if json.Unmarshal([]byte(l.text), &o) == nil {
			all = append(all, o)
		}
	}
	return all
}

// entries are the objects that are entries.
func (r result) entries() []object {
	var entries []object
	for _, o := range r.objects {
		if o["event"] == nil && o["id"] != nil {
			entries = append(entries, o)
		}
	}
	return entries
}

// finals are the objects that end a query.
func (r result) finals() []object {
	var finals []object
	for _, o := range r.objects {
		switch o.str("event") {
		case "answered", "unsatisfied", "incomplete":
			finals = append(finals, o)
		}
	}
	return finals
}

func (r result) String() string {
	return fmt.Sprintf("exit %d\n%s%s", r.code, tail(r.stdout), tail(r.stderr))
}

// until waits for a condition that only asking again can show.
func until(t testing.TB, within time.Duration, what string, ok func() bool) time.Duration {
	t.Helper()
	begun := time.Now()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		if time.Since(begun) > within {
			t.Fatalf("%s: not within %s", what, within)
		}
		<-tick.C
	}
	return time.Since(begun)
}

func tail(s string) string {
	if len(s) > 3000 {
		return "…" + s[len(s)-3000:]
	}
	return s
}

type lockedWriter struct {
	mu *sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}
