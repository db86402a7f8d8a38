package holes

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// root is the module's folder.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// build compiles the player with a hole in it, and returns its path. The
// product's files stay as they are.
func build(t *testing.T, h hole) string {
	t.Helper()
	dir, from := t.TempDir(), root(t)
	texts, err := h.apply(from)
	if err != nil {
		t.Fatal(err)
	}
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for file, text := range texts {
		edited := filepath.Join(dir, fmt.Sprintf("%d.go", len(overlay.Replace)))
		write(t, edited, []byte(text))
		overlay.Replace[filepath.Join(from, file)] = edited
	}
	data, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	list, player := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "play")
	write(t, list, data)
	cmd := exec.CommandContext(t.Context(), "go", "build", "-p", "1", "-buildvcs=false", "-ldflags", "-s -w",
		"-overlay", list, "-o", player, "./internal/sim/holes/testdata/play")
	cmd.Dir = from
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("hole %s does not build: %v\n%s", h.name, err, out)
	}
	return player
}

func write(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
}
