package main

import (
	"os"
	"syscall"
)

// apart keeps a terminal's interrupt from the children, which are told to end
// one by one, and lets the system end them if the demo itself is killed.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

func terminate(p *os.Process) error { return p.Signal(syscall.SIGTERM) }
