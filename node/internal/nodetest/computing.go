//go:build unix

package nodetest

import (
	"syscall"
	"testing"
	"time"
)

// Computing is the time that this process has computed for: unlike the time on
// the wall, other programs of the machine hardly change it.
func Computing(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
