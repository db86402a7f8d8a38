package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/feedring/feedring"
)

const readyWithin = 30 * time.Second

// child is one running peer.
type child struct {
	name  string // for people: "peer 3"
	dir   string
	cmd   *exec.Cmd
	ready chan struct{} // closed when start is known
	done  chan struct{} // closed when the process has ended

	start  started
	ending atomic.Bool // it was told to end, or killed
}

// started is the event that a peer prints when it is ready.
type started struct {
	Event string          `json:"event"`
	Peer  feedring.PeerID `json:"peer"`
	Addrs []string        `json:"addrs"`
	HTTP  string          `json:"http"`
}

// startChild starts a peer that keeps everything in dir. It must be called by
// the goroutine of main: see apart.
func startChild(binary, name, dir string, args []string) (*child, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	defer log.Close() // the child has its own
	c := &child{name: name, dir: dir, ready: make(chan struct{}), done: make(chan struct{})}
	c.cmd = exec.Command(binary, args...)
	c.cmd.Stderr, c.cmd.SysProcAttr, c.cmd.Env = log, apart(), plainEnvironment(os.Environ())
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	go c.listen(out)
	return c, nil
}

// plainEnvironment leaves out what would change a peer's settings.
func plainEnvironment(all []string) (kept []string) {
	for _, variable := range all {
		if !strings.HasPrefix(variable, "FEEDRING_") {
			kept = append(kept, variable)
		}
	}
	return kept
}

// listen reads events until the process ends.
func (c *child) listen(out io.Reader) {
	defer close(c.done)
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event started
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil || event.Event != "ready" || c.start.Event != "" {
			continue
		}
		c.start = event
		close(c.ready)
	}
	_ = c.cmd.Wait() // how it ended shows in its log
}

// await waits until the peer is ready.
func (c *child) await(ctx context.Context) error {
	timer := time.NewTimer(readyWithin)
	defer timer.Stop()
	select {
	case <-c.ready:
		if len(c.start.Addrs) == 0 || c.start.HTTP == "" {
			return fmt.Errorf("%s told no address", c.name)
		}
		return nil
	case <-c.done:
		return c.failed("ended at once")
	case <-timer.C:
		return c.failed("was not ready within " + readyWithin.String())
	case <-ctx.Done():
		return ctx.Err()
	}
}

// failed shows the end of the log, which is about to be removed.
func (c *child) failed(what string) error {
	const most = 1000
	log, err := os.ReadFile(filepath.Join(c.dir, "log"))
	if err != nil {
		log = []byte(err.Error())
	}
	return fmt.Errorf("%s %s; the end of its log:\n%s", c.name, what, strings.TrimSpace(string(log[max(0, len(log)-most):])))
}

// kill ends the peer without a word to the others.
func (c *child) kill() error {
	c.ending.Store(true)
	err := c.cmd.Process.Kill()
	<-c.done
	return err
}

// stopAll tells all to end, and returns those that it killed because they had
// not after five seconds.
func stopAll(children []*child) (late []*child) {
	for _, c := range children {
		c.ending.Store(true)
		_ = terminate(c.cmd.Process) // one that has ended needs no signal
	}
	timeout := make(chan struct{})
	timer := time.AfterFunc(5*time.Second, func() { close(timeout) })
	defer timer.Stop()
	for _, c := range children {
		select {
		case <-c.done:
		case <-timeout:
			if c.kill() == nil {
				late = append(late, c)
			}
		}
	}
	return late
}
