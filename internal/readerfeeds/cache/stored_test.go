package cache

import (
	"bufio"
	"os"
	"path/filepath"
	"testing"

	"github.com/feedring/feedring/internal/olddata"
)

func TestOldDocumentsKeepEveryField(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(olddata.Unpack(t), "front", "*"))
	if err != nil || len(files) != 4 {
		t.Fatalf("kept documents: %v, %v", files, err)
	}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		line, err := readLine(bufio.NewReader(f))
		_ = f.Close()
		if err != nil {
			t.Fatal(err)
		}
		if h := olddata.SameJSON[head](t, name, line); h.Feed == "" || h.Tag == "" || h.Size == 0 {
			t.Errorf("a document without all fields: %+v", h)
		}
	}
}
