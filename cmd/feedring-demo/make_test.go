//go:build unix

package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestMakeRunInterrupted interrupts "make run" as a terminal does, the whole
// process group at once: what ends in good order is no error. Nothing is built,
// a script stands in for the demo.
func TestMakeRunInterrupted(t *testing.T) {
	tool, err := exec.LookPath("make")
	if err != nil {
		t.Skip("there is no make")
	}
	bin := t.TempDir()
	const script = "#!/bin/sh\ntrap 'sleep 0.5; exit 0' INT\necho up\nwhile :; do sleep 0.05; done\n"
	if err := os.WriteFile(filepath.Join(bin, "feedring-demo"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(tool, "--no-print-directory", "-C", filepath.Join("..", ".."), "run", "GO=true", "BIN="+bin)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "up" {
	}
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil {
		t.Error(err)
	}
	rest := lines.Text()
	for lines.Scan() {
		rest += "\n" + lines.Text()
	}
	_, _ = io.Copy(io.Discard, out)
	_ = cmd.Wait() // make itself ends by the signal
	if !strings.HasPrefix(rest, "up") || strings.Contains(rest, "***") {
		t.Errorf("make says:\n%s", rest)
	}
}
