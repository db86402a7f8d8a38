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
	"os/signal"
	"syscall"
	"time"
)

type options struct {
	binary       string
	limit, every time.Duration
}

func main() {
	var o options
	flag.StringVar(&o.binary, "feedring", "bin/feedring", "the program to start")
	flag.DurationVar(&o.limit, "for", 0, "end this time after all groups are complete (0: run until interrupted)")
	flag.DurationVar(&o.every, "every", 3*time.Second, "time between new entries")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
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
	from, err := openOrigin(time.Now())
	if err != nil {
		return err
	}
	defer from.server.Close()
	n, err := newNetwork(o.binary, out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.close()) }()
	if err = n.start(from); err == nil {
		err = show(ctx, o, from, n)
	}
	if ctx.Err() != nil {
		return nil
	}
	return err
}
