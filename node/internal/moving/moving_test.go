package moving

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring/internal/charter"
	"github.com/feedring/feedring/internal/membership"
	"github.com/feedring/feedring/internal/store"
	"github.com/feedring/feedring/internal/wire/charters"
)

// layout lists what is in a directory, each file with its content.
func layout(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		all = append(all, strings.TrimPrefix(path, dir+"/")+": "+string(content))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestAMoveThatWasCutOff: whatever was put in its place before a crash, the next start puts
// the rest there, once; what was not whole changes nothing.
func TestAMoveThatWasCutOff(t *testing.T) {
	make := func(whole bool) string {
		data := t.TempDir()
		for path, content := range map[string]string{
			"identity.key": "key", "store/a": "old", "network/name": "old", "follow/mine": "old",
			"moving/store/a": "new", "moving/network/charter": "new", "moving/identity.key": "key", "moving/whole": "",
		} {
			if !whole && path == "moving/whole" {
				continue
			}
			path = filepath.Join(data, path)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return data
	}
	before := make(false)
	was := layout(t, before)
	if err := Finish(before); err != nil || !slices.Equal(layout(t, before), was) {
		t.Errorf("what is not whole was put in place: %v, %q", err, layout(t, before))
	}
	want := []string{"former/follow/mine: old", "former/network/name: old", "former/store/a: old", "identity.key: key", "network/charter: new", "store/a: new"}
	steps := [][2]string{
		{"store", "former/store"}, {"moving/store", "store"}, {"network", "former/network"}, {"moving/network", "network"}, {"follow", "former/follow"},
	}
	for done := range len(steps) + 1 {
		data := make(true)
		if err := os.MkdirAll(filepath.Join(data, formerDir), 0o700); err != nil {
			t.Fatal(err)
		}
		for _, step := range steps[:done] {
			if err := os.Rename(filepath.Join(data, step[0]), filepath.Join(data, step[1])); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			if err := Finish(data); err != nil {
				t.Fatal(err)
			}
			if got := layout(t, data); !slices.Equal(got, want) {
				t.Errorf("cut off after %d steps: %q", done, got)
			}
		}
	}
}

// founder is the data directory of a stopped peer that created a network, and the charter of
// another network.
func founder(t *testing.T) (data string, to *charter.Charter) {
	t.Helper()
	data, other := t.TempDir(), t.TempDir()
	var made membership.Created
	for _, dir := range []string{data, other} {
		var err error
		if made, err = membership.Create(dir, "pressing", charter.Vouched, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	s, err := store.Open(filepath.Join(data, storeDir), store.Options{Reserve: -1})
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(made.Charter)
	if err != nil {
		t.Fatal(err)
	}
	if to, err = charters.Decode(text); err != nil {
		t.Fatal(err)
	}
	return data, to
}

// TestAMoveNamesTheRootKeysThatItLeft: they are in the directory that its owner is told to remove.
func TestAMoveNamesTheRootKeysThatItLeft(t *testing.T) {
	data, to := founder(t)
	if err := os.Remove(filepath.Join(data, "network", "root-1.key")); err != nil { // is kept elsewhere
		t.Fatal(err)
	}
	moved, err := Move(t.Context(), data, to, "")
	want := []string{filepath.Join(data, formerDir, "network", "root-2.key")}
	if err != nil || !slices.Equal(moved.Roots, want) {
		t.Fatalf("%v; root keys %q, want %q", err, moved.Roots, want)
	}
	if _, err := os.Stat(want[0]); err != nil {
		t.Error(err)
	}
}

// TestNobodyStartsDuringAMove: from before it puts anything in place until all is there, a move holds the
// lock that a starting peer takes. Where that is held, a move changes nothing.
func TestNobodyStartsDuringAMove(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("data directories are locked on Linux only")
	}
	data, to := founder(t)
	unlock, err := Lock(data)
	if err != nil {
		t.Fatal(err)
	}
	was := layout(t, data)
	if _, err := Move(t.Context(), data, to, ""); !errors.Is(err, store.ErrLocked) || !slices.Equal(layout(t, data), was) {
		t.Errorf("a move of a directory in use: %v, %q", err, layout(t, data))
	}
	unlock()

	done := make(chan error, 1)
	go func() {
		_, err := Move(t.Context(), data, to, "")
		done <- err
	}()
	for !exists(filepath.Join(data, movingDir)) {
		select {
		case err := <-done:
			t.Fatalf("the move was not seen: %v", err)
		default:
		}
	}
	for {
		if unlock, err = Lock(data); err == nil {
			break
		}
		if !errors.Is(err, store.ErrLocked) {
			t.Fatal(err)
		}
	}
	if got := exists(filepath.Join(data, movingDir)); got {
		t.Error("a peer could start amid a move")
	}
	unlock()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
