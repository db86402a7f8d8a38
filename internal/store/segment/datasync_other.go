//go:build !linux

package segment

import "os"

func datasync(f *os.File) error { return f.Sync() }
