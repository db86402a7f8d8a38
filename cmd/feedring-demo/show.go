package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/feedring/feedring"
)

// show draws the ring, goes on publishing and tells what a reader sees, until
// ctx or the time ends.
func show(ctx context.Context, o options, from *origin, n *network) error {
	groups, err := n.settle(ctx)
	if err != nil {
		return err
	}
	drawRing(n.out, groups, n.names)
	printCommands(n.out, o.binary, n.contact())
	fmt.Fprintf(n.out, "A new entry every %s; a reader at %s shows each one that reaches it.\n", o.every, n.contact().name)
	if o.limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.limit)
		defer cancel()
	} else {
		fmt.Fprintln(n.out, "Interrupt with Ctrl-C.")
	}
	fmt.Fprintln(n.out)
	arrivals := make(chan arrival)
	var reads reader
	if reads, err = read(ctx, n, arrivals); err != nil {
		return err
	}
	counted := &counts{read: make(map[feedring.EntryID]bool)}
	defer func() { fmt.Fprintf(n.out, "\n  In all: %s\n", counted) }()
	publish := time.NewTicker(o.every)
	defer publish.Stop()
	for began := time.Now(); ; {
		select {
		case <-ctx.Done():
			return nil
		case c := <-n.dead:
			switch c {
			case reads.child:
				fmt.Fprintf(n.out, "  %s\n", c.failed("ended by itself and is started again"))
				reads = reader{}
			case reads.of:
				_ = reads.child.cmd.Cancel() // it would wait for its peer
				reads = reader{}
			}
			if slices.Contains(n.peers, c) {
				if err := n.ended(c, o.binary); err != nil {
					return err
				}
			}
		case now := <-publish.C:
			if reads.child == nil {
				if reads, err = read(ctx, n, arrivals); err != nil {
					return err
				}
			}
			from.publish(now)
			if counted.published++; counted.published%10 == 0 {
				fmt.Fprintf(n.out, "  %s\n", counted)
			}
		case e := <-arrivals:
			at, ours := from.publishedAt(e.URL)
			if now := time.Now(); ours && !at.Before(began) && counted.take(e.ID, now.Sub(at)) {
				fmt.Fprintf(n.out, "  %s  %-8s %-21s %.38s\n", now.Format(time.TimeOnly), e.Theme, e.Provider, e.Title)
			}
		}
	}
}

// reader is a process that follows one of the peers.
type reader struct{ child, of *child }

// read starts a reader of the contact, whose entries go to arrivals until ctx ends.
func read(ctx context.Context, n *network, arrivals chan<- arrival) (reader, error) {
	of := n.contact()
	c, lines, err := n.begin("the reader", []string{"follow", "--json", "--limit", "1", "--api", of.start.HTTP, "--data", n.dir})
	if err != nil {
		return reader{}, err
	}
	n.watch(c, lines, func(a arrival) {
		select {
		case arrivals <- a:
		case <-ctx.Done():
		}
	})
	return reader{child: c, of: of}, nil
}

// arrival is an entry that reached the reader, or an event without an address.
type arrival struct {
	ID       feedring.EntryID `json:"id"`
	URL      string           `json:"url"`
	Title    string           `json:"title"`
	Theme    feedring.Theme   `json:"theme"`
	Provider string           `json:"provider"`
}

// drawRing draws the groups in ring order, as a loop on the left side.
func drawRing(out io.Writer, groups []feedring.RingGroup, names map[feedring.PeerID]string) {
	fmt.Fprintf(out, "\nThe ring:\n\n")
	for i, g := range groups {
		corner, below := "  │   ", "  │   │\n  │   ▼\n"
		switch i {
		case 0:
			corner = "  ╭─▶ "
		case len(groups) - 1:
			corner, below = "  ╰── ", ""
		}
		fmt.Fprintf(out, "%s%-9s manager %s, secondary %s, %d peers, %d feeds\n%s", corner, g.Theme, names[g.Manager], names[g.Secondary], g.Peers, g.Feeds, below)
	}
}

// printCommands shows the page and what to try. Commands stand on one line
// each, however long, so that they can be pasted.
func printCommands(out io.Writer, binary string, c *child) {
	address := c.start.Addrs[0]
	for _, a := range c.start.Addrs {
		if strings.Contains(a, "/tcp/") { // it passes where UDP is filtered
			address = a
		}
	}
	fmt.Fprintf(out, "\nThe page of %s: %s/\n\nTry in another terminal\n", c.name, c.start.HTTP)
	fmt.Fprintf(out, "- a question across the ring, answered by whoever can:\n\n  %s query --network demo --peer %s 'storm OR sturm OR energie'\n\n", binary, address)
	fmt.Fprintf(out, "- everything new about one theme, as it appears:\n\n  %s follow --network demo --peer %s --theme news\n\n", binary, address)
	fmt.Fprintf(out, "- the groups, their managers and their clients:\n\n  %s ring --api %s\n\n", binary, c.start.HTTP)
}

// counts holds what was published and what of it was read.
type counts struct {
	published      int
	read           map[feedring.EntryID]bool
	slowest, total time.Duration
}

// take counts an entry that took so long; it tells whether it is new.
func (t *counts) take(id feedring.EntryID, delay time.Duration) bool {
	if t.read[id] {
		return false
	}
	t.read[id] = true
	t.total, t.slowest = t.total+delay, max(t.slowest, delay)
	return true
}

func (t *counts) String() string {
	if len(t.read) == 0 {
		return fmt.Sprintf("published %d, read none yet", t.published)
	}
	return fmt.Sprintf("published %d, read %d; from origin to reader %.1f s on average, %.1f s at most",
		t.published, len(t.read), (t.total / time.Duration(len(t.read))).Seconds(), t.slowest.Seconds())
}
