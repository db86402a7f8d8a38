package main

import (
	"fmt"
	"io"
	"runtime"
	"time"

	"gonum.org/v1/plot"

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

func playSize(cfg experiment.SizeConfig, progress experiment.Progress) (outcome, error) {
	r := sizeResult{}
	began := time.Now()
	played, err := experiment.Size(cfg, func() {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		r.Heap = m.HeapAlloc
		r.Gathered, _ = usage()
		began = time.Now()
	}, progress)
	r.SizeResult, r.Wall = played, time.Since(began).Seconds()
	r.CPU, r.Resident = usage()
	r.CPU -= r.Gathered
	o := outcome{result: scaleResult{Size: &r}, tables: r.table, picture: r.picture}
	if !r.Kept() {
		o.broken = fmt.Errorf("%d of %d groups have a manager, %d of %d peers see their group and the ring", r.Managers, cfg.Groups, r.Inside, r.Looked)
	}
	return o, err
}

func (r *sizeResult) table(out io.Writer) {
	peers, virtual := float64(r.Config.Peers), r.Config.Virtual.Seconds()
	table(out, "One network", [][]string{
		{"peers", "groups", "virtual", "steps", "messages", "a peer and second", "entries", "deliveries", "managers", "see all", "of", "CPU s to gather", "CPU s", "wall s", "CPU µs a message", "virtual : CPU", "heap KB a peer", "resident MB at most"},
		{count(r.Config.Peers), count(r.Config.Groups), r.Config.Virtual.String(), fmt.Sprint(r.Steps), count(r.Messages), num(r.PerSecond), count(r.Entries), count(r.Delivered),
			count(r.Managers), count(r.Inside), count(r.Looked), num(r.Gathered), num(r.CPU), num(r.Wall), num(1e6 * r.CPU / float64(max(1, r.Messages))),
			num(virtual / r.CPU), num(float64(r.Heap) / 1000 / peers), num(float64(r.Resident) / 1e6)},
	})
}

func (r *sizeResult) picture() ([][]*plot.Plot, error) {
	return nil, fmt.Errorf("--plot: one network has nothing to draw; leave --peers out")
}
