package segment

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
)

// Disk is a directory as segments need it.
type Disk interface {
	Names() ([]string, error)
	Create(name string) (File, error) // fails where it exists
	Open(name string) (File, error)
	Remove(name string) error
	Sync() error // makes what was created and removed durable
}

// File is one file of a Disk. All methods may be called at the same time; after
// Close they fail with os.ErrClosed.
type File interface {
	ReadAt(b []byte, at int64) (int, error)
	WriteAt(b []byte, at int64) (int, error)
	Truncate(size int64) error
	Size() (int64, error)
	Sync() error
	Close() error
}

// System is a directory of the operating system.
type System string

// Names implements Disk.
func (s System) Names() ([]string, error) {
	files, err := os.ReadDir(string(s))
	if err != nil {
		return nil, err
	}
	names := make([]string, len(files))
	for i, file := range files {
		names[i] = file.Name()
	}
	return names, nil
}

// Create implements Disk.
func (s System) Create(name string) (File, error) {
	return s.open(name, os.O_RDWR|os.O_CREATE|os.O_EXCL)
}

// Open implements Disk.
func (s System) Open(name string) (File, error) { return s.open(name, os.O_RDWR) }

func (s System) open(name string, flags int) (File, error) {
	f, err := os.OpenFile(filepath.Join(string(s), name), flags, 0o600)
	if err != nil {
		return nil, err
	}
	return systemFile{f}, nil
}

// Remove implements Disk.
func (s System) Remove(name string) error { return os.Remove(filepath.Join(string(s), name)) }

// Sync implements Disk.
func (s System) Sync() error {
	if runtime.GOOS == "windows" {
		return nil // a directory cannot be synced there
	}
	d, err := os.Open(string(s))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

type systemFile struct{ *os.File }

func (f systemFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (f systemFile) Sync() error { return datasync(f.File) }
