package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/feedring/feedring/internal/sim"
)

// campaign plays many seeds, some at the same time, and counts in their order:
// so its hash does not tell how many were played at once.
type campaign struct {
	saved
	flags    *faultsFlags
	stdout   io.Writer
	progress *progress
}

const saveEvery = 5 * time.Second

// left reports whether seeds are left that would be played.
func (c *campaign) left() bool {
	return c.Next < c.flags.from+c.flags.seeds && c.Violations < c.flags.keepGoing
}

// play plays what is left, until somebody interrupts.
func (c *campaign) play(interrupted <-chan os.Signal) error {
	end := c.flags.from + c.flags.seeds
	if !c.left() {
		return nil
	}
	outcomes, stop := c.workers(end)
	defer stop()
	wall, began := c.Wall, time.Now()
	kept := began
	for c.left() {
		var o sim.Outcome
		select {
		case <-interrupted:
			return c.save()
		case o = <-outcomes[(c.Next-c.From)%uint64(len(outcomes))]:
		}
		c.add(o)
		c.Wall = wall + time.Since(began).Seconds()
		if o.Violation != nil {
			if err := c.report(o); err != nil {
				return err
			}
		}
		c.progress.show(&c.saved)
		if time.Since(kept) >= saveEvery {
			kept = time.Now()
			if err := c.save(); err != nil {
				return err
			}
		}
	}
	return c.save()
}

// workers play each a part of the seeds; the outcome of seed s comes on the
// channel (s - From) modulo their number.
func (c *campaign) workers(end uint64) (outcomes []chan sim.Outcome, stop func()) {
	done := make(chan struct{})
	jobs := uint64(c.flags.jobs)
	for i := range jobs {
		out := make(chan sim.Outcome, 16)
		outcomes = append(outcomes, out)
		first := c.Next + (i+jobs-(c.Next-c.From)%jobs)%jobs
		go func() {
			for seed := first; seed < end; seed += jobs {
				select {
				case out <- c.flags.seed(seed, nil):
				case <-done:
					return
				}
			}
		}()
	}
	return outcomes, func() { close(done) }
}

func (c *campaign) add(o sim.Outcome) {
	c.Next = o.Seed + 1
	c.Seeds++
	c.Virtual += o.Virtual.Seconds()
	c.Steps += o.Steps
	c.Hash = (c.Hash ^ o.Hash) * 0x100000001b3
	if o.Violation != nil {
		c.Violations++
		if len(c.Violating) < mostNamed {
			c.Violating = append(c.Violating, o.Seed)
		}
	}
}

// summary is the last line.
func (c *campaign) summary() error {
	return json.NewEncoder(c.stdout).Encode(struct {
		Seeds      uint64  `json:"seeds"`
		Violations int     `json:"violations"`
		Virtual    float64 `json:"virtual_s"`
		Wall       float64 `json:"wall_s"`
		Steps      uint64  `json:"steps"`
		Hash       string  `json:"hash"`
	}{c.Seeds, c.Violations, round(c.Virtual), round(c.Wall), c.Steps, fmt.Sprintf("%016x", c.Hash)})
}

// round leaves milliseconds.
func round(s float64) float64 { return float64(int64(s*1000+0.5)) / 1000 }

// progress is a line on stderr that is written over, once a second.
type progress struct {
	out   io.Writer
	seeds uint64
	last  time.Time
	shown bool
}

func newProgress(out io.Writer, seeds uint64) *progress {
	return &progress{out: out, seeds: seeds, last: time.Now()}
}

func (p *progress) show(s *saved) {
	if time.Since(p.last) < time.Second {
		return
	}
	p.last, p.shown = time.Now(), true
	_, _ = fmt.Fprintf(p.out, "\r%d of %d seeds, %d violations, %.0f virtual seconds a second ", s.Seeds, p.seeds, s.Violations, s.Virtual/s.Wall)
}

func (p *progress) end() {
	if p.shown {
		_, _ = fmt.Fprintln(p.out)
	}
}
