//go:build !race

package main

import (
	"bytes"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// starting tells when a process first writes, and keeps what it writes.
type starting struct {
	written bytes.Buffer // not embedded: its ReadFrom would go past Write
	begun   chan struct{}
}

func (w *starting) Write(p []byte) (int, error) {
	if w.written.Len() == 0 {
		close(w.begun)
	}
	return w.written.Write(p)
}

// An experiment that is interrupted says so, and what is to be done; a command
// that explains more does it by itself.
func TestInterruptedCommands(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no signal can be sent there")
	}
	for _, c := range []struct {
		signal syscall.Signal
		exit   int
		says   string
		args   []string
	}{
		{syscall.SIGINT, 130, "interrupted: nothing is kept, run the command again\n", []string{"paper"}},
		{syscall.SIGTERM, 143, "interrupted: nothing is kept, run the command again\n", []string{"compare"}},
		{syscall.SIGINT, exitFailure, "--state FILE keeps which sizes are done\n", []string{"explore", "--states", "1000000000"}},
	} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], c.args...)
		cmd.Env = append(os.Environ(), asCommand+"=1")
		stderr := &starting{begun: make(chan struct{})}
		cmd.Stderr = stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		<-stderr.begun
		if err := cmd.Process.Signal(c.signal); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if exit := cmd.ProcessState.ExitCode(); exit != c.exit || !strings.HasSuffix(stderr.written.String(), c.says) {
			t.Errorf("%v: exit %d, %q", c.args, exit, stderr.written.String())
		}
	}
}
