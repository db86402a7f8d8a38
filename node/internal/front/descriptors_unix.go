//go:build unix

package front

import "syscall"

// descriptors is how many files this process may have open.
func descriptors() uint64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 1024
	}
	return uint64(limit.Cur)
}
