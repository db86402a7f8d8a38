package integration

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestHistory has followers and queries run while processes and network fail as
// a seed says, and checks what each reader was shown. FEEDRING_FAULTS is for how
// long (15s), FEEDRING_SEED which faults (1; "random": any).
func TestHistory(t *testing.T) {
	t.Parallel()
	long, seed := 15*time.Second, uint64(1)
	if said := os.Getenv("FEEDRING_FAULTS"); said != "" {
		var err error
		long, err = time.ParseDuration(said)
		must(t, err)
	}
	switch said := os.Getenv("FEEDRING_SEED"); said {
	case "":
	case "random":
		seed = rand.Uint64N(1 << 32)
	default:
		var err error
		seed, err = strconv.ParseUint(said, 10, 64)
		must(t, err)
	}
	t.Logf("again: FEEDRING_SEED=%d FEEDRING_FAULTS=%s go test ./integration -run TestHistory -v -timeout 0", seed, long)

	calm := conditions{delay: 5 * time.Millisecond, jitter: 4 * time.Millisecond, loss: 0.005, twice: 0.001}
	s := newLossyNet(t, seed, calm)
	d := &faultRun{t: t, net: s, calm: calm, faultyNet: newFaultyNet(t, "1s", s.machine, "news", "sport", "news", "sport", "news")}
	for _, p := range d.peers {
		d.machines = append(d.machines, d.hosts[p])
	}
	one, other := s.machine("r0"), s.machine("r1")
	d.machines = append(d.machines, one, other)
	d.follow(one, "news")
	d.follow(one, "sport")
	d.follow(other, "")

	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	var queries []asking
	wg.Go(func() { d.publishes(ctx) })
	wg.Go(func() { queries = d.asks(ctx, other, seed) })
	d.play(schedule(seed, long, len(d.peers), len(d.machines)))
	d.settled("news", 3, d.of("news")...)
	d.settled("sport", 2, d.of("sport")...)
	cancel()
	wg.Wait()
	d.complete(60*time.Second, queries...)
	d.complete(60*time.Second, d.answers(other)...)
	d.tell(queries)
}

// faultRun is a network and its faults.
type faultRun struct {
	*faultyNet
	t        *testing.T
	net      *lossyNet
	calm     conditions
	machines []*machine
	now      []trouble
}

// play has each fault begin and end at its time, or soon after.
func (d *faultRun) play(all []trouble) {
	begun := time.Now()
	var next time.Duration
	for len(all) > 0 || len(d.now) > 0 {
		next = time.Hour
		for _, f := range d.now {
			next = min(next, f.end)
		}
		if len(all) > 0 {
			next = min(next, all[0].begin)
		}
		<-time.After(time.Until(begun.Add(next))) // what happens is the schedule's clock: faults begin and end by it alone
		for len(all) > 0 && all[0].begin <= next {
			d.t.Log(all[0])
			d.now = append(d.now, all[0])
			d.begins(all[0])
			all = all[1:]
		}
		ended := slices.DeleteFunc(slices.Clone(d.now), func(f trouble) bool { return f.end > next })
		d.now = slices.DeleteFunc(d.now, func(f trouble) bool { return f.end <= next })
		d.applyFaults()
		for _, f := range ended {
			d.ends(f)
		}
	}
}

func (d *faultRun) begins(f trouble) {
	switch f.kind {
	case killed:
		d.peers[f.a].kill()
	case stopped:
		d.peers[f.a].signal(syscall.SIGSTOP)
	case left:
		if code := d.peers[f.a].stop(d.t, 20*time.Second); code != 0 {
			d.t.Errorf("peer %d left with exit %d", f.a, code)
		}
	}
}

func (d *faultRun) ends(f trouble) {
	switch f.kind {
	case killed, left:
		d.restart(d.peers[f.a])
	case stopped:
		d.peers[f.a].signal(syscall.SIGCONT)
	}
}

// applyFaults sets the conditions between machines while the faults of now last.
func (d *faultRun) applyFaults() {
	for i, from := range d.machines {
		for j, to := range d.machines {
			if i != j {
				d.net.between(from, to, over(d.calm, d.now, i, j))
			}
		}
	}
}

// publishes adds an entry to each feed, three times a second.
func (d *faultRun) publishes(ctx context.Context) {
	tick := time.NewTicker(time.Second / 3)
	defer tick.Stop()
	for ctx.Err() == nil {
		d.publish(d.peers...)
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// asks runs one query after the other.
func (d *faultRun) asks(ctx context.Context, at *machine, seed uint64) (all []asking) {
	random := rand.New(rand.NewPCG(seed, 3))
	var addrs []string
	for _, p := range d.peers {
		addrs = append(addrs, p.addr)
	}
	for ctx.Err() == nil {
		theme := []string{"news", "sport", ""}[random.IntN(3)]
		all = append(all, ask(at, theme, addrs[random.IntN(len(addrs))], addrs[random.IntN(len(addrs))]))
	}
	return all
}

// ask runs one query, for a theme or, where that is empty, for what all entries have.
func ask(at *machine, theme string, addrs ...string) asking {
	args := []string{"query", "--json", "--timeout", "5s", "--limit", "1000"}
	for _, addr := range addrs {
		args = append(args, "--peer", addr)
	}
	if theme != "" {
		args = append(args, "--theme", theme)
	} else {
		args = append(args, "network") // which each title has
	}
	cmd := at.command(append([]string{binary}, args...)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	begun := time.Now()
	_ = cmd.Run()
	r := result{code: cmd.ProcessState.ExitCode(), stdout: out.String(), stderr: errs.String(), took: time.Since(begun)}
	for _, text := range bytes.Split(out.Bytes(), []byte("\n")) {
		r.objects = append(r.objects, objects([]line{{text: string(text)}})...)
	}
	return asking{what: "query for " + theme + " at " + begun.Format("05.000"), theme: theme, result: r}
}

// answers waits until each peer has each theme answered in full: that nobody
// knows, or could be reached, is for the time of faults.
func (d *faultRun) answers(at *machine) (all []asking) {
	d.t.Helper()
	h := d.history()
	for i, p := range d.peers {
		for _, theme := range []string{"news", "sport", ""} {
			until(d.t, 30*time.Second, fmt.Sprintf("a whole answer of peer %d about %q", i, theme), func() bool {
				all = append(all, ask(at, theme, p.addr))
				return h.whole(all[len(all)-1])
			})
		}
	}
	return all
}

// tell says how much was seen.
func (d *faultRun) tell(queries []asking) {
	finals := make(map[string]int)
	for _, q := range queries {
		for _, f := range q.finals() {
			finals[f.str("event")]++
		}
	}
	acked, shown := 0, 0
	for _, l := range d.ledgers {
		acked += len(l.acknowledged())
	}
	for _, r := range d.readers {
		shown += len(result{objects: objects(r.output())}.entries())
	}
	d.t.Logf("%d entries acknowledged, %d shown to %d followers, %d queries: %v", acked, shown, len(d.readers), len(queries), finals)
}
