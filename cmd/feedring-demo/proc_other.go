//go:build !unix

package main

import (
	"os"
	"syscall"
)

func apart() *syscall.SysProcAttr { return nil }

// terminate kills: there is no gentler way that reaches another process.
func terminate(p *os.Process) error { return p.Kill() }
