package disk

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// freeBytes returns how much room the disk of dir has left for this process.
func freeBytes(dir string) (int64, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return 0, fmt.Errorf("asking for the room left in %s: %w", dir, err)
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}

// allocated returns the room that a file takes: badger's files are larger than
// what was written to them.
func allocated(info os.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Blocks * 512
	}
	return info.Size()
}

// whileLocked runs check while no other process has dir open, and fails with
// ErrLocked if one has. It asks for the lock that badger itself takes, which
// the kernel drops when its holder dies.
func whileLocked(dir string, check func() error) error {
	unlock, err := Lock(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil // badger creates it
	}
	if err != nil {
		return err
	}
	defer unlock()
	return check()
}

// Lock keeps other processes from locking the same directory until unlock is called, and fails with
// ErrLocked if one has. The kernel drops the lock when its holder dies. Elsewhere than on Linux it
// keeps nobody out.
func Lock(dir string) (unlock func(), err error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(d.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = ErrLocked
		}
		_ = d.Close()
		return nil, err
	}
	return func() { _ = d.Close() }, nil
}

// allocate creates a file that takes size bytes of its disk.
func allocate(name string, size int64) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(syscall.Fallocate(int(f.Fd()), 0, 0, size), f.Close())
}
