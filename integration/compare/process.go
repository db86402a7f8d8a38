package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

const (
	startWithin = 30 * time.Second
	endWithin   = 6 * time.Second // after SIGTERM; then it is killed
)

// process is a program that belongs to the measurement under way.
type process struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	end  context.CancelFunc
	done chan struct{} // closed when it ended
	log  string        // file of its standard error
}

// start runs a program. line is called by one goroutine for each line that it
// prints.
func (b *bench) start(line func(string), name string, args ...string) *process {
	ctx, cancel := context.WithCancel(b.ctx)
	p := &process{cmd: exec.CommandContext(ctx, name, args...), end: cancel, done: make(chan struct{})}
	p.cmd.Cancel = func() error { return p.cmd.Process.Signal(syscall.SIGTERM) }
	p.cmd.WaitDelay = endWithin
	p.log = filepath.Join(b.dir, fmt.Sprintf("log%d", len(b.running)))
	log := must(os.Create(p.log))
	defer log.Close()
	p.cmd.Stderr = log
	out := must(p.cmd.StdoutPipe())
	p.in = must(p.cmd.StdinPipe())
	check(p.cmd.Start())
	b.running = append(b.running, p)
	go func() {
		defer close(p.done)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 16<<20)
		for lines.Scan() {
			line(lines.Text())
		}
		_ = p.cmd.Wait()
	}()
	return p
}

// stopAll ends what was opened and started.
func (b *bench) stopAll() {
	for _, end := range b.closers {
		end()
	}
	for _, p := range b.running {
		p.end()
	}
	for _, p := range b.running {
		<-p.done
	}
	b.running, b.closers = nil, nil
}

// pids are those of all that was started.
func (b *bench) pids() (all []int) {
	for _, p := range b.running {
		all = append(all, p.cmd.Process.Pid)
	}
	return all
}

// everything is all that was started, and this program, which publishes and may
// hold readers.
func (b *bench) everything() []int { return append(b.pids(), os.Getpid()) }

// until asks again and again, until ok says yes.
func (b *bench) until(within time.Duration, what string, ok func() bool) {
	for begun := time.Now(); !ok(); b.wait(20 * time.Millisecond) {
		if time.Since(begun) > within {
			check(fmt.Errorf("%s: not within %s; on a busy machine run it later, or with smaller sizes (-help)", what, within))
		}
	}
}

// wait lets time pass, and fails if the run or a process ends meanwhile.
func (b *bench) wait(d time.Duration) {
	select {
	case <-time.After(d):
	case <-b.ctx.Done():
		check(b.ctx.Err())
	}
	for _, p := range b.running {
		select {
		case <-p.done:
			said, _ := os.ReadFile(p.log)
			check(fmt.Errorf("%v ended: %s", p.cmd.Args, said[max(0, len(said)-2000):]))
		default:
		}
	}
}

// freeAddress is one of 127.0.0.1 that was free a moment ago.
func freeAddress() string {
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	defer l.Close()
	return l.Addr().String()
}
