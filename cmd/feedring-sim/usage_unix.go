//go:build unix

package main

import (
	"runtime"
	"syscall"
)

// usage is the time that this process computed, in seconds, and the most that
// it ever held in memory, in bytes.
func usage() (cpu float64, resident uint64) {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0, 0
	}
	seconds := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	resident = uint64(u.Maxrss)
	if runtime.GOOS != "darwin" { // where it is in bytes, and not in KiB
		resident *= 1024
	}
	return seconds(u.Utime) + seconds(u.Stime), resident
}
