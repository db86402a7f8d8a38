package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// What a seed is replayed by can be given to a shell as it is.
func TestReplayCommand(t *testing.T) {
	t.Chdir(t.TempDir())
	large := &faultsFlags{peers: 300}
	const script = "#!/bin/sh\necho \"$*\"\n"
	for _, name := range []string{"bin/feedring-sim", "it's a dir/$x/feedring-sim", "./feedring-sim"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("sh", "-c", (&faultsFlags{}).replayCommand(name, 7)).CombinedOutput()
		if err != nil || string(out) != "faults --from 7 --seeds 1 --trace\n" {
			t.Errorf("%s: %v, %s", (&faultsFlags{}).replayCommand(name, 7), err, out)
		}
		out, err = exec.Command("sh", "-c", large.replayCommand(name, 8)).CombinedOutput()
		if err != nil || string(out) != "faults --from 8 --seeds 1 --trace --peers 300\n" {
			t.Errorf("%s: %v, %s", large.replayCommand(name, 8), err, out)
		}
	}
	hostile := &faultsFlags{hostile: true}
	if got := hostile.replayCommand("", 9); got != "feedring-sim faults --from 9 --seeds 1 --trace --hostile" {
		t.Error(got)
	}
	for arg0, want := range map[string]string{
		"bin/feedring-sim":                       "bin/feedring-sim",
		"feedring-sim":                           "feedring-sim",
		"":                                       "feedring-sim",
		"/gone/away/elsewhere":                   "feedring-sim",
		"/tmp/go-build123/b001/exe/feedring-sim": "go run ./cmd/feedring-sim",
	} {
		if got := callable(arg0); got != want {
			t.Errorf("%q is called as %q, not %q", arg0, got, want)
		}
	}
}
