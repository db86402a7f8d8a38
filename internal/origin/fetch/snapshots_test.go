package fetch

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/feedring/feedring"
	"github.com/feedring/feedring/internal/origin/document"
)

const snapshots = "../../../shared/feeds/timeseries/snapshots_%s.tar.xz"

// captures calls each for the documents of an archive, in order, with the time
// in its name, until it returns false.
func captures(t *testing.T, name string, each func(at time.Time, body []byte) bool) {
	file := fmt.Sprintf(snapshots, name)
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		t.Skip("captured documents are not here: ", file)
	}
	if _, err := exec.LookPath("xz"); err != nil {
		t.Skip("no xz to unpack them")
	}
	archive, err := exec.Command("xz", "-dc", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(bytes.NewReader(archive)); ; {
		h, err := r.Next()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		at, err := time.Parse("2006-01-02T150405Z", strings.TrimSuffix(path.Base(h.Name), ".xml"))
		body, err2 := io.ReadAll(r)
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		if !each(at, body) {
			return
		}
	}
}

// TestCapturedFeeds fetches documents of days as they were: each entry of them
// is told once, and again only where something of it changed that is shown.
func TestCapturedFeeds(t *testing.T) {
	for name, want := range map[string]struct{ looks, entries, versions int }{
		"bbc_home_uk":             {80, 128, 33},
		"feed_openai_research":    {78, 196, 8},
		"feed_windsurf_changelog": {40, 112, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var state State
			entries, versions, looks := 0, 0, 0
			shown := make(map[feedring.EntryID]feedring.Entry)
			captures(t, name, func(at time.Time, body []byte) bool {
				doc, err := document.Parse(document.Source{URL: "http://a.example/"}, body)
				if err != nil {
					t.Fatal(at, err)
				}
				var found []feedring.Entry
				found, state = Diff(state, doc, at)
				for _, e := range found {
					old, known := shown[e.ID]
					shown[e.ID] = e
					if !known {
						entries++
						continue
					}
					versions++
					old.Version, old.Published, old.Updated = e.Version, e.Published, e.Updated
					if reflect.DeepEqual(old, e) {
						t.Errorf("%v: %q is told again", at, e.Title)
					}
				}
				looks++
				return looks < want.looks
			})
			if looks != want.looks || entries != want.entries || versions != want.versions {
				t.Errorf("%d looks, %d entries, %d versions; want %+v", looks, entries, versions, want)
			}
		})
	}
}
