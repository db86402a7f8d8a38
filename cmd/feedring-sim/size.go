package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/feedring/feedring/internal/sim/experiment"
)

// sizeResult is a large network, and what it cost the machine that played it:
// the only figures here that differ from run to run.
type sizeResult struct {
	experiment.SizeResult
	Gathered float64 `json:"gathered_cpu_s"` // of this process, until everybody was in
	CPU      float64 `json:"cpu_s"`          // … from then on
	Wall     float64 `json:"wall_s"`         // from then on
	Heap     uint64  `json:"heap_bytes"`     // live when everybody was in
	Resident uint64  `json:"resident_bytes"` // of this process, at most; 0: the system does not say
}

// Memory that a large network is played in. Below the limit the process takes up
// to three times what is alive, so that little time goes into finding what is not.
const (
	memoryLimit  = 13 << 30 // bytes
	memorySpared = 200      // percent of what is alive
)

func playSize(cfg experiment.SizeConfig, out io.Writer) (outcome, error) {
	largePages(memoryLimit)
	debug.SetGCPercent(memorySpared)
	debug.SetMemoryLimit(memoryLimit)
	interrupted, stop := interrupts()
	defer stop()
	r := &sizeResult{}
	w := &sizeWatch{out: out, result: r, began: time.Now(), told: time.Now()}
	played, err := experiment.Size(cfg, experiment.SizeWatch{
		Joined: w.joined, Settled: w.settled, Played: w.played, Stop: func() bool { return len(interrupted) > 0 }})
	r.SizeResult, r.Wall = played, time.Since(w.began).Seconds()
	r.CPU, r.Resident = usage()
	r.CPU -= r.Gathered
	o := outcome{result: scaleResult{Size: r}, tables: r.table}
	if err == nil && !r.Kept() {
		o.broken = fmt.Errorf("%d of %d groups have a manager, %d of %d peers see their group and the ring", r.Managers, cfg.Groups, r.Inside, r.Looked)
	}
	return o, err
}

// sizeWatch tells how far a large network is, so that one that is ended early has
// shown something.
type sizeWatch struct {
	out    io.Writer
	result *sizeResult
	began  time.Time // of what is measured
	told   time.Time
}

// tellEvery is how often.
const tellEvery = 20 * time.Second

func (w *sizeWatch) tell(format string, args ...any) {
	w.told = time.Now()
	cpu, resident := usage()
	_, _ = fmt.Fprintf(w.out, format+", %.1f s CPU, %.0f MB resident at most\n", append(args, cpu-w.result.Gathered, float64(resident)/1e6)...)
}

func (w *sizeWatch) joined(peers int) {
	if time.Since(w.told) >= tellEvery {
		w.tell("%d peers joined", peers)
	}
}

func (w *sizeWatch) settled() {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	w.result.Heap = m.HeapAlloc
	w.tell("everybody is in, %.0f MB alive", float64(m.HeapAlloc)/1e6)
	w.result.Gathered, _ = usage()
	w.began = time.Now()
}

func (w *sizeWatch) played(r experiment.SizeResult) {
	if time.Since(w.told) >= tellEvery {
		w.tell("%v of virtual time, %d messages, %d entries, %d deliveries", r.Played, r.Messages, r.Entries, r.Delivered)
	}
}

func (r *sizeResult) table(out io.Writer) {
	peers, virtual := float64(r.Config.Peers), r.Played.Seconds()
	table(out, "One network", [][]string{
		{"peers", "groups", "virtual", "steps", "messages", "a peer and second", "entries", "deliveries", "managers", "see all", "of", "CPU s to gather", "CPU s", "wall s", "CPU µs a message", "virtual : CPU", "heap KB a peer", "resident MB at most"},
		{count(r.Config.Peers), count(r.Config.Groups), r.Played.String(), fmt.Sprint(r.Steps), count(r.Messages), num(r.PerSecond), count(r.Entries), count(r.Delivered),
			count(r.Managers), count(r.Inside), count(r.Looked), num(r.Gathered), num(r.CPU), num(r.Wall), num(1e6 * r.CPU / float64(max(1, r.Messages))),
			num(virtual / r.CPU), num(float64(r.Heap) / 1000 / peers), num(float64(r.Resident) / 1e6)},
	})
}
