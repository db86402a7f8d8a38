package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/feedring/feedring/internal/sim/explore"
)

// A tour that is interrupted ends soon, keeps the sizes that are done, and the
// same command goes on.
func TestInterruptedTour(t *testing.T) {
	f := &exploreFlags{states: 200_000_000, peers: []int{2, 3}, state: filepath.Join(t.TempDir(), "state")}
	interrupted := make(chan os.Signal, 1)
	var stdout, stderr bytes.Buffer
	stopped := &tour{flags: f, stdout: &stdout, stderr: &stderr, interrupted: interrupted}
	if err := stopped.resume(); err != nil {
		t.Fatal(err)
	}
	done := len(explore.Campaign(2, f.each()))
	stopped.kept.Done = append(stopped.kept.Done, slices.Repeat([]explore.Result{{Peers: 2, States: 1, New: 1}}, done)...)
	if err := stopped.save(); err != nil {
		t.Fatal(err)
	}
	interrupted <- os.Interrupt
	if err := stopped.play(); err == nil || !strings.Contains(err.Error(), "stopped among groups of 3: the same command begins") {
		t.Errorf("it ended with %v", err)
	}
	again := &tour{flags: f}
	if err := again.resume(); err != nil || len(again.kept.Done) != done {
		t.Errorf("%d explorations are kept, %v", len(again.kept.Done), err)
	}
}

// interrupting is somebody who interrupts at the first line.
type interrupting struct {
	bytes.Buffer
	interrupted chan os.Signal
}

func (w *interrupting) Write(p []byte) (int, error) {
	if w.Len() == 0 {
		w.interrupted <- os.Interrupt
	}
	return w.Buffer.Write(p)
}

// The last line of a tour that is interrupted counts the explorations that were
// told before it.
func TestInterruptedTourCounts(t *testing.T) {
	stdout := &interrupting{interrupted: make(chan os.Signal, 1)}
	stopped := &tour{flags: &exploreFlags{states: 100_000, peers: []int{3}, json: true}, stdout: stdout, stderr: io.Discard, interrupted: stdout.interrupted}
	if err := errors.Join(stopped.resume(), stopped.play()); err == nil {
		t.Fatal("it was not stopped")
	}
	told := explore.Result{}
	if err := json.Unmarshal(stdout.Bytes(), &told); err != nil || told.New == 0 {
		t.Fatalf("%v: %s", err, stdout)
	}
	if s := stopped.sum(); s.States != told.New || s.Visited != told.States || s.Memory == 0 || len(stopped.kept.Done) != 0 {
		t.Errorf("%+v is counted of %s", s, stdout)
	}
}
