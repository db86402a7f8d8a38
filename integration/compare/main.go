// Command compare runs feedring side by side with NATS JetStream, GossipSub and
// nginx on this machine, over loopback, and prints one table in Markdown. Every
// side runs in processes of its own, whose processor time, bytes and memory are
// read from /proc. "make compare" runs it. It is a module of its own, so that
// what the rivals need is no dependency of the product.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// options are the sizes of a run.
type options struct {
	feedring, rows                       string
	rounds, small, large, peers, readers int
	entries                              int
	pace, rest, settle, front, limit     time.Duration
}

// bench is one run of the whole comparison.
type bench struct {
	options
	ctx     context.Context
	home    string
	dir     string     // of the measurement under way
	running []*process // by it
	closers []func()   // of what it opened here
	table   table
}

func main() {
	err := attempt(func() {
		roles := map[string]func(string){natsRole: natsMain, gossipRole: gossipMain} // the program is also what it starts
		if len(os.Args) == 3 && roles[os.Args[1]] != nil {
			roles[os.Args[1]](os.Args[2])
			return
		}
		run(flags())
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

// rowNames are what -rows may name, if all are, in this order.
var rowNames = []string{"burst", "delivery", "rest", "front"}

func flags() (o options) {
	flag.StringVar(&o.feedring, "feedring", "bin/feedring", "the built `program`")
	flag.StringVar(&o.rows, "rows", strings.Join(rowNames, ","), "what is compared")
	flag.IntVar(&o.rounds, "rounds", 3, "how often each side is measured, in turn")
	flag.IntVar(&o.small, "small", 1000, "entries of the small burst")
	flag.IntVar(&o.large, "large", 20000, "entries of the large burst")
	flag.IntVar(&o.peers, "peers", 10, "peers and hosts of the delivery")
	flag.IntVar(&o.readers, "readers", 100, "followers and subscribers of the delivery")
	flag.IntVar(&o.entries, "entries", 200, "entries delivered in a round")
	flag.DurationVar(&o.pace, "pace", 50*time.Millisecond, "time from one delivered entry to the next")
	flag.DurationVar(&o.rest, "rest", 30*time.Second, "how long a server at rest is watched, in each round")
	flag.DurationVar(&o.settle, "settle", 10*time.Second, "how long it is left alone before")
	flag.DurationVar(&o.front, "front", 3*time.Second, "how long each kind of request is made")
	flag.DurationVar(&o.limit, "limit", 25*time.Minute, "when the whole run gives up")
	flag.Parse()
	if min(o.rounds, o.small, o.large, o.readers, o.entries, o.peers-1) < 1 || min(o.pace, o.rest, o.front) <= 0 {
		check(errors.New("sizes must be positive, and -peers at least 2: see -help"))
	}
	for row := range strings.SplitSeq(o.rows, ",") {
		if !slices.Contains(rowNames, row) {
			check(fmt.Errorf("-rows: %q is none of %s", row, strings.Join(rowNames, ", ")))
		}
	}
	return o
}

// run makes all measurements. What was measured before an error is printed, too.
func run(o options) {
	if _, err := os.Stat(o.feedring); err != nil {
		check(fmt.Errorf("%w: run make build first, or name the program with -feedring", err))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeoutCause(ctx, o.limit, fmt.Errorf("not done within %s: choose a longer -limit, or fewer -rows", o.limit))
	defer cancel()
	b := &bench{options: o, ctx: ctx, home: must(os.MkdirTemp("", "feedring-compare-"))}
	defer os.RemoveAll(b.home)
	os.Setenv("XDG_CONFIG_HOME", b.home) // no configuration of this machine plays a part
	os.Setenv("XDG_DATA_HOME", b.home)
	load, begun := loadAverage(), time.Now()
	defer func() {
		b.table.print(os.Stdout)
		fmt.Printf("\nMedian of %d rounds (least to most). %s, %d cores, load average %s before and %s after %s.\n", o.rounds,
			begun.UTC().Format(time.DateOnly), runtime.NumCPU(), load, loadAverage(), time.Since(begun).Round(time.Second))
	}()
	rows := map[string]func(){"burst": b.bursts, "delivery": b.delivery, "rest": b.atRest, "front": b.fronts}
	for row := range strings.SplitSeq(o.rows, ",") {
		rows[row]()
	}
}

// side is one of those that are compared, and how it is measured once.
type side struct {
	name    string
	measure func()
}

// inTurn measures each side, and then all again, so that what else the machine
// does meets all alike. Each has a directory of its own, and what it started is
// ended.
func (b *bench) inTurn(group string, sides ...side) {
	for range b.rounds {
		for _, s := range sides {
			begun := time.Now()
			b.dir = must(os.MkdirTemp(b.home, ""))
			err := attempt(s.measure)
			b.stopAll()
			if b.ctx.Err() != nil {
				err = context.Cause(b.ctx)
			}
			if err := errors.Join(err, os.RemoveAll(b.dir)); err != nil {
				check(fmt.Errorf("%s: %s: %w", group, s.name, err))
			}
			fmt.Fprintf(os.Stderr, "%s: %s: %s\n", group, s.name, time.Since(begun).Round(100*time.Millisecond))
		}
	}
}

// failure ends an attempt from any depth, as testing's FailNow ends a test.
type failure struct{ error }

func check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

func must[T any](v T, err error) T {
	check(err)
	return v
}

func attempt(do func()) (err error) {
	defer func() {
		r := recover()
		f, ok := r.(failure)
		if r != nil && !ok {
			panic(r)
		}
		err = f.error
	}()
	do()
	return nil
}
