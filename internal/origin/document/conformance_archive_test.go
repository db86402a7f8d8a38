package document

import (
	"archive/tar"
	"bytes"
	"encoding/csv"
	"io"
	"os"
	"os/exec"
	"path"
	"strings"
	"testing"
)

const conformanceArchive = "../../../../shared/feeds/conformance.tar.xz"

// conformanceRow is a document and what its suite expects of a reader.
type conformanceRow struct {
	suite, file, kind, expect string

	body   []byte
	wanted []byte // the JSON file beside it that tells what it says; may be nil
}

// conformanceRows reads the archive, or skips the test where it is absent.
func conformanceRows(t *testing.T) []conformanceRow {
	t.Helper()
	files := unpacked(t)
	index, err := csv.NewReader(bytes.NewReader(files["INDEX.csv"])).ReadAll()
	if err != nil || len(index) < 2 {
		t.Fatalf("%d rows (%v)", len(index), err)
	}
	var rows []conformanceRow
	for _, r := range index[1:] {
		row := conformanceRow{suite: r[0], file: r[1], kind: r[2], expect: r[4], body: files[r[1]]}
		if row.body == nil {
			t.Logf("%s is in the index, and not in the archive", row.file)
			continue
		}
		if strings.HasSuffix(row.expect, ".json") {
			row.wanted = files[row.expect]
		}
		rows = append(rows, row)
	}
	return rows
}

// unpacked are the archive's files by their names below its folder.
func unpacked(t *testing.T) map[string][]byte {
	t.Helper()
	if _, err := os.Stat(conformanceArchive); err != nil {
		t.Skip("the conformance documents are not beside the project:", err)
	}
	if _, err := exec.LookPath("xz"); err != nil {
		t.Skip("the conformance documents cannot be unpacked:", err)
	}
	archive, err := exec.Command("xz", "-dc", conformanceArchive).Output()
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string][]byte)
	for r := tar.NewReader(bytes.NewReader(archive)); ; {
		h, err := r.Next()
		if err == io.EOF {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		switch name := below(h.Name); h.Typeflag {
		case tar.TypeReg:
			if files[name], err = io.ReadAll(r); err != nil {
				t.Fatal(err)
			}
		case tar.TypeLink:
			files[name] = files[below(h.Linkname)]
		case tar.TypeSymlink:
			files[name] = files[path.Join(path.Dir(name), h.Linkname)]
		}
	}
}

func below(name string) string {
	_, rest, _ := strings.Cut(path.Clean(name), "/")
	return rest
}
