// Command feedring-demo shows feedring on one machine: an origin with feeds
// that goes on publishing, and several peers in a few groups on loopback. It
// starts real peers and removes everything at its end. It is no test and no
// example of how to run a peer for others.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

// options are the flags.
type options struct {
	binary string
	limit  time.Duration // how long it runs once all groups are complete; 0: until interrupted
	every  time.Duration // between new entries
	crash  bool
}

func main() {
	// The system may end children together with the thread that started them,
	// so that thread must live as long as the demo.
	runtime.LockOSThread()
	var o options
	flag.StringVar(&o.binary, "feedring", "bin/feedring", "the program to start")
	flag.DurationVar(&o.limit, "for", 0, "end after this time (0: run until interrupted)")
	flag.DurationVar(&o.every, "every", 3*time.Second, "time between new entries")
	flag.BoolVar(&o.crash, "crash", false, "kill the manager of news after ten seconds")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go watchParent(ctx, cancel)
	if err := run(ctx, o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "feedring-demo:", err)
		os.Exit(1)
	}
}

// run shows everything and tidies up. Being interrupted is no error.
func run(ctx context.Context, o options, out io.Writer) (err error) {
	if o.every <= 0 || o.limit < 0 {
		return errors.New("-every must be above 0, and -for not below")
	}
	if _, err := exec.LookPath(o.binary); err != nil {
		return fmt.Errorf("%s cannot be started: run \"make build\", or name it with -feedring: %w", o.binary, err)
	}
	from, err := openOrigin()
	if err != nil {
		return err
	}
	defer from.close()
	fmt.Fprintf(out, "Origin: %d feeds of invented newspapers at %s\n", len(from.papers), from.base)
	n, err := newNetwork(o.binary)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.close(out)) }()
	if err := n.start(ctx, from, out); err != nil {
		return ignoreInterrupt(ctx, err)
	}
	groups, err := n.settle(ctx)
	if err != nil {
		return ignoreInterrupt(ctx, err)
	}
	drawRing(out, groups, n.nameOf)
	printCommands(out, o.binary, n.contact())
	return show(ctx, o, from, n, out)
}

func ignoreInterrupt(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}
