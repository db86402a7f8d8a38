package segment

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// write makes a segment of some records, and returns their places.
func write(t *testing.T, f *Files, id uint32, values ...string) (places []Place) {
	t.Helper()
	check(t, f.Create(id))
	var all []byte
	for _, v := range values {
		at := uint32(len(all))
		all = AppendRecord(all, []byte(v[:1]), []byte(v))
		places = append(places, Place{id, at, uint32(len(all)) - at})
	}
	check(t, f.Write(id, 0, all))
	check(t, f.Sync(id))
	return places
}

func read(t *testing.T, f *Files, p Place, want string) {
	t.Helper()
	value, _, err := f.Read(p, []byte(want[:1]), nil)
	if err != nil || string(value) != want {
		t.Errorf("%v holds %q, %v, want %q", p, value, err, want)
	}
}

// TestReadBack reads records by another set of files than wrote them.
func TestReadBack(t *testing.T) {
	dir := System(t.TempDir())
	f := On(dir)
	places := write(t, f, 7, "a", "bbbb", "c")
	f.Close()
	f = On(dir)
	for i, want := range []string{"a", "bbbb", "c"} {
		read(t, f, places[i], want)
	}
	sizes, err := f.List()
	if check(t, err); len(sizes) != 1 || sizes[7] != int64(places[2].End()) {
		t.Errorf("sizes %v", sizes)
	}
	if _, _, err := f.Read(places[1], []byte("x"), nil); !errors.Is(err, ErrDamaged) {
		t.Errorf("with another's key: %v", err)
	}
}

// TestEveryBitCounts flips each bit of a record, and cuts the file at each byte.
func TestEveryBitCounts(t *testing.T) {
	dir := t.TempDir()
	f := On(System(dir))
	p := write(t, f, 1, "first", "value")[1]
	name := filepath.Join(dir, name(1))
	whole, err := os.ReadFile(name)
	check(t, err)
	spoiled := func(what string, body []byte) {
		t.Helper()
		check(t, os.WriteFile(name, body, 0o600))
		if value, _, err := f.Read(p, []byte("v"), nil); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %q, %v", what, value, err)
		}
	}
	for bit := int(p.Offset) * 8; bit < int(p.End())*8; bit++ {
		body := bytes.Clone(whole)
		body[bit/8] ^= 1 << (bit % 8)
		spoiled(fmt.Sprint("bit ", bit), body)
	}
	for end := range whole {
		spoiled(fmt.Sprint("cut at ", end), whole[:end])
	}
	check(t, os.WriteFile(name, whole, 0o600))
	read(t, f, p, "value")
	f.Close()
	check(t, os.Remove(name))
	if _, _, err := f.Read(p, []byte("v"), nil); !errors.Is(err, ErrDamaged) {
		t.Errorf("no file: %v", err)
	}
}

// TestHugeLengthTakesNoMemory has a place say more than its file holds.
func TestHugeLengthTakesNoMemory(t *testing.T) {
	f := On(System(t.TempDir()))
	p := write(t, f, 1, "value")[0]
	p.Length = 1 << 30
	if _, buf, err := f.Read(p, []byte("v"), nil); !errors.Is(err, ErrDamaged) || cap(buf) > 1000 {
		t.Errorf("%d bytes, %v", cap(buf), err)
	}
}

// TestErase leaves nothing of a record, and all of the others.
func TestErase(t *testing.T) {
	dir := t.TempDir()
	f := On(System(dir))
	long := string(bytes.Repeat([]byte("long"), 50_000))
	places := write(t, f, 1, "before", long, "value")
	check(t, f.Erase(1, places[1:2]))
	check(t, f.Erase(9, places[1:2])) // a segment that is gone
	body, err := os.ReadFile(filepath.Join(dir, name(1)))
	if check(t, err); bytes.Contains(body, []byte("long")) {
		t.Error("it is still there")
	}
	read(t, f, places[0], "before")
	read(t, f, places[2], "value")
	check(t, f.Cut(1, places[0].End()))
	check(t, f.Erase(1, places[1:2]))
	if size, err := f.size(1); err != nil || size != int64(places[0].End()) {
		t.Errorf("what was cut off grew again: %d, %v", size, err)
	}
}

// TestFewFilesAreOpen reads many segments by several goroutines, and erases in
// them, whoever closes their files meanwhile.
func TestFewFilesAreOpen(t *testing.T) {
	f := On(System(t.TempDir()))
	const segments = 3 * maxOpen
	var spare []Place
	for id := uint32(1); id <= segments; id++ {
		spare = append(spare, write(t, f, id, "value", "spare")[1])
	}
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 2 * segments {
				id := uint32((i*7+g)%segments) + 1
				if value, _, err := f.Read(Place{id, 0, 13}, []byte("v"), nil); err != nil || string(value) != "value" {
					t.Errorf("%q, %v", value, err)
					return
				}
			}
		})
	}
	for _, p := range spare {
		if err := f.Erase(p.Segment, []Place{p}); err != nil {
			t.Error(err)
		}
	}
	wg.Wait()
	if n := f.open.Len(); n > maxOpen {
		t.Errorf("%d files are open", n)
	}
}

// TestRemovedWhileRead removes a segment that others read: each reads the value, or
// is told that it is not there.
func TestRemovedWhileRead(t *testing.T) {
	f := On(System(t.TempDir()))
	for id := uint32(1); id <= 50; id++ {
		p := write(t, f, id, "value")[0]
		begun := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			for n := 0; ; n++ {
				value, _, err := f.Read(p, []byte("v"), nil)
				if n == 0 {
					close(begun)
				}
				if errors.Is(err, ErrDamaged) {
					return
				}
				if err != nil || string(value) != "value" {
					t.Errorf("%q, %v", value, err)
					return
				}
			}
		})
		<-begun
		check(t, f.Remove(id))
		wg.Wait()
	}
	if sizes, err := f.List(); err != nil || len(sizes) > 0 {
		t.Errorf("left: %v, %v", sizes, err)
	}
}
