package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/feedring/feedring"
)

const (
	crashAfter = 10 * time.Second
	width      = 79
)

// show goes on publishing and tells what the reader sees, until ctx or the
// time ends.
func show(ctx context.Context, o options, from *origin, n *network, out io.Writer) error {
	outer := ctx
	if o.limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.limit)
		defer cancel()
	}
	fmt.Fprintf(out, "A new entry every %s; a reader at %s shows each one that reaches it.\n", o.every, n.contact().name)
	if o.limit == 0 {
		fmt.Fprintln(out, "Interrupt with Ctrl-C.")
	}
	fmt.Fprintln(out)
	arrivals, told := make(chan arrival), make(chan string)
	go read(ctx, n.contact().start.HTTP, arrivals)
	if o.crash {
		go crash(ctx, n, told)
	}
	counted := &tally{read: make(map[feedring.EntryID]bool)}
	err := loop(ctx, o.every, from, n, counted, arrivals, told, out)
	fmt.Fprintf(out, "\n  In all: %s\n", counted)
	if outer.Err() != nil {
		return nil
	}
	return err
}

func loop(ctx context.Context, every time.Duration, from *origin, n *network, counted *tally,
	arrivals <-chan arrival, told <-chan string, out io.Writer) error {
	began := time.Now()
	publish := time.NewTicker(every)
	defer publish.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case now := <-publish.C:
			if err := n.ended(); err != nil {
				return err
			}
			from.publish(now)
			if counted.published++; counted.published%10 == 0 {
				fmt.Fprintf(out, "  %s\n", counted)
			}
		case a := <-arrivals:
			at, ours := from.publishedAt(a.entry.URL)
			if ours && !at.Before(began) && counted.take(a, at) {
				fmt.Fprintln(out, line(a))
			}
		case text := <-told:
			fmt.Fprintf(out, "\n  %s\n\n", text)
		}
	}
}

// line shows an entry that was read.
func line(a arrival) string {
	provider := strings.TrimSuffix(string(a.entry.Provider), ".example")
	return clip(fmt.Sprintf("  %s  %-8s %-21s %s", a.at.Format(time.TimeOnly), a.entry.Theme, provider, a.entry.Title), width)
}

// crash kills the manager of news and tells who takes over.
func crash(ctx context.Context, n *network, told chan<- string) {
	tell := func(format string, args ...any) {
		select {
		case told <- fmt.Sprintf(format, args...):
		case <-ctx.Done():
		}
	}
	select {
	case <-ctx.Done():
		return
	case <-time.After(crashAfter):
	}
	groups, err := n.ring(ctx)
	if err != nil {
		tell("nobody was killed: %v", err)
		return
	}
	manager := managerOf(groups, "news")
	for _, c := range n.peers {
		if c.start.Peer != manager {
			continue
		}
		if err := c.kill(); err != nil {
			tell("%s was not killed: %v", c.name, err)
			return
		}
		killed := time.Now()
		tell("Killed %s, the manager of news.", c.name)
		groups, err = n.waitRing(ctx, "a new manager of news", func(groups []feedring.RingGroup) bool {
			m := managerOf(groups, "news")
			return m != "" && m != manager
		})
		if err == nil {
			tell("%s manages news now, %.1f s later.", title(n.nameOf(managerOf(groups, "news"))), time.Since(killed).Seconds())
		} else if ctx.Err() == nil {
			tell("nobody took over: %v", err)
		}
	}
}

func managerOf(groups []feedring.RingGroup, theme feedring.Theme) feedring.PeerID {
	for _, g := range groups {
		if g.Theme == theme {
			return g.Manager
		}
	}
	return ""
}
