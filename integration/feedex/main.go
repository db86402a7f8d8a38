// Command feedex is a FeedEx node (Jun and Ahamad, "FeedEx: Collaborative Exchange of News
// Feeds", WWW 2006, sections 3.1 to 3.5) for the comparison of TestPlanetRival: XML-RPC
// over HTTP around the rules of internal/sim/experiment/exchange. As in the paper's
// experiment one machine has a node for each interval, which fetches its feeds at that
// interval; clients that only fetch may be beside them. It trusts who calls it.
//
// It reads its configuration from the file that it is given, begins at the time that
// stands there, and prints a line of JSON for each node when it is sent SIGTERM.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// config is one machine's part of a run.
type config struct {
	Self       int           `json:"self"`
	Machines   []string      `json:"machines"`   // the address of each
	Subscribed []int         `json:"subscribed"` // feeds
	Feeds      int           `json:"feeds"`
	Begin      time.Time     `json:"begin"`
	Speed      float64       `json:"speed"`  // virtual time in real time
	Length     time.Duration `json:"length"` // virtual
	List       string        `json:"list"`   // host:port of the list server
	Links      [][]int       `json:"links"`  // what the list server tells; empty: this machine is none
	Nodes      []nodeConfig  `json:"nodes"`
}

// nodeConfig is one node of the machine.
type nodeConfig struct {
	Every time.Duration   `json:"every"` // virtual
	First []time.Duration `json:"first"` // when each feed is fetched for the first time
	Feeds []string        `json:"feeds"` // the addresses of all feeds
	Port  int             `json:"port"`  // 0: it exchanges nothing
}

// advertise is how often neighbours are told what changed (table 2).
const advertise = 300 * time.Second

// callWithin is for one call, and callAgain between two that failed.
const (
	callWithin = 20 * time.Second
	callAgain  = 250 * time.Millisecond
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 2 {
		return errors.New("usage: feedex CONFIGURATION")
	}
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		return err
	}
	var c config
	if err := json.Unmarshal(text, &c); err != nil {
		return fmt.Errorf("%s: %w", os.Args[1], err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	// Who started it may be gone: it does not stay for ever.
	ctx, cancel := context.WithDeadline(ctx, c.Begin.Add(c.real(c.Length)+10*time.Minute))
	defer cancel()
	var running sync.WaitGroup
	var nodes []*node
	for _, of := range c.Nodes {
		n := newNode(&c, of)
		nodes = append(nodes, n)
		if of.Port != 0 {
			l, err := net.Listen("tcp4", fmt.Sprintf("%s:%d", c.Machines[c.Self], of.Port))
			if err != nil {
				return err
			}
			server := &http.Server{Handler: n.functions(), ReadHeaderTimeout: callWithin, IdleTimeout: 2 * time.Minute}
			defer server.Close()
			go func() { _ = server.Serve(l) }()
			running.Go(func() { n.connect(ctx) })
		}
		n.fetchAll(ctx, &running)
	}
	<-ctx.Done()
	running.Wait()
	out := json.NewEncoder(os.Stdout)
	for _, n := range nodes {
		if err := out.Encode(n.result()); err != nil {
			return err
		}
	}
	return nil
}

// real is how long a virtual time takes.
func (c *config) real(virtual time.Duration) time.Duration {
	return time.Duration(float64(virtual) / c.Speed)
}

// now is the virtual time since the beginning; before it: negative.
func (c *config) now() time.Duration {
	return time.Duration(float64(time.Since(c.Begin)) * c.Speed)
}

// wait waits for a virtual time, and reports whether it came.
func (c *config) wait(ctx context.Context, virtual time.Duration) bool {
	return pause(ctx, time.Until(c.Begin.Add(c.real(virtual))))
}

// pause reports whether a time passed before ctx ended.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// result is what a node prints at its end. Times are virtual.
type result struct {
	Every   time.Duration      `json:"every"`
	Alone   bool               `json:"alone"`   // it exchanged nothing
	Held    [][3]time.Duration `json:"held"`    // feed, entry, since when
	Fetched [][3]time.Duration `json:"fetched"` // the same, of its own fetches alone
	Counts  counts             `json:"counts"`
	Links   int                `json:"links"`
}

// counts are of a whole run.
type counts struct {
	Checks  int `json:"checks"` // calls of check_did received
	Puts    int `json:"puts"`   // … of put_entries
	Fresh   int `json:"fresh"`  // of them, those that brought something new
	Entries int `json:"entries"`

	Calls  int `json:"calls"`  // made of all functions, from the beginning on
	Failed int `json:"failed"` // of them, those that were not answered

	Fetches       int `json:"fetches"`
	FetchesFailed int `json:"fetches_failed"`
	CheckBytes    int `json:"check_bytes"` // of a check_did with its HTTP header
	PutBytes      int `json:"put_bytes"`   // of the longest put_entries
}
