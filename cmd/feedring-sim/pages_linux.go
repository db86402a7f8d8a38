package main

import (
	"math"
	"runtime/debug"
	"syscall"
)

// largePages asks the system for memory in large pages: each step of a network looks into
// another machine's, and where its pages are is then at hand. The room is
// given back at once, none of it used; what comes to lie there later is in large
// pages. A system that has none goes on as before, and so does one whose addresses
// do not reach so far.
func largePages(bytes int64) {
	if bytes > math.MaxInt {
		return
	}
	const advice = 14 // MADV_HUGEPAGE
	room := make([]byte, bytes)
	_ = syscall.Madvise(room, advice)
	room = nil
	debug.FreeOSMemory()
}
