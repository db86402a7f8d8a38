// Package olddata holds the data directory of a peer as an earlier version wrote it
// (commit 6979bb4), for tests that it still opens and that no field is lost. The
// addresses in it are of a machine's own, its keys are of no other peer.
package olddata

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/feedring/feedring/internal/store"
)

//go:embed data.tar.gz
var packed []byte

// Shown is what that version's commands and personal feeds showed of the directory.
//
//go:embed shown.json
var Shown []byte

// Unpack returns a data directory of the test's own.
func Unpack(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	for files := tar.NewReader(z); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, filepath.FromSlash(h.Name))
		if h.FileInfo().IsDir() {
			err = os.MkdirAll(path, 0o700)
		} else {
			var body []byte
			if body, err = io.ReadAll(files); err == nil {
				err = os.WriteFile(path, body, h.FileInfo().Mode().Perm())
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Store opens the store of a data directory of the test's own.
func Store(t testing.TB) *store.Store {
	t.Helper()
	s, err := store.Open(filepath.Join(Unpack(t), "store"), store.Options{Reserve: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// Records returns the small records under a prefix, which are count.
func Records(t testing.TB, s *store.Store, b store.Bucket, prefix string, count int) []store.Record {
	t.Helper()
	var all []store.Record
	for record, err := range s.ListPrefix(b, prefix) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, record)
	}
	if len(all) != count {
		t.Errorf("%d records under %q in bucket %d, want %d", len(all), prefix, b, count)
	}
	return all
}

// SameJSON checks that no key and no value is lost when a stored text is read into a
// Row and written again.
func SameJSON[Row any](t testing.TB, name string, stored []byte) (row Row) {
	t.Helper()
	var before, after any
	err := json.Unmarshal(stored, &row)
	again, failed := json.Marshal(row)
	if err := errors.Join(err, failed, decode(stored, &before), decode(again, &after)); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if !reflect.DeepEqual(before, after) {
		t.Errorf("%s: stored %s, read as %s", name, stored, again)
	}
	return row
}

// decode keeps every digit of numbers.
func decode(text []byte, into *any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(into)
}
