package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/feedring/feedring/internal/sim/experiment/survey"
)

const (
	diary    = `<rss version="2.0"><channel><title>A diary</title><item><guid>1</guid><title>Rain</title><pubDate>Mon, 05 Jan 2026 10:00:00 GMT</pubDate></item></channel></rss>`
	captures = "feed,first_seen,last_seen\ndiary,2026-01-05T00:00:00Z,2026-01-06T00:00:00Z\ndiary,2026-01-05T09:00:00Z,2026-01-06T00:00:00Z\n"
)

// surveyed are the arguments of a survey of files written for it, and their directory.
func surveyed(t *testing.T) (args []string, dir string) {
	t.Helper()
	dir = t.TempDir()
	documents := filepath.Join(dir, "documents")
	if err := os.Mkdir(documents, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"documents/a.xml": diary, "captures.csv": captures, "sites.txt": "https://a.example/feed\n", "empty": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return []string{"survey", "--documents", documents, "--captures", filepath.Join(dir, "captures.csv")}, dir
}

func archive(t *testing.T, names ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range names {
		if err := w.WriteHeader(&tar.Header{Name: name, Size: int64(len(diary)), Mode: 0o600, Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(w, diary)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestSurveyPutsPrintedBesideOurs: each line has what the paper prints and what the
// files give, and says what is not had.
func TestSurveyPutsPrintedBesideOurs(t *testing.T) {
	args, dir := surveyed(t)
	tarFile, svg := filepath.Join(dir, "snapshots.tar"), filepath.Join(dir, "it.svg")
	if err := os.WriteFile(tarFile, archive(t, "diary/2026-01-06T000000Z.xml", "diary/2026-01-06T010000Z.xml"), 0o600); err != nil {
		t.Fatal(err)
	}
	args = append(args, "--snapshots", tarFile, "--sites", filepath.Join(dir, "sites.txt"), "--feed", "diary", "--plot", svg)
	code, stdout, stderr := play(t, args...)
	if code != 0 || !strings.Contains(stdout, "7606") || !strings.Contains(stdout, "57.0 %") || !strings.Contains(stdout, "personal sites") || !strings.Contains(stdout, "10 days of 245 feeds every 2 minutes, are not had") {
		t.Errorf("%d %s %s", code, stdout, stderr)
	}
	if _, err := os.Stat(svg); err != nil {
		t.Error(err)
	}
	code, stdout, stderr = play(t, append(args, "--json")...)
	var r survey.Result
	if err := json.Unmarshal([]byte(stdout), &r); err != nil || code != 0 || len(r.Ladders) != 2 || r.Ladders[0].Looks != 1 || r.Ladders[1].Looks != 96 {
		t.Errorf("%d %v %s %s", code, err, stdout, stderr)
	}
}

func TestSurveyReadsStandardInput(t *testing.T) {
	args, _ := surveyed(t)
	var out, errs bytes.Buffer
	root := rootCommand(&out, &errs)
	root.SetIn(bytes.NewReader(archive(t, "diary/2026-01-06T000000Z.xml", "diary/2026-01-06T010000Z.xml")))
	root.SetArgs(append(args, "--snapshots", "-"))
	if err := root.Execute(); err != nil || !strings.Contains(out.String(), "Ladder") {
		t.Errorf("%v %s %s", err, out.String(), errs.String())
	}
}

// TestSurveyNamesTheFileThatIsWrong: one line that names the file, and nothing else.
func TestSurveyNamesTheFileThatIsWrong(t *testing.T) {
	args, dir := surveyed(t)
	empty, missing := filepath.Join(dir, "empty"), filepath.Join(dir, "missing")
	late, bare := filepath.Join(dir, "late.tar"), t.TempDir()
	if err := os.WriteFile(filepath.Join(bare, "a.xml"), []byte(`<rss version="2.0"><channel><title>A diary</title></channel></rss>`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(late, archive(t, "diary/2026-01-06T010000Z.xml", "diary/2026-01-06T000000Z.xml"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		args []string
		want string
	}{
		{[]string{"--documents", missing}, "--documents " + missing},
		{[]string{"--documents", empty}, "--documents " + empty + ": it is empty"},
		{[]string{"--documents", bare, "--sites", filepath.Join(dir, "sites.txt"), "--feed", "diary"}, "--documents " + bare + ": none has entries"},
		{[]string{"--captures", missing}, "--captures: open " + missing},
		{[]string{"--captures", empty}, "--captures " + empty + ": it is empty"},
		{[]string{"--snapshots", missing}, "--snapshots: open " + missing},
		{[]string{"--snapshots", empty}, "--snapshots " + empty + ": no document is in it"},
		{[]string{"--snapshots", late}, "--snapshots " + late + ": documents out of order"},
		{[]string{"--sites", empty}, "--sites " + empty + ": no address is in it"},
		{[]string{"--sites", filepath.Join(dir, "sites.txt")}, `nothing of "home_uk" is in it: give one of its feeds as --feed: "diary"`},
	} {
		code, stdout, stderr := play(t, append(args, x.args...)...)
		lines := strings.Split(strings.TrimSpace(stderr), "\n")
		if code != exitFailure || stdout != "" || !strings.Contains(lines[len(lines)-1], x.want) {
			t.Errorf("%v: exit code %d, %q, %q, want %q", x.args, code, stdout, stderr, x.want)
		}
	}
}
