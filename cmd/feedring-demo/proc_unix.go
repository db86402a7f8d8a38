//go:build unix && !linux

package main

import (
	"os"
	"syscall"
)

// apart keeps a terminal's interrupt from the children, which are told to end
// one by one.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func terminate(p *os.Process) error { return p.Signal(syscall.SIGTERM) }
