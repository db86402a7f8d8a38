package fleetload

import (
	"math"
	"os"
	"path"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
)

// memoryLimit is how many bytes this process may use: what GOMEMLIMIT says, else the least
// of its control group's limits and the machine's memory; 0: it cannot be found out.
func memoryLimit() uint64 {
	if os.Getenv("GOMEMLIMIT") != "" {
		if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64 {
			return uint64(limit)
		}
	}
	limit := uint64(math.MaxUint64)
	group, _ := os.ReadFile("/proc/self/cgroup")
	for _, dir := range groupsOf(string(group)) {
		text, _ := os.ReadFile("/sys/fs/cgroup" + path.Join(dir, "memory.max"))
		if n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64); err == nil {
			limit = min(limit, n)
		}
	}
	machine, _ := os.ReadFile("/proc/meminfo")
	if n := totalOf(string(machine)); n > 0 {
		limit = min(limit, n)
	}
	if limit == math.MaxUint64 {
		return 0
	}
	return limit
}

// groupsOf lists the control group (version 2) that /proc/self/cgroup names, with those
// above it. A container sees its own as the first.
func groupsOf(file string) (dirs []string) {
	for line := range strings.Lines(file) {
		if dir, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			for dir = path.Clean("/" + dir); dir != "/"; dir = path.Dir(dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	return append(dirs, "/")
}

// totalOf reads the machine's memory from /proc/meminfo, in bytes; 0: it does not say.
func totalOf(file string) uint64 {
	for line := range strings.Lines(file) {
		if rest, ok := strings.CutPrefix(line, "MemTotal:"); ok {
			kib, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 53)
			if err == nil {
				return kib << 10
			}
		}
	}
	return 0
}

const (
	all      = "/memory/classes/total:bytes"
	released = "/memory/classes/heap/released:bytes"
	objects  = "/memory/classes/heap/objects:bytes"
	unused   = "/memory/classes/heap/unused:bytes"
	free     = "/memory/classes/heap/free:bytes"
	live     = "/gc/heap/live:bytes"
)

func read(names ...string) map[string]uint64 {
	samples, values := make([]metrics.Sample, len(names)), make(map[string]uint64, len(names))
	for i := range names {
		samples[i].Name = names[i]
	}
	metrics.Read(samples)
	for i := range samples {
		values[samples[i].Name] = samples[i].Value.Uint64()
	}
	return values
}

// taken is what the process has of the system.
func taken() uint64 {
	v := read(all, released)
	return v[all] - v[released]
}

// inUse is what a collection would leave of that: garbage is no reason to shorten lists.
func inUse() uint64 {
	v := read(all, released, objects, unused, free, live)
	return v[all] - v[released] - v[objects] - v[unused] - v[free] + v[live]
}
