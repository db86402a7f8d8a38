package main

import (
	"os"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/procfs"
)

// usage is what processes have used.
type usage struct {
	took    time.Duration
	cpu     time.Duration
	written float64   // bytes, to the storage
	waits   float64   // how often threads went to sleep by themselves
	peak    []float64 // memory of each, MB
}

// usageOf sums over processes and their children, those that ended included. Of
// this program's own children those count that are named.
func usageOf(pids ...int) (sum usage) {
	const tick = 10 * time.Millisecond // USER_HZ is 100 wherever Go runs
	for _, p := range must(procfs.AllProcs()) {
		stat, err := p.Stat()
		if err != nil {
			continue // it ended, and its parent's time has it
		}
		own, named := p.PID == os.Getpid(), slices.Contains(pids, p.PID)
		if !named && (stat.PPID == os.Getpid() || !slices.Contains(pids, stat.PPID)) {
			continue
		}
		sum.cpu += time.Duration(stat.UTime+stat.STime) * tick
		if !own {
			sum.cpu += time.Duration(stat.CUTime+stat.CSTime) * tick
		}
		sum.written += float64(must(p.IO()).WriteBytes)
		sum.peak = append(sum.peak, float64(must(p.NewStatus()).VmHWM)/1e6)
		for _, thread := range must(procfs.AllThreads(p.PID)) {
			if status, err := thread.NewStatus(); err == nil { // else it ended
				sum.waits += float64(status.VoluntaryCtxtSwitches)
			}
		}
	}
	return sum
}

// use is what some processes use while do runs.
func use(pids []int, do func()) usage {
	before, begun := usageOf(pids...), time.Now()
	do()
	took, used := time.Since(begun), usageOf(pids...)
	return usage{took, used.cpu - before.cpu, used.written - before.written, used.waits - before.waits, used.peak}
}

func loadAverage() string {
	text := must(os.ReadFile("/proc/loadavg"))
	first, _, _ := strings.Cut(string(text), " ")
	return first
}
