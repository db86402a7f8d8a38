package segment

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"syscall"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// maxOpen bounds the files that are open though nobody uses them.
const maxOpen = 64

// Files are the segments in a directory. All methods may be called at the same
// time, but only one goroutine creates, writes and removes.
type Files struct {
	disk Disk

	mu       sync.Mutex
	released *sync.Cond // a dropped file is closed
	open     *simplelru.LRU[uint32, *opened]
	removed  int             // files so far
	removing map[uint32]bool // these are not opened again
}

type opened struct {
	file    File
	users   int
	dropped bool // the last user closes it
}

// On returns the segments of a disk.
func On(disk Disk) *Files {
	f := &Files{disk: disk, removing: make(map[uint32]bool)}
	f.open, _ = simplelru.NewLRU(maxOpen, dropped) // the size is positive
	f.released = sync.NewCond(&f.mu)
	return f
}

func name(id uint32) string { return fmt.Sprintf("%08x.seg", id) }

// List returns the ids and sizes of all segments.
func (f *Files) List() (map[uint32]int64, error) {
	names, err := f.disk.Names()
	if err != nil {
		return nil, fmt.Errorf("listing segments: %w", err)
	}
	sizes := make(map[uint32]int64)
	for _, found := range names {
		var id uint32
		if _, err := fmt.Sscanf(found, "%08x.seg", &id); err != nil || name(id) != found {
			continue
		}
		err := f.with(id, func(file File) (err error) {
			sizes[id], err = file.Size()
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("segment %s: %w", found, err)
		}
	}
	return sizes, nil
}

// Create makes an empty segment, whose name is on disk when it returns.
func (f *Files) Create(id uint32) error {
	file, err := f.disk.Create(name(id))
	if err == nil {
		f.mu.Lock()
		f.keep(id, file)
		f.mu.Unlock()
		err = f.disk.Sync()
	}
	if err != nil {
		return fmt.Errorf("creating a segment: %w", err)
	}
	return nil
}

// Write writes at an offset. It is durable after Sync.
func (f *Files) Write(id, at uint32, b []byte) error {
	return f.with(id, func(file File) error {
		_, err := file.WriteAt(b, int64(at))
		return err
	})
}

// Sync makes durable what was written to a segment.
func (f *Files) Sync(id uint32) error { return f.with(id, File.Sync) }

// Cut ends a segment at an offset.
func (f *Files) Cut(id, end uint32) error {
	return f.with(id, func(file File) error { return file.Truncate(int64(end)) })
}

// Read returns the value of a key whose record is at p: in buf where that is large
// enough. It fails with ErrDamaged if that is not there.
func (f *Files) Read(p Place, key, buf []byte) (value, used []byte, err error) {
	if uint32(cap(buf)) < p.Length {
		size, err := f.size(p.Segment)
		if err != nil || int64(p.End()) > size {
			return nil, buf, f.damage(p, err) // nothing is made room for that is not there
		}
		buf = make([]byte, p.Length, p.Length+p.Length/4)
	}
	buf = buf[:p.Length]
	err = f.with(p.Segment, func(file File) error {
		_, err := file.ReadAt(buf, int64(p.Offset))
		return err
	})
	if err == nil {
		if value, err = ReadRecord(buf, key); err == nil {
			return value, buf, nil
		}
	}
	return nil, buf, f.damage(p, err)
}

func (f *Files) size(id uint32) (size int64, err error) {
	err = f.with(id, func(file File) (err error) {
		size, err = file.Size()
		return err
	})
	return size, err
}

// damage tells what is wrong with the record from what is wrong with the process.
func (f *Files) damage(p Place, err error) error {
	at := fmt.Sprintf("segment %s at %d", name(p.Segment), p.Offset)
	switch {
	case err == nil, errors.Is(err, ErrDamaged), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s: %w", at, ErrDamaged)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.EIO):
		return fmt.Errorf("%s: %w: %w", at, ErrDamaged, err)
	}
	return fmt.Errorf("%s: %w", at, err)
}

var zeros [64 << 10]byte

// Erase overwrites the records at places of one segment, durably. A segment that
// is gone has nothing to erase.
func (f *Files) Erase(id uint32, places []Place) error {
	err := f.with(id, func(file File) error {
		size, err := file.Size()
		if err != nil {
			return err
		}
		for _, p := range places {
			end := min(int64(p.End()), size) // what was cut off is gone
			for at := int64(p.Offset); at < end; {
				n, err := file.WriteAt(zeros[:min(int64(len(zeros)), end-at)], at)
				if err != nil {
					return err
				}
				at += int64(n)
			}
		}
		return file.Sync()
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Remove removes a segment, when those who use it are through: some systems remove
// no open file.
func (f *Files) Remove(id uint32) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.removing[id] = true
	defer delete(f.removing, id)
	if o, ok := f.open.Peek(id); ok {
		for f.open.Remove(id); o.users > 0; {
			f.released.Wait()
		}
	}
	f.removed++
	if err := f.disk.Remove(name(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing a segment: %w", err)
	}
	return nil
}

// Close closes all files. They are opened again by who uses them.
func (f *Files) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open.Purge()
}

// with lets use have the file of a segment, which stays open meanwhile.
func (f *Files) with(id uint32, use func(File) error) error {
	o, err := f.take(id)
	if err != nil {
		return err
	}
	defer f.release(o)
	return use(o.file)
}

func (f *Files) take(id uint32) (*opened, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for {
		if f.removing[id] {
			return nil, fs.ErrNotExist
		}
		if o, ok := f.open.Get(id); ok {
			o.users++
			return o, nil
		}
		removed := f.removed
		f.mu.Unlock()
		file, err := f.disk.Open(name(id))
		f.mu.Lock()
		if err != nil {
			return nil, err
		}
		if removed == f.removed && !f.removing[id] {
			o := f.keep(id, file)
			o.users++
			return o, nil
		}
		_ = file.Close() // it may be the one that was removed
	}
}

func (f *Files) release(o *opened) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if o.users--; o.users == 0 && o.dropped {
		_ = o.file.Close() // what must be on disk was synced
		f.released.Broadcast()
	}
}

// keep adds an open file and returns it, or the one that another added meanwhile. mu
// is held.
func (f *Files) keep(id uint32, file File) *opened {
	if o, ok := f.open.Get(id); ok {
		_ = file.Close() // nothing was written through it
		return o
	}
	o := &opened{file: file}
	f.open.Add(id, o)
	return o
}

// dropped closes a file, or leaves that to the last of its users. mu is held.
func dropped(_ uint32, o *opened) {
	if o.dropped = true; o.users == 0 {
		_ = o.file.Close() // what must be on disk was synced
	}
}
