package moving

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
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
